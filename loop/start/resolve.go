package start

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limited"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Options are what a start says, or an editor's settings. What is empty or nil
// is left to those behind it.
type Options struct {
	settings.Values
	Agent  Agent
	Steps  []config.Step // agents of markdown files
	Check  Check
	Tree   Tree
	Accept bool // of a loop that goes on: a promise that could not be verified counts all the same, once
}

// Patch is what a start changes of a loop that goes on.
func (o Options) Patch() loop.Patch { return loop.Patch{Given: o.Given, Accept: o.Accept} }

// Sources tell where the values of a loop's configuration come from, by their
// names on the wire: "maxIterations", "backend", ...
type Sources map[string]config.Source

// Resolver makes the configuration of a loop of what was asked for.
type Resolver struct {
	Prompt   string // may name the promise, see PromiseOf
	Was      *Found // the loop that goes on; nil: one begins
	Start    Options
	Editor   Options
	Settings config.Settings
	Detect   Detect
	Host     Agent // the agent that the start comes from, with its model: they count where nobody names others
	Attended bool  // somebody is there who can talk to the agent
}

// Resolve chooses agent, arguments, model, hat, limits, promise and rules of a loop; the other fields of its configuration are
// the caller's. A loop that goes on has the agent that the start names, else the one of its state file, else, as other tools
// write none, the one of the settings. Anybody can write such a file, so a program or arguments of it must be known from a
// start, or be trusted.
//
// Errors: *backends.NotFoundError, *backends.UnknownError, *UnknownHatError,
// *NoModelError, *HostError, *ArgumentError, *agents.UnknownError; *config.UntrustedError behind a
// configuration that is whole.
func (r Resolver) Resolve(ctx context.Context) (setup.Config, Sources, error) {
	cfg, sources, err := r.resolve(ctx)
	if err == nil {
		err = checkBrought(cfg, r.Settings.Files)
	}
	return cfg, sources, err
}

func (r Resolver) resolve(ctx context.Context) (setup.Config, Sources, error) {
	if err := CheckTemplate(r.Prompt); err != nil {
		return setup.Config{}, nil, err
	}
	cfg := setup.Config{Prompt: r.Prompt, Model: cmp.Or(r.Start.Agent.Model, r.Editor.Agent.Model)}
	if r.Was != nil {
		r.takeUp(&cfg)
	}
	sources := r.say(&cfg)
	r.keep(&cfg)
	ctx = r.wall(ctx, &cfg, sources["sandbox"])
	if err := r.verify(ctx, &cfg, sources); err != nil {
		return cfg, sources, err
	}
	own := slices.Concat(r.Editor.Agent.Args, r.Start.Agent.Args)
	if err := checkArguments(own); err != nil {
		return cfg, sources, err
	}
	c, doubt, err := r.team(ctx, own)
	if err != nil {
		return cfg, sources, err
	}
	agent := c.base
	sources["model"] = first(r.Start.Agent.Model != "", r.Editor.Agent.Model != "", config.FromDefault)
	if agent.backend.ModelFlag == "" {
		if r.Start.Agent.Model != "" {
			return cfg, sources, &NoModelError{agent.backend.Name}
		}
		cfg.Model, sources["model"] = "", config.FromDefault // the editor's, for agents that can be told
	}
	if r.Was == nil {
		cfg.Warnings = append(cfg.Warnings, secretsIn(own)...)
		if backends.Unheld != "" {
			cfg.Warnings = append(cfg.Warnings, backends.Unheld)
		}
	}
	if r.isHosts(agent.backend, cfg.Model, c.args) {
		if r.Host.Model == hostsNone {
			return cfg, sources, &HostError{agent.backend.Name}
		}
		cfg.Model, sources["model"] = r.Host.Model, config.FromEditor
	}
	r.agentSources(c, sources)
	if err := r.setTeam(ctx, c, &cfg); err != nil {
		return cfg, sources, err
	}
	return cfg, sources, doubt
}

