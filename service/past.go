package service

import (
	"cmp"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// HistoryRequest chooses past loops.
type HistoryRequest struct {
	Folder  string
	Limit   int      // 0: all that is known
	Without []string // folders that are listed themselves: worktrees of the folder are left out where they are one
	Running string   // the session file of the loop that runs in the folder, which isn't past; "": of none
}

// History lists the past loops of a folder and of its worktrees, the last driven first. Its errors are the state
// folder's, without which nothing can be found.
func (s *Service) History(q HistoryRequest) (past []loop.Past, err error) {
	if _, err := paths.Loops(); err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit > 0 && q.Running != "" {
		limit++
	}
	for _, p := range loop.PastOf(q.Folder, limit, q.Without...) {
		if p.SessionFile != q.Running && (q.Limit <= 0 || len(past) < q.Limit) {
			past = append(past, p)
		}
	}
	return past, nil
}

const (
	maxPrompts  = 20   // that are told at most
	promptLoops = 1000 // of each folder are looked at, from the newest on: there may be tens of thousands
)

// Prompts lists what loops were started with in folders: each prompt once, with all its uses, the
// newest first. The limit is at most 20, which 0 stands for.
func (s *Service) Prompts(folders []string, limit int) []answers.PastPrompt {
	if limit <= 0 || limit > maxPrompts {
		limit = maxPrompts
	}
	var loops []registry.Entry
	for _, path := range folders {
		loops = append(loops, loop.Kept(path, promptLoops)...)
	}
	return promptsOf(loops, limit)
}

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
			newest = append(newest, answers.PastPrompt{Text: l.Prompt, Title: history.Title(l.Prompt),
				At: history.TimeOf(l.StartedAt), Folder: wire.FileURI(l.Folder), Uses: 1})
		}
	}
	return newest
}
