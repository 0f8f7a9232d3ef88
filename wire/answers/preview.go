package answers

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// DryRunResult is what a start would do.
type DryRunResult struct {
	Text        string         `json:"text"`    // who would run, and within which limits, in one line
	Details     []wire.Detail  `json:"details"` // all that a person wants to know before, for a table
	Argv        []string       `json:"argv,omitempty"`
	Cwd         string         `json:"cwd"`
	PromptBytes int            `json:"promptBytes"` // with the loop's rules
	Limits      limits.Given   `json:"limits"`      // all of them
	Hat         string         `json:"hat,omitempty"`
	Verify      string         `json:"verify,omitempty"` // the command that has to pass before a promise counts
	Until       string         `json:"until,omitempty"`  // the command that ends the loop when it passes
	Sources     start.Sources  `json:"sources"`          // where each value comes from
	Warnings    []string       `json:"warnings,omitempty"`
	Problems    []StartProblem `json:"problems,omitempty"`
	Offers      []wire.Command `json:"offers,omitempty"` // what the start leaves open; they start with more
}

// StartProblem is why a start would be refused.
type StartProblem struct {
	Text   string         `json:"text"` // one line
	Class  wire.Class     `json:"class"`
	Reason string         `json:"reason"`           // as that of the refusal
	Offers []wire.Command `json:"offers,omitempty"` // what can be done instead; they start, and are no dry runs
}

// ProblemOf says why a start with an argument would be refused.
func ProblemOf(err error, reason string, offers []wire.Command) StartProblem {
	p := StartProblem{Text: wire.Whole(wire.Sentence(err.Error())), Class: wire.ClassError, Reason: reason, Offers: offers}
	if slices.Contains([]string{wire.ReasonAlreadyRunning, wire.ReasonInterrupted, wire.ReasonUntrusted}, reason) {
		p.Class = wire.ClassWarning // the user's word is enough
	}
	return p
}

// PreviewOf tells what a start with a configuration would do. argv and prompt are
// what its agent would get, version is that of its agent; all three are empty if nobody
// knows. A configuration that couldn't be made has no sources.
func PreviewOf(cfg setup.Config, sources start.Sources, argv []string, prompt, version string) DryRunResult {
	r := DryRunResult{
		Argv: format.Masked(argv), Cwd: cfg.Folder, PromptBytes: cmp.Or(len(prompt), len(cfg.Prompt)), Hat: cfg.Hat, Sources: sources,
	}
	if r.Sources == nil {
		r.Sources = start.Sources{}
	} else {
		r.Limits = wire.GivenOf(cfg.Limits.All(), cfg.Promise)
	}
	if check := stream.Sanitize(cfg.Verification.Check.String()); cfg.Verification.Check.When == verify.OnUntil {
		r.Until = check
	} else {
		r.Verify = check
	}
	agent := ""
	if cfg.Backend.Name != "" {
		agent = wire.SessionText(stream.SessionStart{Backend: cfg.Backend.Name, Version: version})
	}
	r.Text = agent
	if sources != nil {
		r.Text = wire.JoinFacts(agent, wire.OneLine(cfg.Model), atMost(cfg.Limits))
	}
	r.Details = preview{cfg, sources}.rows(agent, argv)
	return r
}

// atMost is what a loop may spend: "at most 50 iterations, $10.00".
func atMost(l loop.Limits) string {
	var bounds []string
	for _, name := range []limits.Name{limits.Iterations, limits.Cost} {
		if limit, _ := limits.ByName(name); !limit.IsZero(l) {
			bounds = append(bounds, limit.Amount(l))
		}
	}
	if len(bounds) == 0 {
		return "no limit of iterations or cost"
	}
	return "at most " + strings.Join(bounds, ", ")
}

// preview makes the rows of a dry run.
type preview struct {
	cfg     setup.Config
	sources start.Sources // nil: nothing of it is known but folder and prompt
}

// from says where a value comes from that neither its user has just said nor is built in.
func (p preview) from(text, key string) string {
	switch source := p.sources[key]; source {
	case "", config.FromStart, config.FromDefault:
		return text
	default:
		return text + " (from " + wire.SourceText[source] + ")"
	}
}

