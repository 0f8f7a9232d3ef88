package reading

import (
	"cmp"
	"context"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/registry"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// History lists the loops that have a session file and don't run: of a folder, and of its
// worktrees that are gone. Those that are there are folders of their own.
func (rd *Reader) History(_ context.Context, p answers.HistoryParams) (any, error) {
	path, err := rd.workspace.FolderPath(p.Folder)
	if err != nil {
		return nil, err
	}
	rd.workspace.LookAt(path)
	limit := p.Limit
	if limit > 0 {
		limit++ // one may run
	}
	running := rd.workspace.RunningSession(path)
	past := []answers.PastLoop{}
	for _, s := range loop.PastOf(path, limit, rd.workspace.List()...) {
		if s.SessionFile != running && (p.Limit <= 0 || len(past) < p.Limit) {
			one := answers.PastIn(s)
			one.Talks = []wire.Talk{feed.TalkAnew(wire.FileURI(path))}
			past = append(past, one)
		}
	}
	return answers.HistoryResult{Loops: past}, nil
}

const (
	maxPrompts  = 20   // that a client is told at most
	promptLoops = 1000 // of each folder are looked at, from the newest on: there may be tens of thousands
)

// Prompts lists what loops were started with in a folder, or in all that are open.
func (rd *Reader) Prompts(_ context.Context, p answers.PromptsParams) (any, error) {
	folders := rd.workspace.Open()
	if p.Folder != "" {
		path, err := rd.workspace.FolderPath(p.Folder)
		if err != nil {
			return nil, err
		}
		folders = []string{path}
	}
	limit := maxPrompts
	if p.Limit > 0 {
		limit = min(p.Limit, maxPrompts)
	}
	var loops []registry.Entry
	for _, path := range folders {
		loops = append(loops, loop.Kept(path, promptLoops)...)
	}
	return answers.PromptsResult{Prompts: promptsOf(loops, limit)}, nil
}

// promptsOf is each prompt of loops once, with all its uses, the newest first.
func promptsOf(loops []registry.Entry, limit int) []answers.PastPrompt {
	slices.SortStableFunc(loops, func(a, b registry.Entry) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), b.ChangedAt.Compare(a.ChangedAt)) // starts are told by the second
	})
	newest, at := []answers.PastPrompt{}, map[string]int{}
	for _, l := range loops {
		i, known := at[l.Prompt]
		switch {
		case l.Prompt == "":
		case known:
			newest[i].Uses++
		case len(newest) < limit:
			at[l.Prompt] = len(newest)
			newest = append(newest, answers.PastPrompt{Text: l.Prompt, Title: history.Title(l.Prompt), At: history.TimeOf(l.StartedAt), Folder: wire.FileURI(l.Folder), Uses: 1})
		}
	}
	return newest
}
