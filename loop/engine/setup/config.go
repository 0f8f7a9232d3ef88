package setup

import (
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/limited"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Config is what a loop is started with: data alone, which Encode writes for another process.
type Config struct {
	Folder  string // the loop's folder, absolute; its agent works here
	Prompt  string // byte for byte what each iteration's agent gets
	Backend backends.Backend
	Args    []string // the user's own arguments for the agent
	Model   string   // "" leaves the choice to the agent
	Hat     string   // the role that Backend and Args come from
	// Fallbacks work while Backend is limited, the first that can. Roles with an agent of their own keep it.
	Fallbacks []Fallback
	Roles     Roles
	Promise   string // "" is none; the word LOOP_COMPLETE works always
	// PromiseFrom is where the promise comes from, a config.Source; only shown.
	PromiseFrom string
	// Values is what is said of the loop in one value each.
	Values    settings.Values `json:"Said"` // as a keeper knows it whose program was replaced since its window began
	planned   []string        // the commands of its plan, once Check has looked at that
	Checkouts Checkouts
	Asking    Asking
	Limits    loop.Limits
	Budget    budget.Book    // of all the user's loops together
	Accounts  limited.Folder // the limits of agents' accounts that all the user's loops know
	// Sandbox says which walls are around all that the loop starts.
	Sandbox      sandbox.Spec
	Verification Verification
	// SetUp says that commands will prepare the folder before the loop begins: they may
	// bring what isn't there yet.
	SetUp bool
	// OfferSandbox has the user told, when the loop begins, that there could be walls.
	OfferSandbox bool `json:"OfferWalls"`
	// Continue goes on with the loop that the state file describes, or, where there is none, with the one that the
	// registry says ended last in the folder. Prompt, promise, limits and, unless it is given, the model come from
	// there, then Change. Programs don't: anybody can write such a file.
	Continue bool
	// Say is guidance for the next run, besides what waits for that.
	Say    string
	Change loop.Patch
	// Stranger says that the loop to go on with wasn't started here: anybody may have
	// written what its state file says of a verification, so nothing of that counts.
	Stranger bool
	// Once ends the loop after an iteration, with StopOnce. The state file then has what comes next, and how long to
	// wait before that, so that another process can go on.
	Once    bool
	Storage Storage
	Version string          // of this program, for the owner's record
	Notify  settings.Notify // for who tells a user who isn't looking
	// Warnings are what the user should know about this configuration; they are told when the loop begins.
	Warnings []string
}

// Roles are the agents that a loop has besides its own, and who of them works when.
type Roles struct {
	// Hats are the roles that a run may wear. Where one of them listens to topics, they
	// hand over to each other; else Config.Hat is worn by all runs.
	Hats []Role
	// Steps are what each iteration consists of, where it is more than one run of Config.Backend: in
	// each, one role or up to limits.MaxAgents that work side by side. They and hats that hand over
	// exclude each other.
	Steps [][]Role
	// AtOnce is how many agents of a step work at the same time; 0: as many as is usual.
	AtOnce int
	// Agents says which agents of files do the work: Steps, or the one whose role is Config.Hat.
	Agents Agents
	// Required are topics without which no promise counts.
	Required []string
}

// Checkouts fill a worker's checkout with what git ignores and the work needs: paths in the repository, and commands that
// the shell runs there.
type Checkouts struct{ Copy, Link, Prepare []string }

// Asking is what becomes of what agents ask.
type Asking struct {
	// On has the agents' questions answered by the user (the backends are made so, see
	// backends.Backend.Asking); else they are told that nobody is there.
	On      bool
	Timeout time.Duration // after which a question is denied; 0: never
	// Unanswered is how long a loop that nobody looks at waits for its user's word; 0: for as
	// long as it takes.
	Unanswered time.Duration
}

// Verification is how a promise is verified.
type Verification struct {
	// Check is what has to pass before a promise counts; the zero value: promises count.
	Check verify.Check
	// Suggested is a check that the folder has and the user doesn't want, or doesn't know of;
	// only shown.
	Suggested verify.Suggestion
	// Reviewer is the hat that Check names. ReviewerMark is the mark of the hat from the loop's start, "" for this
	// one's own.
	Reviewer     Role
	ReviewerMark string
	// File is the name of the file in the folder that may say how to verify.
	File string
}

// Storage is what is stored of a loop, and how.
type Storage struct {
	// History says where the loop is kept as a session that pi can open.
	History history.Options
	// Changes says how snapshots of the folder are made.
	Changes changes.Options
	// Recordings is the folder that gets a file with each run's raw output; "" records nothing.
	Recordings string
}

// Agents says which agents of files do the work.
type Agents struct {
	Flags string   // that name them as on a command line, so that the loop can be continued with them; "" when files do
	About []string // a description of each, step by step; only shown
}

// IsTransferred says whether another process had the loop, and told what is to be told when it begins.
func (c Config) IsTransferred() bool { return c.Once && c.Continue }

// NewState is the state file of a loop that begins.
func (c Config) NewState(id string, now time.Time) loopstate.State {
	s := loopstate.State{
		Active:    true,
		Iteration: 1,
		StartedAt: now.UTC().Truncate(time.Second),
		LoopID:    id,
		AgentChoice: loopstate.AgentChoice{
			Backend: c.Backend.Name, Model: c.Model, Hat: c.Hat, Agents: c.Roles.Agents.Flags, BackendArgs: c.Args,
		},
		Prompt: c.Prompt,
		Tasks:  plan.Book{Accepted: c.planned},
	}
	if s.Given = c.Limits.All(); c.Limits.MaxCostUSD == 0 {
		s.MaxCostUSD = nil
	}
	if c.Promise != "" {
		s.Promise = &c.Promise
	}
	if c.Roles.HatSet() != nil {
		s.Queue = hats.NewQueue()
	}
	c.Describe(&s)
	return s
}

// isQuiet says whether the loop's rules (iteration, limit, how to finish) are kept from the agent.
func (c Config) isQuiet() bool { return c.Values.Instruct != nil && !*c.Values.Instruct }

// Describe writes what a loop that goes on needs again into a state. Permissions of a stranger's file count for
// nothing.
func (c Config) Describe(s *loopstate.State) {
	if c.Stranger {
		s.Allowed, s.Tasks.Accepted = nil, nil
	}
	said := c.Values
	said.Sandbox = c.Sandbox.Mode // the walls, wherever they were chosen
	bounds := s.Given             // may have been changed there
	s.Values, s.SandboxEngine, s.Closing = said.Stored(), "", said.OnClose
	s.Given = bounds
	if c.Sandbox.IsOn() {
		s.SandboxEngine = c.Sandbox.EngineOf()
	}
	// How a program of the user's own is spoken to: its name doesn't tell, as a known agent's does.
	s.BackendOutput, s.BackendPrompt = "", ""
	if filepath.IsAbs(c.Backend.Name) {
		s.BackendOutput, s.BackendPrompt = string(c.Backend.Output), string(c.Backend.Prompt)
	}
}

// SandboxOffer is said once in a user's life.
const SandboxOffer = "this agent may write and read whatever you may; a sandbox keeps it in the loop's folder and hides " +
	"your keys (said this once, see docs/SANDBOX.md)"

// GateCall is a gate as the tool that runs.
func GateCall(check verify.Check, g verify.Gate) stream.ToolCall {
	if g == verify.ReviewerGate {
		call := loop.CheckCall(check.Reviewer)
		call.Name = "reviewing"
		return call
	}
	return loop.CheckCall(check.Subject(g))
}