func (p preview) rows(agent string, argv []string) []wire.Detail {
	var rows []wire.Detail
	add := func(label, text string) {
		if text != "" {
			rows = append(rows, wire.Detail{Label: label, Text: text})
		}
	}
	cfg := p.cfg
	if agent != "" {
		if len(argv) > 0 && argv[0] != cfg.Backend.Name && len(cfg.Roles.Steps) == 0 { // of steps, it is the first one's
			agent += " · " + wire.Sentence(argv[0])
		}
		add("Agent", p.from(agent, "backend"))
		if len(cfg.Roles.Agents.About) == 0 {
			add("Hat", p.from(wire.OneLine(cfg.Hat), "hat"))
		}
		for _, about := range cfg.Roles.Agents.About {
			add("Agents", p.from(wire.Sentence(about), "agents"))
		}
		add("Model", p.model())
		add("Arguments", p.from(wire.OneLine(strings.Join(format.Masked(p.args()), " ")), "args"))
		may, own := cfg.Backend.Permissions(p.args())
		switch may = wire.Sentence(may); {
		case own:
			may = p.from(may, "args")
		case cfg.Asking.On:
			may = p.from(may, "permissions")
		}
		add("Permissions", may)
		add("Hooks", p.hooks())
		add("Walls", p.from(wire.SandboxText(cfg.Sandbox), "sandbox"))
		p.addRoles(add)
	}
	if cfg.Backend.Prompt == backends.PromptLive {
		live := "it can be told something while it works"
		if cfg.Backend.Live.ACP != nil {
			live += ", if it says so" // an agent of that protocol does when it is opened
		}
		add("Live", p.from(live, "live"))
	}
	for _, s := range settings.All() {
		if s.Label != "" && s.IsAbout(cfg.Values) {
			add(s.Label, p.from(wire.OneLine(s.Text(cfg.Values)), s.Wire))
		}
	}
	if p.sources != nil {
		add("Limits", p.limits())
		add("Budget", strings.TrimPrefix(cfg.Budget.Text(), "your budget: "))
		add("Forecast", loop.Forecast(cfg.Folder, cfg.Limits.MaxIterations))
		add("Promise", p.promise())
		add("Verified by", p.verified())
	}
	add("Folder", wire.Sentence(cfg.Folder))
	if cfg.Prompt != "" {
		add("Prompt", p.from(wire.JoinFacts(format.Counted(len(cfg.Prompt), "byte"), history.Title(cfg.Prompt)), "prompt"))
	}
	return rows
}

// addRoles says which hats hand over to each other, on which agents, and what agents
// besides the loop's own may do that do its work.
func (p preview) addRoles(add func(label, text string)) {
	cfg := p.cfg
	roles := slices.Concat(cfg.Roles.Steps...)
	if cfg.Roles.HatsEmit() {
		var names []string
		for _, r := range cfg.Roles.Hats {
			names = append(names, wire.OneLine(r.Name+" ("+wire.JoinFacts(filepath.Base(r.Backend.Name), r.Together())+")"))
		}
		add("Hats", strings.Join(names, ", "))
		roles = cfg.Roles.Hats
	}
	for _, f := range cfg.Fallbacks {
		add("Fallback", wire.OneLine(wire.JoinFacts(filepath.Base(f.Backend.Name), f.Model, strings.Join(f.On, ", "))))
		roles = append(roles, f.Role)
	}
	told := map[string]bool{cfg.Backend.Name: true}
	for _, r := range roles {
		if may, _ := r.Backend.Permissions(r.Args); !told[r.Backend.Name] {
			told[r.Backend.Name] = true
			add("Permissions of "+wire.OneLine(cmp.Or(r.Name, filepath.Base(r.Backend.Name))), wire.Sentence(may))
		}
	}
}

// args are the arguments of the agent that does all by itself.
func (p preview) args() []string {
	if len(p.cfg.Roles.Agents.About) > 0 && len(p.cfg.Roles.Hats) == 1 {
		return p.cfg.Roles.Hats[0].Args
	}
	return p.cfg.Args
}

// model is the model that the agent is told, or who chooses it instead.
func (p preview) model() string {
	switch flag := p.cfg.Backend.ModelFlag; {
	case p.cfg.Model != "":
		return p.from(wire.OneLine(p.cfg.Model), "model")
	case flag != "" && backends.HasFlag(p.args(), flag):
		return "as the arguments say"
	}
	return "the agent's own choice"
}

// hooks says whether programs of the agent's own settings run in each iteration.
func (p preview) hooks() string {
	switch run, known := p.cfg.Backend.HooksRun(p.args()); {
	case !known:
		return ""
	case run && len(p.cfg.Backend.Hooks.Off) > 0:
		return "yours, the folder's and those of plugins run in each iteration, unless your " +
			strings.Join(p.cfg.Backend.Hooks.By, ", ") + " says otherwise"
	case run:
		return "yours, the folder's and those of plugins run in each iteration"
	}
	return "none run; all else of its own settings counts"
}

// limits are all limits, each with where it comes from.
func (p preview) limits() string {
	var texts []string
	for _, l := range limits.All() {
		if l.IsTold(p.cfg.Limits) {
			texts = append(texts, p.from(l.Words(p.cfg.Limits), l.Wire))
		}
	}
	return wire.JoinFacts(texts...)
}

func (p preview) promise() string {
	switch {
	case p.cfg.Promise != "":
		return p.from(wire.OneLine(p.cfg.Promise), "completionPromise")
	case p.cfg.Verification.Check.When == verify.OnUntil:
		return "none is needed"
	case p.cfg.Values.Plan != "":
		if goal := p.cfg.PlanGoal(); goal != "" {
			return wire.Sentence("none is needed when " + goal)
		}
		return wire.Sentence("none is needed, once there is a plan in " + p.cfg.Values.Plan)
	}
	return "none: the agent ends with the line " + promises.DefaultWord
}

func (p preview) verified() string {
	by := wire.VerifiedBy(p.cfg.Verification.Check, func(g verify.Gate) string {
		text := ""
		if g == verify.ReviewerGate {
			text = ": " + wire.OneLine(p.cfg.Verification.Reviewer.Backend.Name)
		}
		return p.from(text, start.GateSource(g))
	})
	if by == "" && p.cfg.Values.Plan != "" {
		return "nothing but the checks that tasks have"
	}
	return cmp.Or(by, "nothing: the agent's word counts"+wire.SuggestionText(p.cfg.Verification.Suggested))
}
