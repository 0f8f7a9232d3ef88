package reading

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
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
	sessions, err := loop.PastOf(path, rd.KeptIn(path), limit, rd.workspace.List()...)
	if err != nil {
		return nil, err
	}
	running := rd.workspace.RunningSession(path)
	past := []answers.PastLoop{}
	for _, s := range sessions {
		if s.Path != running && (p.Limit <= 0 || len(past) < p.Limit) {
			one := answers.PastIn(s)
			one.Talks = []wire.Talk{feed.TalkAnew(wire.FileURI(path))}
			past = append(past, one)
		}
	}
	return answers.HistoryResult{Loops: past}, nil
}

// maxPrompts is how many prompts a client is told at most.
const maxPrompts = 20

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
	var found []history.Prompt
	for _, path := range folders {
		own, err := history.Prompts(rd.KeptIn(path), path)
		if err != nil {
			return nil, err
		}
		found = append(found, own...)
	}
	return answers.PromptsOf(history.Newest(found, limit)), nil
}
