package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Starter makes configurations of loops, of what users and files choose. It starts none.
type Starter struct {
	Service *Service
	// Version is this program's.
	Version string
	// Detect finds an agent that is installed, for a start that names none.
	Detect func(context.Context) (backends.Backend, error)
	// OpenText is the text of a file that the user has open; nil: none is.
	OpenText func(path string) (text string, isOpen bool)
	// Attended says that a user is there who can be asked.
	Attended bool
}

// Start is a start in a folder that is there, as its user wants it.
type Start struct {
	Folder  string
	Params  wire.StartParams
	Request start.Request // the request in the text of Params
}

// Request reads what a start's texts say. The folder must be there.
func (s *Starter) Request(folder string, p wire.StartParams) (Start, error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return Start{}, wire.Failed(wire.ReasonNoFolder, fmt.Errorf("there is no folder %s", folder))
	}
	request, err := p.Typed()
	if err != nil {
		return Start{}, wire.Invalid("text", "%v", err)
	}
	typed, err := start.ParseChange(p.LimitsText, limits.Default(), "")
	if err != nil {
		return Start{}, wire.Invalid("limitsText", "%v", err)
	}
	request.Options = start.Options{Values: settings.Values{Given: typed.Given}}.Over(request.Options)
	return Start{folder, p, request}, nil
}

// Tree is the worktree that a start asks for.
func (r Start) Tree() start.Tree {
	own := start.Tree{Wanted: r.Params.Worktree.Wanted, Branch: r.Params.Worktree.Branch, WithChanges: r.Params.WithChanges,
		Commit: r.Params.Commit}
	return start.Options{Tree: own}.Over(r.Request.Options).Tree
}

// PatchOf returns limits and a promise as a change, and refuses what no loop can have.
func PatchOf(given limits.Given) (loop.Patch, error) {
	err := settings.Values{Given: given}.Check()
	return loop.Patch{Given: given}, cmp.Or(err, CheckPromise(given.CompletionPromise()))
}

// CheckPromise refuses what no agent could promise.
func CheckPromise(promise string) error {
	if why := promises.CheckPromise(promise); why != "" {
		return wire.Invalid("completionPromise", "the completion promise %s", why)
	}
	return nil
}

// optionsOf returns what a start, or the editor's settings, choose.
func optionsOf(c wire.Choices) (start.Options, error) {
	_, err := PatchOf(c.Given)
	return start.Options{Agent: start.Agent{Name: c.Backend, Hat: c.Hat, Model: c.Model, Args: c.Args}, Values: c.Values}, err
}

// resolver has what the parameters of a start choose.
func (s *Starter) resolver(r Start, files config.Settings) (start.Resolver, error) {
	p := r.Params
	own, err := optionsOf(p.Choices)
	steps, stepsErr := start.Named(p.Agent, p.Chain, p.Parallel)
	own.Steps, own.Check = steps, start.Check{Verify: p.Verify, Until: p.Until, Off: p.NoVerify}
	resolver := start.Resolver{Start: own, Settings: files, Detect: s.Detect, Attended: s.Attended}
	if err = cmp.Or(err, stepsErr, own.Values.Check()); err != nil || p.Settings == nil {
		return resolver, err
	}
	if resolver.Editor, err = optionsOf(p.Settings.Choices); err != nil {
		return resolver, err
	}
	if err := p.Settings.CheckEditor(); err != nil {
		return resolver, fmt.Errorf("the settings' %w", err)
	}
	if host := p.Settings.Host; host != nil {
		resolver.Host = start.Agent{Name: host.Backend, Model: host.Model}
	}
	return resolver, nil
}