// team returns the agents that do the loop's work. own are the user's arguments for its agent. doubt names what of a state
// file the user has to trust first.
func (r Resolver) team(ctx context.Context, own []string) (c team, doubt, err error) {
	if r.Was != nil {
		if c, doubt, err = r.filesAgain(ctx, *r.Was); err == nil && c.from == "" {
			return r.agentAgain(ctx, *r.Was)
		}
		return c, doubt, err
	}
	if c, err = r.files(ctx, func(chosen) []string { return own }); err != nil {
		return c, nil, err
	}
	if c.from == "" {
		if c.base, err = r.base(ctx); err != nil {
			return c, nil, err
		}
		c.roles, err = r.hats(ctx, c.base, own)
	}
	c.args = slices.Concat(c.base.args, own)
	return c, nil, err
}

// agentSources tells who named the agent, and its arguments.
func (r Resolver) agentSources(c team, to Sources) {
	agent := c.base
	to["backend"] = agent.from
	to["args"] = first(len(r.Start.Agent.Args) > 0, len(r.Editor.Agent.Args) > 0, r.argsSource(agent))
	if c.from != "" {
		to["agents"] = c.from
	}
	if agent.hat != "" {
		to["hat"] = first(r.Start.Agent.Hat != "", true, "")
	}
}

// PromiseOf returns the promise that a prompt names: what its tags <promise>
// hold, in code blocks too, if all of them hold the same; else "". It counts
// where neither the start nor any settings have one.
func PromiseOf(prompt string) string {
	if named := setup.PromisesIn(prompt); len(named) == 1 {
		return named[0]
	}
	return ""
}

// NoModelError says that an agent can't be told which model to use.
type NoModelError struct{ Backend string }

func (e *NoModelError) Error() string {
	return e.Backend + " can't be told its model but by its own arguments"
}

// hostsNone is pi's name for the model of a session without one, when nobody is logged in.
const hostsNone = "unknown/unknown"

// HostError says that a loop would have the model of the session that it is started in, which has none.
type HostError struct{ Backend string }

func (e *HostError) Error() string {
	return e.Backend + " has no model here: log in with /login, or choose a model with /model; --model and --backend name others"
}

// ArgumentError says which argument a start can't give to an agent.
type ArgumentError struct{ Argument, Why string }

func (e *ArgumentError) Error() string { return fmt.Sprintf("the argument %q %s", e.Argument, e.Why) }

// checkArguments looks at the arguments that didn't come from a file.
func checkArguments(args []string) error {
	for _, arg := range args {
		if why := config.CheckArgument(arg); why != "" {
			return &ArgumentError{arg, why}
		}
	}
	return nil
}

// keep says where the loop is kept, how it calls its user, and what of the folder's file doesn't count.
func (r Resolver) keep(cfg *setup.Config) {
	if held := r.Settings.HeldText(); held != "" {
		cfg.Warnings = append(cfg.Warnings, held)
	}
	cfg.Warnings = append(cfg.Warnings, othersFile(r.Settings.Files.Folder)...)
	kept := r.Settings.Changes
	cfg.Storage.Changes = changes.Options{Keep: kept.Keep, MaxFile: kept.MaxFileMB * 1e6, MaxKept: kept.MaxMB * 1e6}
	cfg.Notify, cfg.Budget, cfg.Accounts = r.Settings.Notify, budgetOf(r.Settings), limited.Of()
	cfg.Verification.File = config.Name
	tree := r.Settings.Worktree
	cfg.Checkouts = setup.Checkouts{Copy: tree.Copy, Link: tree.Link, Prepare: tree.Setup}
	past := r.Settings.History
	cfg.Storage.History = history.Options{Off: !past.Enabled, Folder: past.Folder, Keep: past.Keep, MaxBytes: past.MaxGB * 1e9}
}

// othersFile says that a folder has settings and hats for ralph-orchestrator, and none for us.
func othersFile(folder string) []string {
	const theirs = "ralph.yml"
	_, isThere := os.Stat(filepath.Join(folder, theirs))
	if _, err := os.Lstat(filepath.Join(folder, config.Name)); folder == "" || isThere != nil || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []string{fmt.Sprintf("the limits and hats of %s don't count here, as ralph-lsp reads %s: ralph-lsp init --from "+
		"%[1]s makes one of it", theirs, config.Name)}
}

