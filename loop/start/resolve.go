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
	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limited"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Options are what a start says, or an editor's settings. What is empty or nil
// is left to those behind it.
type Options struct {
	settings.Said
	Agent  Agent
	Steps  []config.Step // agents of markdown files
	Limits loop.Patch
	Check  Check
	Tree   Tree
}

// Sources tell where the values of a loop's configuration come from, by their
// names on the wire: "maxIterations", "backend", ...
type Sources map[string]config.Source

// Resolver makes the configuration of a loop of what was asked for.
type Resolver struct {
	Prompt   string // may name the promise, see promiseOf
	Start    Options
	Editor   Options
	Settings config.Settings
	Detect   Detect
	Host     Agent // the agent that the start comes from, with its model: they count where nobody names others
	Attended bool  // somebody is there who can talk to the agent
}

// Resolve chooses agent, arguments, model, hat, limits, promise and rules of a
// loop with the prompt; the other fields of its configuration are the caller's.
//
// Errors: *backends.NotFoundError, *backends.UnknownError, *UnknownHatError,
// *NoModelError, *ArgumentError, *agents.UnknownError; *config.UntrustedError behind a
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
	cfg := setup.Config{
		Prompt: r.Prompt,
		Model:  cmp.Or(r.Start.Agent.Model, r.Editor.Agent.Model),
	}
	r.say(&cfg)
	if cfg.Prompt == "" && cfg.Said.Plan != "" {
		cfg.Prompt = setup.PlanPrompt(cfg.Said.Plan)
	}
	r.keep(&cfg)
	sources := r.limits(&cfg)
	if sources["completionPromise"] == config.FromDefault {
		if promise := PromiseOf(r.Prompt); promise != "" {
			cfg.Promise, sources["completionPromise"] = promise, config.FromPrompt
		}
	}
	cfg.PromiseFrom = string(sources["completionPromise"])
	r.wall(&cfg)
	ctx = backends.ForLoop(ctx, cfg.Sandbox, r.Settings.Files.Folder)
	r.offerWalls(ctx, &cfg, sources["sandbox"])
	var err error
	if cfg.Verify, sources["verify"], err = r.check(); err != nil {
		return cfg, sources, err
	}
	r.gateSources(cfg.Verify, sources)
	cfg.Suggested = r.suggest(cfg.Verify)
	cfg.SetUp = r.Start.Tree.Wanted && len(r.Settings.Worktree.Setup) > 0
	if cfg.Reviewer, err = r.Reviewer(ctx, cfg.Verify); err != nil {
		return cfg, sources, err
	}
	sources["model"] = first(r.Start.Agent.Model != "", r.Editor.Agent.Model != "", config.FromDefault)
	own := slices.Concat(r.Editor.Agent.Args, r.Start.Agent.Args)
	if err := checkArguments(own); err != nil {
		return cfg, sources, err
	}
	c, err := r.files(ctx, func(chosen) []string { return own })
	if err != nil {
		return cfg, sources, err
	}
	if c.from == "" {
		if c.base, err = r.base(ctx); err != nil {
			return cfg, sources, err
		}
	}
	agent := c.base
	if agent.backend.ModelFlag == "" {
		if r.Start.Agent.Model != "" {
			return cfg, sources, &NoModelError{agent.backend.Name}
		}
		cfg.Model, sources["model"] = "", config.FromDefault // the editor's, for agents that can be told
	}
	cfg.Backend, cfg.Args = agent.backend, slices.Concat(agent.args, own)
	c.args = cfg.Args
	cfg.Warnings = append(cfg.Warnings, secretsIn(own)...)
	if backends.Unheld != "" {
		cfg.Warnings = append(cfg.Warnings, backends.Unheld)
	}
	sources["backend"] = agent.from
	sources["args"] = first(len(r.Start.Agent.Args) > 0, len(r.Editor.Agent.Args) > 0, r.argsSource(agent))
	if r.isHosts(agent.backend, cfg) {
		cfg.Model, sources["model"] = r.Host.Model, config.FromEditor
	}
	if c.from != "" {
		sources["agents"] = c.from
	} else if c.roles, err = r.hats(ctx, agent, own); err != nil {
		return cfg, sources, err
	}
	if agent.hat != "" {
		sources["hat"] = first(r.Start.Agent.Hat != "", true, "")
	}
	err = r.enlist(ctx, c, &cfg)
	return cfg, sources, err
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
	cfg.Changes = changes.Options{Keep: kept.Keep, MaxFile: kept.MaxFileMB * 1e6, MaxKept: kept.MaxMB * 1e6}
	cfg.Notify, cfg.Budget, cfg.Accounts = r.Settings.Notify, budgetOf(r.Settings), limited.Of()
	cfg.CheckFile = config.Name
	cfg.Copy, cfg.Link, cfg.Prepare = r.Settings.Worktree.Copy, r.Settings.Worktree.Link, r.Settings.Worktree.Setup
	past := r.Settings.History
	cfg.History = history.Options{Off: !past.Enabled, Folder: past.Folder, Keep: past.Keep, MaxBytes: past.MaxGB * 1e9}
}

