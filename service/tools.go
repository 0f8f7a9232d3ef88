package service

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
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// maxToolFiles bounds how many files a model is told of.
const maxToolFiles = 200

// Tools serve models, as far as they only look. Everything else becomes an offer to the model's user.
type Tools struct {
	Loops   func(context.Context) ([]wire.LoopStatus, error) // of all folders that the face knows
	Preview func(context.Context, wire.StartParams) (answers.DryRunResult, error)
	Commands
}

// Call serves a model's call, in folders, which are paths. The arguments of the offers are *wire.StartParams and
// *wire.SteerParams. Errors are also those of Tools' functions, and *caller.Refused.
func (t Tools) Call(ctx context.Context, p answers.ToolParams, folders []string) (answers.ToolResult, error) {
	if p.Input == nil {
		p.Input = []byte("{}")
	}
	if p.Name == answers.ToolStart {
		var in answers.ToolStartInput
		if err := answers.Decode(p.Input, &in); err != nil {
			return answers.ToolResult{}, err
		}
		return t.start(ctx, in, folders, p.Settings)
	}
	var in answers.ToolLoopInput
	if err := answers.Decode(p.Input, &in); err != nil {
		return answers.ToolResult{}, err
	}
	loops, err := t.Loops(ctx)
	if err != nil {
		return answers.ToolResult{}, err
	}
	loops = slices.DeleteFunc(loops, func(l wire.LoopStatus) bool {
		return in.LoopID != "" && in.LoopID != l.LoopID || !isIn(l, folders)
	})
	switch {
	case !answers.KnowsTool(p.Name):
		return answers.ToolResult{}, wire.Invalid("name", "there is no tool %q", p.Name)
	case len(loops) == 0 && (in.LoopID != "" || p.Name != answers.ToolStatus):
		return answers.ToolResult{}, wire.Failed(wire.ReasonNotRunning, errors.New("there is no Ralph loop to do that with"))
	case p.Name == answers.ToolStatus:
		return toolStatus(loops), nil
	}
	l := loops[max(0, slices.IndexFunc(loops, func(l wire.LoopStatus) bool { return l.Live }))]
	if p.Name == answers.ToolSteer {
		return toolSteer(l, in.Text)
	}
	return t.changes(ctx, l)
}

// isIn says whether a loop works in one of some folders, or for one.
func isIn(l wire.LoopStatus, folders []string) bool {
	places := []string{l.Folder, l.Origin}
	if l.Worktree != nil {
		places = append(places, l.Worktree.Repository)
	}
	return slices.ContainsFunc(folders, func(path string) bool { return slices.Contains(places, wire.FileURI(path)) })
}

// start makes the offer of a start, with everything that the user has to know; the model's words come last.
func (t Tools) start(ctx context.Context, in answers.ToolStartInput, folders []string,
	settings *wire.Settings) (asked answers.ToolResult, err error) {
	if in.Folder != "" && slices.Contains(folders, filepath.Clean(in.Folder)) {
		folders = []string{filepath.Clean(in.Folder)}
	} else if in.Folder != "" || len(folders) != 1 {
		return asked, wire.Failed(wire.ReasonNoFolder,
			fmt.Errorf("folder has to be one of these: %s", cmp.Or(strings.Join(folders, ", "), "none is open")))
	}
	params := wire.StartParams{Folder: wire.FileURI(folders[0]), Prompt: in.Prompt, Verify: in.Verify, Settings: settings}
	params.Given = limits.Given{MaxIterations: in.MaxIterations, Promise: in.CompletionPromise}
	switch {
	case strings.TrimSpace(in.Prompt) == "":
		return asked, wire.Invalid("prompt", "prompt is missing")
	case start.SlashOf(in.Prompt) != "": // it could have flags
		return asked, wire.Invalid("prompt", "prompt is a command and no prompt")
	}
	if err := caller.Check(caller.Start); err != nil {
		return asked, err
	}
	would, err := t.Preview(ctx, params)
	if err != nil {
		return asked, err
	}
	if len(would.Problems) > 0 {
		problem := would.Problems[0]
		return asked, wire.Failed(problem.Reason, errors.New(problem.Text+"; its user can do something about that, with "+
			"ralph-lsp run in a terminal or in an editor"))
	}
	lines := []string{would.Text}
	for _, d := range would.Details {
		if d.Label != "Prompt" {
			lines = append(lines, d.Label+": "+d.Text)
		}
	}
	lines = append(append(lines, would.Warnings...), "", stream.Sanitize(in.Prompt))
	return answers.ToolResult{
		Title: "Start a Ralph loop?", Text: strings.Join(lines, "\n"),
		Offers: []wire.Command{{Title: "Start", Command: wire.CommandStart, Arguments: []any{&params}}},
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
func toolSteer(l wire.LoopStatus, text string) (asked answers.ToolResult, err error) {
	said, err := loop.ParseSteering(text)
	switch {
	case err != nil || said.Text != strings.TrimSpace(text):
		return asked, wire.Invalid("text", "text is what the agent is told, without flags")
	case !slices.Contains(l.Can, wire.CanSteer):
		return asked, wire.Failed(wire.ReasonNotRunning, errors.New("that loop can be told nothing now"))
	}
	argument := wire.SteerParams{LoopParams: wire.LoopParams{LoopID: l.LoopID, Folder: l.Folder}, Text: text, Once: true}
	return answers.ToolResult{
		Title: fmt.Sprintf("Tell the loop %q?", l.Title), Text: stream.Sanitize(text),
		Offers: []wire.Command{{Title: "Tell It", Command: wire.CommandSteer, Arguments: []any{&argument}}},
		Done:   "The agent is told.",
	}, nil
}

// changes lists what a loop has changed.
func (t Tools) changes(ctx context.Context, l wire.LoopStatus) (listed answers.ToolResult, err error) {
	result, _, err := t.Changes(ctx, wire.ChangesParams{LoopParams: wire.LoopParams{LoopID: l.LoopID, Folder: l.Folder}})
	if err != nil {
		return listed, err
	}
	lines := []string{result.Text}
	for _, f := range result.Files[:min(len(result.Files), maxToolFiles)] {
		lines = append(lines, fmt.Sprintf("%s: %s, %s", f.Path, f.Status, f.Text))
	}
	if len(result.Files) > maxToolFiles {
		lines = append(lines, "and more")
	}
	return answers.ToolResult{Text: strings.Join(lines, "\n")}, nil
}
