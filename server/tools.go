package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// maxToolFiles bounds how many files a model is told of.
const maxToolFiles = 200

// tool does what a model asks for, as far as that is to look. Whatever else it wants becomes an offer to
// its user: a model is none.
func (m *manager) tool(ctx context.Context, p answers.ToolParams) (any, error) {
	if p.Input == nil {
		p.Input = []byte("{}")
	}
	folders, err := m.toolFolders(p.Folders)
	if err != nil {
		return nil, err
	}
	if p.Name == answers.ToolStart {
		var in answers.ToolStartInput
		if err := decodeArgument(p.Input, &in); err != nil {
			return nil, err
		}
		return m.toolStart(ctx, in, folders, p.Settings)
	}
	var in answers.ToolLoopInput
	if err := decodeArgument(p.Input, &in); err != nil {
		return nil, err
	}
	listed, err := m.controls.list(ctx, wire.FolderParams{})
	if err != nil {
		return nil, err
	}
	loops := slices.DeleteFunc(listed.(wire.StatusResult).Loops, func(l wire.LoopStatus) bool {
		return in.LoopID != "" && in.LoopID != l.LoopID || !isIn(l, folders)
	})
	switch {
	case !answers.KnowsTool(p.Name):
		return nil, refusal.Invalid("name", "there is no tool %q", p.Name)
	case len(loops) == 0 && (in.LoopID != "" || p.Name != answers.ToolStatus):
		return nil, refusal.Failed(wire.ReasonNotRunning, errors.New("there is no Ralph loop to do that with"), nil)
	case p.Name == answers.ToolStatus:
		return toolStatus(loops), nil
	}
	l := loops[max(0, slices.IndexFunc(loops, func(l wire.LoopStatus) bool { return l.Live }))]
	if p.Name == answers.ToolSteer {
		return toolSteer(l, in.Text)
	}
	return m.toolChanges(ctx, l)
}

// toolFolders are the paths of folders, or of all that are open.
func (m *manager) toolFolders(uris []string) (paths []string, err error) {
	if len(uris) == 0 {
		return m.workspace.Open(), nil
	}
	for _, uri := range uris {
		path, err := m.workspace.FolderPath(uri)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// isIn says whether a loop works in one of some folders, or for one.
func isIn(l wire.LoopStatus, folders []string) bool {
	places := []string{l.Folder, l.Origin}
	if l.Worktree != nil {
		places = append(places, l.Worktree.Repository)
	}
	return slices.ContainsFunc(folders, func(path string) bool { return slices.Contains(places, wire.FileURI(path)) })
}

// toolStart asks for a start, with all that its user has to know of it; what a model wrote comes last.
func (m *manager) toolStart(ctx context.Context, in answers.ToolStartInput, folders []string, settings *wire.Settings) (any, error) {
	if in.Folder != "" && slices.Contains(folders, filepath.Clean(in.Folder)) {
		folders = []string{filepath.Clean(in.Folder)}
	} else if in.Folder != "" || len(folders) != 1 {
		return nil, refusal.Failed(wire.ReasonNoFolder, fmt.Errorf("folder has to be one of these: %s", cmp.Or(strings.Join(folders, ", "), "none is open")), nil)
	}
	params := wire.StartParams{Folder: wire.FileURI(folders[0]), Prompt: in.Prompt, Verify: in.Verify, Settings: settings}
	params.LimitParams = wire.LimitParams{Given: limits.Given{MaxIterations: in.MaxIterations}, CompletionPromise: in.CompletionPromise}
	switch {
	case strings.TrimSpace(in.Prompt) == "":
		return nil, refusal.Invalid("prompt", "prompt is missing")
	case start.SlashOf(in.Prompt) != "": // it could have flags
		return nil, refusal.Invalid("prompt", "prompt is a command and no prompt")
	}
	if err := caller.Check(caller.Start); err != nil {
		return nil, err
	}
	params.DryRun = true
	looked, err := m.starter.start(ctx, params)
	if err != nil {
		return nil, err
	}
	would := looked.(answers.DryRunResult)
	if len(would.Problems) > 0 {
		problem := would.Problems[0]
		return nil, refusal.Failed(problem.Reason, errors.New(problem.Text+"; its user can do something about that, with ralph-lsp run in a terminal or in an editor"), nil)
	}
	lines := []string{would.Text}
	for _, d := range would.Details {
		if d.Label != "Prompt" {
			lines = append(lines, d.Label+": "+d.Text)
		}
	}
	lines = append(append(lines, would.Warnings...), "", stream.Plain(in.Prompt))
	params.DryRun = false
	return answers.ToolResult{
		Title: "Start a Ralph loop?", Text: strings.Join(lines, "\n"),
		Offers: []wire.Command{{Title: "Start", Command: wire.CommandStart, Arguments: []any{params}}},
		Done:   "The loop has started. ralph_status tells how it does.",
	}, nil
}

// toolStatus is all that there is to know of loops, in lines.
func toolStatus(loops []wire.LoopStatus) answers.ToolResult {
	var all []string
	for _, l := range loops {
		lines := []string{fmt.Sprintf("%s (%s): %s", l.Title, l.LoopID, cmp.Or(l.Line, l.Text, l.State))}
		for _, d := range l.Details {
			lines = append(lines, d.Label+": "+d.Text)
		}
		for _, q := range l.Questions {
			lines = append(lines, "asks its user: "+q.Text)
		}
		all = append(all, strings.Join(lines, "\n"))
	}
	return answers.ToolResult{Text: cmp.Or(strings.Join(all, "\n\n"), "no Ralph loop has run here")}
}

// toolSteer asks whether a loop's agent may be told something.
func toolSteer(l wire.LoopStatus, text string) (any, error) {
	said, err := loop.ParseSteering(text)
	switch {
	case err != nil || said.Text != strings.TrimSpace(text):
		return nil, refusal.Invalid("text", "text is what the agent is told, without flags")
	case !slices.Contains(l.Can, wire.CanSteer):
		return nil, refusal.Failed(wire.ReasonNotRunning, errors.New("that loop can be told nothing now"), nil)
	}
	argument := wire.SteerParams{LoopParams: wire.LoopParams{LoopID: l.LoopID, Folder: l.Folder}, Text: text, Once: true}
	return answers.ToolResult{
		Title: fmt.Sprintf("Tell the loop %q?", l.Title), Text: stream.Plain(text),
		Offers: []wire.Command{{Title: "Tell It", Command: wire.CommandSteer, Arguments: []any{argument}}},
		Done:   "The agent is told.",
	}, nil
}

// toolChanges lists what a loop has changed.
func (m *manager) toolChanges(ctx context.Context, l wire.LoopStatus) (any, error) {
	changed, err := m.reviewer.changes(ctx, wire.ChangesParams{LoopParams: wire.LoopParams{LoopID: l.LoopID, Folder: l.Folder}})
	if err != nil {
		return nil, err
	}
	result := changed.(answers.ChangesResult)
	lines := []string{result.Text}
	for _, f := range result.Files[:min(len(result.Files), maxToolFiles)] {
		lines = append(lines, fmt.Sprintf("%s: %s, %s", f.Path, f.Status, f.Text))
	}
	if len(result.Files) > maxToolFiles {
		lines = append(lines, "and more")
	}
	return answers.ToolResult{Text: strings.Join(lines, "\n")}, nil
}