// othersFile says that a folder has settings and hats for ralph-orchestrator, and none for us.
func othersFile(folder string) []string {
	const theirs = "ralph.yml"
	_, isThere := os.Stat(filepath.Join(folder, theirs))
	if _, err := os.Lstat(filepath.Join(folder, config.Name)); folder == "" || isThere != nil || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []string{fmt.Sprintf("the limits and hats of %s don't count here, as ralph-lsp reads %s: ralph-lsp init --from %[1]s makes one of it", theirs, config.Name)}
}

// say sets what is said of the loop in one value each.
func (r Resolver) say(cfg *setup.Config) {
	cfg.Said = r.Start.Said.Or(r.Editor.Said).Or(r.Settings.Said)
	bound(cfg)
}

// isHosts says whether a loop with this agent has the model of its host.
func (r Resolver) isHosts(agent backends.Backend, cfg setup.Config) bool {
	return r.Host.Model != "" && agent.Name == r.Host.Name && agent.ModelFlag != "" && cfg.Model == "" &&
		!slices.ContainsFunc(cfg.Args, func(arg string) bool { return arg == agent.ModelFlag || strings.HasPrefix(arg, agent.ModelFlag+"=") })
}

// limits sets limits and promise, and tells their sources and those of settings.
func (r Resolver) limits(cfg *setup.Config) Sources {
	s, e := r.Start.Limits, r.Editor.Limits
	cfg.Limits, cfg.Promise = e.Over(r.Settings.Limits, r.Settings.Promise)
	cfg.Limits, cfg.Promise = s.Over(cfg.Limits, cfg.Promise)
	sources := Sources{"completionPromise": first(s.Promise != nil, e.Promise != nil, r.Settings.Source("completion.promise"))}
	for _, s := range settings.All() {
		sources[s.Wire] = first(s.IsIn(r.Start.Said), s.IsIn(r.Editor.Said), r.Settings.Source(s.Key))
	}
	for _, l := range limits.All() {
		sources[l.Wire] = first(l.IsIn(s.Given), l.IsIn(e.Given), r.Settings.Source("limits."+l.Key))
	}
	return sources
}

