package wire

import (
	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Version is the version of our own part of the protocol (docs/PROTOCOL.md).
const Version = 2

// The commands of workspace/executeCommand. Their ids differ from the editors' own on purpose: clients register a
// server's ids globally.
const (
	CommandStart   = "ralph.loop.start"   // (StartParams, StartResult | DryRunResult | SlashResult) starts a loop
	CommandCancel  = "ralph.loop.cancel"  // (CancelParams, LoopResult) cancels a loop, see CancelWhen
	CommandPause   = "ralph.loop.pause"   // (LoopParams, LoopResult) lets the running iteration finish and starts no other
	CommandNext    = "ralph.loop.next"    // (LoopParams, LoopResult) ends the running iteration and begins the next one
	CommandDetach  = "ralph.loop.detach"  // (LoopParams, LoopResult) lets the loop go on without a window
	CommandResume  = "ralph.loop.resume"  // (ResumeParams, LoopResult) resumes a loop, or ends its wait
	CommandUpdate  = "ralph.loop.update"  // (ChangeParams, LoopResult) changes limits at once, a prompt from the next iteration on
	CommandSteer   = "ralph.loop.steer"   // (SteerParams, SteerResult) tells something to each run from now on
	CommandAnswer  = "ralph.loop.answer"  // (AnswerParams, AnswerResult) answers an agent's question
	CommandOpen    = "ralph.loop.open"    // (LoopParams, {}) shows the loop's state file by window/showDocument
	CommandStatus  = "ralph.loop.status"  // (ListParams, StatusResult) lists loops as ralph/status does
	CommandRead    = "ralph.loop.read"    // (ReadParams, ReadResult) reads a page of a loop's log
	CommandOutline = "ralph.loop.outline" // (OutlineParams, Outline) lists the parts of a loop's log
	CommandOutput  = "ralph.loop.output"  // (OutputParams, OutputResult) writes a tool's whole output into a file
	CommandHistory = "ralph.loop.history" // (HistoryParams, HistoryResult) lists ended loops of a folder and of its removed worktrees
	CommandPrompts = "ralph.loop.prompts" // (PromptsParams, PromptsResult) lists prompts of past loops, each once
	CommandChanges = "ralph.loop.changes" // (ChangesParams, ChangesResult) says what a loop changed
	CommandFile    = "ralph.loop.file"    // (FileParams, FileResult) reads a file as it was
	CommandUndo    = "ralph.loop.undo"    // (UndoParams, UndoResult) undoes one iteration, or all from one on
	CommandRedo    = "ralph.loop.redo"    // (RedoParams, UndoResult) takes the last undo back
	CommandKeep    = "ralph.loop.keep"    // (KeepParams, KeepResult) marks files as reviewed
	CommandLand    = "ralph.loop.land"    // (LandParams, LandResult) merges or discards the work in a worktree
	CommandFetch   = "ralph.loop.fetch"   // (LoopParams, FetchResult) brings a fleet's loop into the repository of its origin
	CommandPlan    = "ralph.plan"         // (PlanParams, PlanResult) is the agent's own command line, for a terminal
	CommandMark    = "ralph.plan.mark"    // (MarkParams, {}) changes the box of a task by workspace/applyEdit
	CommandHelp    = "ralph.help"         // ({}, HelpResult) is the help
	CommandDoctor  = "ralph.doctor"       // (FolderParams, DoctorResult) says whether loops can run here
	CommandAgents  = "ralph.agents.list"  // (FolderParams, AgentsResult) lists the agents that a start can name
	CommandHats    = "ralph.hats"         // (FolderParams, HatsResult) lists the hats that a start can name
	CommandSandbox = "ralph.sandbox"      // (SandboxParams, SandboxResult) says whether later loops have walls, in the user's configuration
	CommandTool    = "ralph.tool"         // (ToolParams, ToolResult) calls a tool of testdata/wire/tools.json for a model
)

// The reasons of a command that failed, in data.reason.
const (
	ReasonAlreadyRunning  = "already_running" // with owner, and the question to ask the user before a start with replace
	ReasonNotRunning      = "not_running"
	ReasonNotDetachable   = "not_detachable"
	ReasonBackendNotFound = "backend_not_found" // with checked; path and install where agents were looked for, known for an unknown name
	ReasonUntrusted       = "untrusted"         // with fileUri, and wants: what the file would run; call again with trust
	ReasonBadStateFile    = "bad_state_file"
	ReasonBadConfig       = "bad_config" // with problems: all of them; also for a file that can't be read
	ReasonEmptyPrompt     = "empty_prompt"
	ReasonBadPrompt       = "bad_prompt"        // with fileUri: no regular file, unreadable, or a configured link out of the folder
	ReasonLimitReached    = "limit_reached"     // with stopReason and iterations: the loop needs a higher limit to go on
	ReasonNoFolder        = "no_folder"         // with folders, when several are open
	ReasonNoWorktree      = "no_worktree"       // the worktree can't be made or set up; nothing of it is left
	ReasonNotWritable     = "not_writable"      // the folder can't be written to
	ReasonNoSession       = "no_session"        // no log is known here
	ReasonNoOutput        = "no_output"         // the session has no output of that call, or not yet
	ReasonInterrupted     = "interrupted"       // with iteration, stateFileUri, stopReason, question: resume it, or start with replace
	ReasonNoSnapshots     = "no_snapshots"      // git isn't installed, changes.keep is 0, or the snapshots are gone
	ReasonAtWork          = "at_work"           // with iteration: an agent works in the folder; the offer pauses its loop
	ReasonTooLarge        = "too_large"         // the file has more than 16 MiB
	ReasonNoSandbox       = "no_sandbox"        // with fix: the walls can't be made, and nothing was started
	ReasonNothingToAccept = "nothing_to_accept" // no promise waits to be accepted; nothing was changed
	ReasonNoRun           = "no_run"            // no agent runs
	ReasonNoQuestion      = "no_question"       // no question is open, or that one needs no answer any more
	ReasonAgent           = "agent"             // below a loop, and only the loop's user may ask for this
	ReasonElsewhere       = "elsewhere"         // can't be done with a loop of another machine; the message says what to do
	ReasonBusAway         = "bus_away"          // the loop's machine can't be reached now; nothing was done
)

// MissingOf are the details of agents that weren't found.
func MissingOf(e *backends.NotFoundError) MissingAgent {
	details := MissingAgent{Path: e.Path, Install: map[string]string{}}
	for _, b := range e.Looked {
		details.Checked = append(details.Checked, b.Command)
		details.Install[b.Name] = b.HowToInstall()
	}
	return details
}

// Owner is who drives a loop, as clients see it.
type Owner struct {
	PID       int    `json:"pid,omitempty"`
	Host      string `json:"host,omitempty"`
	StartedAt string `json:"startedAt,omitempty"`
}

// LoopParams name a loop: by its id, by its folder, or not at all when there
// is only one.
type LoopParams struct {
	LoopID string `json:"loopId,omitempty"`
	Folder string `json:"folder,omitempty"` // file URI
}

// Target is the loop that a command is about, as far as it names it.
func (p LoopParams) Target() LoopParams { return p }

// When a loop is cancelled.
const (
	WhenNow            = "now"            // it answers when all processes of the loop are gone
	WhenAfterIteration = "afterIteration" // the running one is the last; it answers at once
	WhenLeft           = "left"           // only if nobody drives it, else nothing happens
	WhenInterrupt      = "interrupt"      // as its editor's end does: the loop can go on; it answers at once
)

// CancelParams is the argument of ralph.loop.cancel.
type CancelParams struct {
	LoopParams
	When string `json:"when,omitempty"` // a CancelWhen: "now" if absent
}

// ResumeParams is the argument of ralph.loop.resume. Backend and Trust are for
// an interrupted loop with a program or arguments that the user didn't start
// it with here: that the state file names them is not enough to run them.
type ResumeParams struct {
	LoopParams
	settings.Values        // without them the loop has the limits and walls that it had, and asks as it did
	Accept          bool   `json:"accept,omitempty"` // a promise that could not be verified counts all the same, this once
	Say             string `json:"say,omitempty"`    // guidance for its next run
	Text            string `json:"text,omitempty"`   // see ChangeParams
	Backend         string `json:"backend,omitempty"`
	Trust           bool   `json:"trust,omitempty"` // the user trusts what the files would run, as they are now
}

// ChangeParams is the argument of ralph.loop.update. Text has limits and the
// promise as a person types them; the other keys win over it.
type ChangeParams struct {
	LoopParams
	limits.Given
	Text     string   `json:"text,omitempty"`
	Prompt   *string  `json:"prompt,omitempty"`
	Disallow []string `json:"disallow,omitempty"` // rules of LoopStatus.allowed: the agent asks again
}

// SteerParams is the argument of ralph.loop.steer. Text may begin with flags, as a person types
// them: --once, --next, or --forget N and nothing else. The row Guidance of the details has the numbers.
type SteerParams struct {
	LoopParams
	Text string `json:"text"`
	Next bool   `json:"next,omitempty"` // it is for the next run, even where the running agent can be told
	Once bool   `json:"once,omitempty"` // one run is told, and no later one
}

// LoopResult is where a command left its loop.
type LoopResult struct {
	LoopID    string `json:"loopId,omitempty"`
	State     string `json:"state"` // a State, or "idle": there is none
	Iteration int    `json:"iteration,omitempty"`
	Text      string `json:"text,omitempty"` // of update and resume: the loop's limits now, one line
}

// SteerResult acknowledges guidance; updates tell when it was delivered.
type SteerResult struct {
	GuidanceID string `json:"guidanceId,omitempty"` // absent: another process will deliver it
	Text       string `json:"text"`                 // the result, in one line
}

// ListParams is the argument of ralph.loop.status.
type ListParams struct {
	FolderParams
	Elsewhere bool `json:"elsewhere,omitempty"` // the user's loops in folders that aren't the editor's, too
}

// StatusResult lists loops.
type StatusResult struct {
	Loops     []LoopStatus `json:"loops"`
	Elsewhere []LoopStatus `json:"elsewhere,omitempty"` // those that somebody drives; add its folder to follow one
	Text      string       `json:"text,omitempty"`      // a text where there is none
}

// NothingRuns is said where a list of loops is empty.
const NothingRuns = "no loop is running here"

// StatusesOf lists loops, and says so where none is.
func StatusesOf(loops []LoopStatus) StatusResult {
	r := StatusResult{Loops: loops}
	if len(loops) == 0 {
		r.Text = NothingRuns
	}
	return r
}

const StateIdle = "idle"

// ReadParams is the argument of ralph.loop.read. The log belongs to the loop with the id, to a session file, or to
// the loop in a folder.
type ReadParams struct {
	LoopParams
	SessionFileURI string `json:"sessionFileUri,omitempty"`
	After          string `json:"after,omitempty"`  // a cursor; "": the beginning
	Before         string `json:"before,omitempty"` // a cursor of an outline, at which the pages end; "": the end
	Limit          int    `json:"limit,omitempty"`  // updates; 0: as many as fit into an answer
}

// OutlineParams is the argument of ralph.loop.outline; it names a log as ReadParams do.
type OutlineParams struct {
	LoopParams
	SessionFileURI string `json:"sessionFileUri,omitempty"`
}

// OutputParams is the argument of ralph.loop.output: a call of a log that is named as
// for ralph.loop.read.
type OutputParams struct {
	LoopParams
	SessionFileURI string `json:"sessionFileUri,omitempty"`
	Iteration      int    `json:"iteration,omitempty"` // 0: the session has none
	ToolCallID     string `json:"toolCallId"`
	Show           bool   `json:"show,omitempty"` // with window/showDocument
}

// FolderParams names a folder, or none for all of them.
type FolderParams struct {
	Folder string `json:"folder,omitempty"` // file URI
}

// GivenOf are limits and a promise as a command says them, where what is missing stays as it is; "" is no promise.
func GivenOf(g limits.Given, promise string) limits.Given {
	if promise != "" {
		g.Promise = &promise
	}
	return g
}

// StartParams is the argument of ralph.loop.start. The prompt is Prompt, the content of PromptURI, or in Text, which may
// have flags, or else in the configured prompt file.
type StartParams struct {
	Folder    string `json:"folder,omitempty"` // file URI
	Prompt    string `json:"prompt,omitempty"`
	PromptURI string `json:"promptUri,omitempty"` // an open file counts with its unsaved text; a state file brings its limits and promise
	Text      string `json:"text,omitempty"`
	Selection string `json:"selection,omitempty"` // follows the prompt of Text after a blank line, or is the prompt
	Choices
	Agent       string        `json:"agent,omitempty"`       // the name of an agent of a markdown file, which does the work
	Chain       []string      `json:"chain,omitempty"`       // names of several, one after the other
	Parallel    []string      `json:"parallel,omitempty"`    // names of several, side by side; they only read
	LimitsText  string        `json:"limitsText,omitempty"`  // limits and the promise as in the Text of ChangeParams; win over Text
	Verify      string        `json:"verify,omitempty"`      // the promise counts when this command passes; the shell runs it
	Until       string        `json:"until,omitempty"`       // the loop ends when this one does, without any promise
	Worktree    WorktreeParam `json:"worktree,omitzero"`     // work in a git worktree of its own
	WithChanges bool          `json:"withChanges,omitempty"` // it begins with the files as they are, not with the last commit
	Commit      bool          `json:"commit,omitempty"`      // each iteration is committed on its branch
	NoVerify    bool          `json:"noVerify,omitempty"`    // believe the promise, even if the files name a check
	Replace     bool          `json:"replace,omitempty"`     // cancel or discard the loop that is there
	Trust       bool          `json:"trust,omitempty"`       // the user trusts what the folder's ralph.toml would run, as it is now
	DryRun      bool          `json:"dryRun,omitempty"`
	Settings    *Settings     `json:"settings,omitempty"` // of the editor: the start wins over them, they over the files
}

// Settings are what an editor chooses for all starts.
type Settings struct {
	Choices       // no sandbox, and of permissions only "ask"
	Host    *Host `json:"host,omitempty"` // the editor is an agent itself
}

// Host is an agent that the loop is started in.
type Host struct {
	Backend string `json:"backend"`         // is used where nobody names an agent, in place of the first that is installed
	Model   string `json:"model,omitempty"` // of its session: is used where nobody names one and the agent is this
}

// MarkParams is the argument of ralph.plan.mark.
type MarkParams struct {
	Folder string `json:"folder,omitempty"` // of the plan; only clients need it
	URI    string `json:"uri"`              // of the plan, which is open
	Task   string `json:"task"`             // its id
	Done   bool   `json:"done"`             // the new state of its box
}

// Target is the loop that a start is about: the one of its folder.
func (p StartParams) Target() LoopParams { return LoopParams{Folder: p.Folder} }

// Choices are what both a start and the editor's settings may say.
type Choices struct {
	Backend string   `json:"backend,omitempty"` // a name, "auto", or the absolute path of a program that reads the prompt from stdin
	Hat     string   `json:"hat,omitempty"`     // one of ralph.hats; an unknown one is -32602 with known
	Model   string   `json:"model,omitempty"`   // -32602 where the agent takes none; of settings it is ignored then
	Args    []string `json:"args,omitempty"`
	settings.Values
}

// StartResult is what a start answers, at once; the loop runs on.
type StartResult struct {
	LoopID         string    `json:"loopId"`
	State          string    `json:"state"`
	StateFileURI   string    `json:"stateFileUri"`
	SessionFileURI string    `json:"sessionFileUri,omitempty"`
	Worktree       *Worktree `json:"worktree,omitempty"` // that was made for it
	Warnings       []string  `json:"warnings,omitempty"` // warnings for the user; updates have them as well
}

// SlashResult answers a start whose text is a command and no start; a dry run
// only names it.
type SlashResult struct {
	Command string `json:"command"` // "/cancel-ralph" or "/ralph-help"
	*LoopResult
	*HelpResult
}

// Typed reads what the user typed: the text, and a prompt or a selection that
// begins with a command. Such a one is taken out of the parameters.
func (p *StartParams) Typed() (start.Request, error) {
	request, err := start.Parse(p.Text)
	if err != nil {
		return request, err
	}
	part := &p.Prompt
	if *part == "" {
		part = &p.Selection
	}
	if request.Slash != "" || request.Prompt != "" || start.SlashOf(*part) == "" {
		return request, nil
	}
	own, err := start.Parse(*part)
	own.Options = own.Options.Over(request.Options)
	*part = ""
	return own, err
}

// ChangesParams is the argument of ralph.loop.changes: the changes between the ends of two iterations.
type ChangesParams struct {
	LoopParams
	From  int      `json:"from,omitempty"`  // 0: before the loop
	To    *int     `json:"to,omitempty"`    // absent: now
	Paths []string `json:"paths,omitempty"` // files and folders in the loop's folder; none: all
	After string   `json:"after,omitempty"` // the path of the last file of the page before
	Show  bool     `json:"show,omitempty"`  // show the patch as a document

	Places bool `json:"places,omitempty"` // tell where each file changed
}

// Range is what the parameters choose.
func (p ChangesParams) Range() changes.Range {
	r := changes.Range{From: p.From, To: changes.Latest}
	if p.To != nil {
		r.To = *p.To
	}
	return r
}

// HelpResult is the help as markdown.
type HelpResult struct {
	Markdown string `json:"markdown"`
}