// Config makes a loop's configuration from a start, and tells where its values come from. Without an agent it returns
// all the rest, and an error. Errors are also those of start.Resolver.
func (s *Starter) Config(ctx context.Context, r Start, settings config.Settings) (setup.Config, start.Sources, error) {
	resolver, err := s.resolver(r, settings)
	if err != nil {
		return setup.Config{}, nil, err
	}
	p := r.Params
	prompt, says, err := s.prompt(p)
	if err != nil {
		return setup.Config{}, nil, err
	}
	promptFrom := config.FromStart
	if p.PromptURI == "" {
		prompt = cmp.Or(prompt, r.Request.Prompt)
	}
	resolver.Start = resolver.Start.Over(r.Request.Options)
	prompt = WithSelection(prompt, p.Selection)
	_, state, _ := loop.StateIn(r.Folder) // without one, no loop is known
	warnings := resolver.Adopt(says, s.Service.Files(r.Folder).KnowsLoop(state.LoopID))
	if prompt == "" && p.PromptURI == "" && resolver.Start.NeedsPrompt(settings) {
		if prompt, err = s.configuredPrompt(r.Folder, settings); err != nil {
			return setup.Config{}, nil, err
		}
		promptFrom = settings.Source("prompt_file")
	}
	resolver.Prompt = prompt
	cfg, sources, err := resolver.Resolve(ctx)
	if errors.As(err, new(*start.TemplateError)) {
		return setup.Config{}, nil, wire.Failed(wire.ReasonBadPrompt, err)
	}
	cfg.Folder, cfg.Version, cfg.Warnings = r.Folder, s.Version, append(cfg.Warnings, warnings...)
	if sources != nil {
		sources["prompt"] = promptFrom
	}
	if noModel := (*start.NoModelError)(nil); errors.As(err, &noModel) {
		return setup.Config{}, nil, wire.Invalid("model", "%v: say it with args", err)
	}
	if err := CheckPromise(cfg.Promise); err != nil {
		return setup.Config{}, nil, err
	}
	return cfg, sources, err
}

// Preview tells what a start would do. argument is the start's own, as JSON: with a change it does something about why
// it would be refused.
func (s *Starter) Preview(ctx context.Context, r Start, argument []byte) (answers.DryRunResult, error) {
	preview := Preview{Replace: r.Params.Replace}
	files := s.Service.Files(r.Folder)
	files.Trusted = files.Trusted || r.Params.Trust
	settings, err := preview.SettingsFor(files)
	if err == nil {
		preview.Config, preview.Sources, err = s.Config(ctx, r, settings)
		preview.Config.Folder = r.Folder
		preview.InTree(ctx, r.Tree(), settings.Worktree)
	}
	if IsInvalid(err) {
		return answers.DryRunResult{}, err
	}
	preview.Config.Folder, preview.Met = r.Folder, append(preview.Met, err)
	result, err := preview.Result(ctx, func(reason string) []wire.Command {
		return wire.OffersInstead(reason, wire.CommandStart, argument)
	})
	if preview.Sources != nil {
		result.Offers = answers.OffersAtStart(preview.Config.Verification.Suggested, start.Permits(ctx, preview.Config), argument)
	}
	return result, err
}

// Prepared is a start of which all is known: it has only to begin.
type Prepared struct {
	Config   setup.Config
	tree     start.Tree
	worktree config.Worktree
}

// Prepare makes a start ready to begin. permit asks the user about untrusted files, see WithTrust.
func (s *Starter) Prepare(ctx context.Context, r Start, permit func(*config.UntrustedError) error) (p Prepared, err error) {
	p.tree = r.Tree()
	err = WithTrust(r.Params.Trust, permit, func() error {
		settings, err := LoadSettings(s.Service.Files(r.Folder))
		if err == nil && r.Params.Trust && settings.Trust != nil {
			return settings.Trust
		}
		if err == nil {
			p.worktree = settings.Worktree
			p.Config, _, err = s.Config(ctx, r, settings)
		}
		return err
	})
	if err == nil {
		_, _, err = CheckStart(p.Config)
	}
	return p, err
}

// InTree says whether the loop gets a worktree of its own.
func (p Prepared) InTree() bool { return p.tree != (start.Tree{}) }

