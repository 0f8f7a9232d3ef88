package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Preview is a start that is looked at and not done.
type Preview struct {
	Config  setup.Config
	Sources start.Sources // nil if there is no configuration
	Replace bool          // the loop that is there may go
	Met     []error       // why it would be refused, as far as that is known

	tree      *worktree.Tree // that the loop would get; nil: none
	asTheyAre bool           // with the files as they are
}

// InTree says that the loop would work in a worktree of its own, where that is wanted.
func (p *Preview) InTree(ctx context.Context, wanted start.Tree, settings config.Worktree) {
	if wanted == (start.Tree{}) || p.Sources == nil {
		return
	}
	tree, err := wanted.Preview(ctx, p.Config, settings)
	if err != nil {
		p.Met = append(p.Met, err)
		return
	}
	p.tree, p.asTheyAre = &tree, wanted.WithChanges
}

// Result tells what the start would do, and adds to Met what is found. It writes nothing, asks
// nobody, and starts nothing but a known agent that is asked for its version. The error is for what
// no start can have.
func (p *Preview) Result(ctx context.Context, instead func(reason string) []wire.Command) (answers.DryRunResult, error) {
	var argv []string
	var prompt, version string
	var broken error
	if p.Config.Backend.Name != "" {
		var err error
		if argv, prompt, err = CheckStart(p.Config); IsInvalid(err) {
			return answers.DryRunResult{}, err
		}
		p.Met = append(p.Met, err)
		if err == nil {
			version, broken = p.Config.Backend.Version(backends.ForLoop(ctx, p.Config.Sandbox, p.Config.Folder))
		}
	}
	if p.tree == nil {
		if !p.Replace {
			p.Met = append(p.Met, loop.InTheWay(p.Config.Folder))
		}
		p.Met = append(p.Met, loopstate.CheckWritable(p.Config.Folder))
	}
	cfg := p.Config
	if p.tree != nil {
		cfg.Folder = p.tree.Folder
	}
	result := answers.PreviewOf(cfg, p.Sources, argv, prompt, version)
	if p.tree != nil {
		result.Details = append(result.Details, wire.WorktreeRow(*p.tree, p.asTheyAre))
	}
	for _, warning := range slices.Concat(p.Config.Warnings, p.Config.Doubts()) {
		result.Warnings = append(result.Warnings, wire.Whole(warning))
	}
	if broken != nil {
		result.Warnings = append(result.Warnings, wire.Whole(p.Config.Backend.Name+" may not work here: "+broken.Error()))
	}
	if stray, _ := setup.StrayPromises(p.Config.Prompt, p.Config.Promise); stray != "" {
		result.Warnings = append(result.Warnings, stray)
	}
	met := map[string]bool{}
	p.Met = slices.DeleteFunc(p.Met, func(err error) bool {
		if err == nil {
			return true
		}
		told, reason := err, ""
		if f := FailureOf(err); f != nil {
			told, reason = f, f.Reason
		}
		if met[reason] {
			return true
		}
		met[reason] = reason != ""
		result.Problems = append(result.Problems, answers.ProblemOf(told, reason, instead(reason)))
		return false
	})
	return result, nil
}

// SettingsFor loads the settings of a folder for a preview. A file that isn't trusted yet counts
// here, so that its user sees what the trust is about.
func (p *Preview) SettingsFor(files config.Files) (config.Settings, error) {
	settings, err := LoadSettings(files)
	if errors.As(err, new(*config.UntrustedError)) {
		was := files.Trusted
		p.Met, files.Trusted = append(p.Met, err), true
		settings, err = LoadSettings(files)
		settings.Files.Trusted = was // agents are another question
	}
	return settings, err
}

// LoadSettings reads the files. One that can't even be read is as bad as one
// with mistakes.
func LoadSettings(files config.Files) (config.Settings, error) {
	settings, err := files.Load()
	var invalid *config.InvalidError
	var untrusted *config.UntrustedError
	if err == nil || errors.As(err, &invalid) || errors.As(err, &untrusted) {
		return settings, err
	}
	name := filepath.Join(files.Folder, config.Name)
	if info, statErr := os.Stat(name); statErr != nil || info.Mode().IsRegular() {
		name = filepath.Join(files.UserDir, config.UserName)
	}
	problem := answers.ConfigProblem{FileURI: wire.FileURI(name), Line: 1, Column: 1, Message: err.Error()}
	return settings, &wire.Failure{Reason: wire.ReasonBadConfig, Err: err, Data: data{"problems": []answers.ConfigProblem{problem}}}
}