// argsSource is where the arguments come from that neither start nor editor gave.
func (r Resolver) argsSource(agent chosen) config.Source {
	if len(agent.args) == 0 && len(agent.backend.Args) == 0 {
		return config.FromDefault
	}
	return cmp.Or(r.Settings.Source("hats."+agent.hat+".backend.args"), r.Settings.Source("backends."+agent.backend.Name+".args"), config.FromDefault)
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

// Found is the state file of a loop that goes on.
type Found struct {
	File string
	loopstate.State
}

// isHanding says whether hats hand over to each other.
func (f Found) isHanding() bool { return len(f.Queue.Pending) > 0 }

// FoundIn reads the state file of a folder. The error is loop.ErrNothingToGoOn
// when there is none.
func FoundIn(folder string) (Found, error) {
	file, s, err := loop.StateIn(folder)
	if bad, ok := tell.FindBadByte(s.Prompt); err == nil && ok {
		err = fmt.Errorf("%s: line %d of the prompt, %s", file, bad.Line, bad)
	}
	return Found{file, s}, err
}

// Continue returns the configuration of a loop that goes on: the agent that
// the start names, else the one of the state file, else, as other tools write
// none, the one of the settings. Anybody can write such a file, so a program or arguments of it must be known from a start, or be
// trusted.
//
// Errors are those of Resolve and *config.UntrustedError.
func (r Resolver) Continue(ctx context.Context, found Found, files config.Files) (setup.Config, error) {
	cfg, err := r.goOn(ctx, found, files)
	if err == nil {
		err = checkBrought(cfg, files)
	}
	return cfg, err
}

func (r Resolver) goOn(ctx context.Context, found Found, files config.Files) (setup.Config, error) {
	cfg := setup.Config{Continue: true, Stranger: !files.HasStarted(found.LoopID), Change: r.Start.Limits, PromiseFrom: string(config.FromStart), Model: r.Start.Agent.Model}
	r.Start.Said = r.Start.Said.Or(settings.Said{OnClose: found.Closing}).Or(found.Said.Tightening(r.Settings.Said))
	r.say(&cfg)
	r.keep(&cfg)
	ctx = r.keepWalls(ctx, &cfg, found)
	r.tighten(&cfg, found, files)
	known := r
	was, mark := files.CheckOf(found.LoopID)
	if was.IsSet() { // that from its start, whatever the files say by now
		known.Settings.Verify = was
	}
	var err error
	if cfg.Verify, _, err = known.check(); err != nil {
		return cfg, err
	}
	if cfg.Reviewer, err = r.Reviewer(ctx, cfg.Verify); err != nil {
		return cfg, err
	}
	cfg.ReviewerMark = mark
	if err := checkArguments(r.Start.Agent.Args); err != nil {
		return cfg, err
	}
	c, doubt, err := r.filesAgain(ctx, found, files)
	if err == nil && c.from == "" {
		c, doubt, err = r.agentAgain(ctx, found, files)
	}
	if err != nil {
		return cfg, err
	}
	if c.base.backend.ModelFlag == "" && cfg.Model != "" {
		return cfg, &NoModelError{c.base.backend.Name}
	}
	if err := r.enlist(ctx, c, &cfg); err != nil {
		return cfg, err
	}
	return cfg, doubt
}

// agentAgain is the cast of a loop that goes on and whose work no files do: the agent or the hat that the
// start names, else those of the state file. doubt says what of it has to be trusted first.
func (r Resolver) agentAgain(ctx context.Context, found Found, files config.Files) (c cast, doubt, err error) {
	named := r.Start.Agent
	fromFile := named.Name == "" && named.Hat == ""
	if _, ok := r.Settings.Hats[found.Hat]; fromFile && ok && !found.isHanding() {
		named.Hat = found.Hat
	} else if fromFile {
		named.Name = found.Backend
	}
	if err := named.goOnAs(found); err != nil {
		return c, nil, err
	}
	if c.base, err = r.choose(ctx, named, Agent{}); err != nil {
		return c, nil, err
	}
	agent := c.base
	if found.isHanding() || agent.hat != "" {
		if c.roles, err = r.hats(ctx, agent, slices.Concat(r.Editor.Agent.Args, named.Args)); err != nil {
			return c, nil, err
		}
	}
	c.args = slices.Concat(agent.args, named.Args)
	isFilesAgent := fromFile || named.Hat == "" && agent.backend.Name == found.Backend
	if gone := without(found.BackendArgs, c.args); len(named.Args) > 0 && isFilesAgent && len(gone) > 0 {
		c.warn("the agent no longer has the arguments %s, which the loop was started with: those of --backend-arg replace them; name all that it should have",
			strings.Join(tell.Masked(gone), " "))
	}
	if len(named.Args) == 0 && isFilesAgent && (found.Backend != "" || len(found.BackendArgs) > 0) {
		c.args = found.BackendArgs
		if n := len(agent.args); n > 0 && !slices.Equal(found.BackendArgs[:min(n, len(found.BackendArgs))], agent.args) {
			c.warn("the agent keeps the arguments that it was started with (%s), not those of the settings by now (%s); "+
				"to use these, name them again with --backend-arg, or start anew", cmp.Or(strings.Join(tell.Masked(found.BackendArgs), " "), "none"), strings.Join(tell.Masked(agent.args), " "))
		}
	}
	isFilesProgram := fromFile && IsPath(named.Name)
	isFilesArgs := len(c.args) > 0 && len(named.Args) == 0 && !slices.Equal(c.args, agent.args)
	switch {
	case isFilesArgs: // with the program that they will go to, whatever the file says
		doubt = files.CheckRun(found.File, agent.backend.Name, c.args)
	case isFilesProgram: // the arguments are the user's
		doubt = files.CheckRun(found.File, found.Backend, found.BackendArgs)
	case fromFile && r.isStrangersChoice(named, found, files):
		doubt = files.CheckRun(found.File, agent.backend.Name, c.args)
	}
	return c, doubt, nil
}

// without returns the items of a list that another one hasn't.
func without(list, other []string) (gone []string) {
	for _, item := range list {
		if !slices.Contains(other, item) {
			gone = append(gone, item)
		}
	}
	return gone
}

// Remember takes down the loop that the user started, with its program or
// arguments, so that it can be continued as it is if it is interrupted. Where
// that can't be done, they must be named again.
func Remember(files config.Files, cfg setup.Config, loopID string) {
	files.RememberLoop(loopID, cfg.Verify, cmp.Or(cfg.ReviewerMark, cfg.Reviewer.Mark()))
	if cfg.OfferWalls {
		files.RememberOffer(offerOfWalls)
	}
	if IsPath(cfg.Backend.Name) || len(cfg.Args) > 0 {
		files.RememberRun(cfg.Backend.Name, cfg.Args)
	}
}

// Interactive returns the command line of the chosen agent's own terminal
// interface. Its prompt asks for a plan, too, where the agent takes one.
func (r Resolver) Interactive(ctx context.Context, prompt string) (b backends.Backend, argv []string, err error) {
	ctx = backends.ForLoop(ctx, r.Settings.Sandbox, r.Settings.Files.Folder)
	agent, err := r.choose(ctx, r.Start.Agent, r.Editor.Agent)
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