// say sets the loop's settings, and returns the sources of a loop that begins. A loop that goes on has the limits and the
// promise of its state file, with the start's changes.
func (r Resolver) say(cfg *setup.Config) (sources Sources) {
	cfg.Values = r.Start.Values.Or(r.Editor.Values).Or(r.Settings.Loop)
	bounds := cfg.Values.Given
	cfg.Values.Given = limits.Given{} // which stand in a place of their own
	bound(cfg)
	if r.Was != nil {
		cfg.PromiseFrom = string(config.FromStart)
		r.tighten(cfg, *r.Was)
		return Sources{}
	}
	if cfg.Prompt == "" && cfg.Values.Plan != "" {
		cfg.Prompt = setup.PlanPrompt(cfg.Values.Plan)
	}
	sources = Sources{}
	for _, s := range settings.All() {
		sources[s.Wire] = first(s.IsIn(r.Start.Values), s.IsIn(r.Editor.Values), r.Settings.Source(s.Key))
	}
	cfg.Limits, cfg.Promise = bounds.Over(limits.Limits{}), bounds.CompletionPromise()
	if sources["completionPromise"] == config.FromDefault {
		if promise := PromiseOf(r.Prompt); promise != "" {
			cfg.Promise, sources["completionPromise"] = promise, config.FromPrompt
		}
	}
	cfg.PromiseFrom = string(sources["completionPromise"])
	return sources
}

// isHosts says whether a loop with this agent, model and arguments has the model of its host.
func (r Resolver) isHosts(agent backends.Backend, model string, args []string) bool {
	return r.Host.Model != "" && agent.Name == r.Host.Name && agent.ModelFlag != "" && model == "" &&
		!slices.ContainsFunc(args, func(arg string) bool { return arg == agent.ModelFlag || strings.HasPrefix(arg, agent.ModelFlag+"=") })
}

// argsSource is where the arguments come from that neither start nor editor gave.
func (r Resolver) argsSource(agent chosen) config.Source {
	if len(agent.args) == 0 && len(agent.backend.Args) == 0 {
		return config.FromDefault
	}
	return cmp.Or(r.Settings.Source("hats."+agent.hat+".backend.args"),
		r.Settings.Source("backends."+agent.backend.Name+".args"), config.FromDefault)
}

// first is the source of a value that the start gave, or the editor, or other.
func first(inStart, inEditor bool, other config.Source) config.Source {
	switch {
	case inStart:
		return config.FromStart
	case inEditor:
		return config.FromEditor
	}
	return cmp.Or(other, config.FromDefault)
}

// Remember takes down the loop that the user started, with its program or
// arguments, so that it can be continued as it is if it is interrupted. Where
// that can't be done, they must be named again.
func Remember(files config.Files, cfg setup.Config, loopID string) {
	files.RememberLoop(loopID, cfg.Verification.Check, cmp.Or(cfg.Verification.ReviewerMark, cfg.Verification.Reviewer.Mark()))
	if cfg.OfferSandbox {
		files.RememberOffer(offerOfSandbox)
	}
	if IsPath(cfg.Backend.Name) || len(cfg.Args) > 0 {
		files.RememberRun(cfg.Backend.Name, cfg.Args)
	}
}

// Interactive returns the command line of the chosen agent's own terminal
// interface. Its prompt asks for a plan, too, where the agent takes one.
func (r Resolver) Interactive(ctx context.Context, prompt string) (b backends.Backend, argv []string, err error) {
	ctx = backends.ForLoop(ctx, r.Settings.Sandbox, r.Settings.Files.Folder)
	agent, err := r.catalog().choose(ctx, r.Start.Agent, r.Editor.Agent)
	if err != nil {
		return b, nil, err
	}
	b = agent.backend
	program, err := b.Find()
	if err != nil {
		return b, nil, err
	}
	var user []string
	if agent.hat != "" {
		user = r.Settings.Hats[agent.hat].Args
	}
	if model := r.Start.Agent.Model; model != "" {
		if b.ModelFlag == "" {
			return b, nil, &NoModelError{b.Name}
		}
		user = append(slices.Clone(user), b.ModelFlag, model)
	}
	if b.InteractivePrompt != "" {
		if prompt, err = askForPlan(r, prompt); err != nil {
			return b, nil, err
		}
	}
	argv, err = b.Interactive(slices.Concat(user, r.Start.Agent.Args), prompt)
	return b, append([]string{program}, argv...), err
}