// BeginInTree makes the worktree and begins the loop there. Without a loop, there is no worktree afterwards. out gets what
// the commands print that set it up. Config is the loop's then, with what its user should know.
func (p *Prepared) BeginInTree(ctx context.Context, out io.Writer, begin func(setup.Config) error) error {
	made, err := p.tree.Make(ctx, &p.Config, p.worktree, out)
	if err != nil {
		return err
	}
	if err := begin(p.Config); err != nil {
		return errors.Join(err, made.Drop())
	}
	return nil
}

// TakeUp makes the configuration with which a loop goes on that nobody drives. Errors are also those of start.FoundIn and
// start.Resolver, and *config.UntrustedError where permit, see WithTrust, permits nothing.
func (s *Starter) TakeUp(ctx context.Context, left loop.Status, p wire.ResumeParams,
	permit func(*config.UntrustedError) error) (cfg setup.Config, err error) {
	patch, err := ChangeOf(left, p.Given, p.Text)
	if err == nil {
		err = p.Values.Check()
	}
	if err != nil {
		return cfg, err
	}
	options := start.Options{Agent: start.Agent{Name: p.Backend}, Values: p.Values, Accept: p.Accept}
	options.Given = patch.Given // what the text says among it
	err = WithTrust(p.Trust, permit, func() error {
		found, err := start.FoundIn(left.Folder)
		if err != nil {
			return err
		}
		settings, err := LoadSettings(s.Service.Files(left.Folder))
		if err != nil {
			return err
		}
		resolver := start.Resolver{Was: &found, Start: options, Settings: settings, Detect: s.Detect, Attended: s.Attended}
		cfg, _, err = resolver.Resolve(ctx)
		return err
	})
	cfg.Folder, cfg.Version, cfg.Say = left.Folder, s.Version, p.Say
	return cfg, err
}

// WithSelection returns a prompt with a selection behind it; each may be missing.
func WithSelection(prompt, selection string) string {
	if prompt != "" && selection != "" {
		prompt += "\n\n"
	}
	return prompt + selection
}

// prompt returns the prompt that is given itself, or the one in a document with what that says of the loop.
func (s *Starter) prompt(p wire.StartParams) (prompt string, says start.Options, err error) {
	if p.PromptURI == "" {
		return p.Prompt, says, nil
	}
	if p.Prompt != "" {
		return "", says, wire.Invalid("promptUri", "there are two prompts: give prompt or promptUri")
	}
	path, err := wire.PathOf(p.PromptURI)
	if err != nil {
		return "", says, wire.Invalid("promptUri", "promptUri: %v", err)
	}
	prompt, says, err = s.promptAt(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", says, wire.Failed(wire.ReasonEmptyPrompt, fmt.Errorf("there is no file %s: save it first", path))
	}
	return prompt, says, err
}

// configuredPrompt returns what is in the prompt file of the settings, "" when there is none.
func (s *Starter) configuredPrompt(folder string, settings config.Settings) (string, error) {
	path, err := settings.PromptPath(folder)
	if err != nil {
		return "", badPrompt(filepath.Join(folder, settings.PromptFile), err)
	}
	prompt, _, err := s.promptAt(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return prompt, err
}

// promptAt returns the prompt in a file, as the user has it open, and what a state file says of its loop.
func (s *Starter) promptAt(path string) (prompt string, says start.Options, err error) {
	text, isOpen := "", false
	if s.OpenText != nil {
		text, isOpen = s.OpenText(path)
	}
	if !isOpen {
		text, err = start.ReadText(path)
	}
	if err == nil {
		text, err = start.PromptText(path, []byte(text))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", says, err
	case err != nil:
		return "", says, badPrompt(path, err)
	}
	if prompt, says, err = start.PromptIn(path, text); err != nil {
		return "", says, err
	}
	if err := start.CheckFile(path, prompt); err != nil {
		return "", says, badPrompt(path, err)
	}
	return prompt, says, nil
}

// badPrompt is the error for a file that is there and can't be a prompt.
func badPrompt(path string, err error) error {
	return &wire.Failure{Reason: wire.ReasonBadPrompt, Err: err, Data: data{"fileUri": wire.FileURI(path)}}
}
