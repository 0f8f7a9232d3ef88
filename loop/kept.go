package loop

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// Past is a loop that is kept, and the worktree where it worked.
type Past struct {
	history.Summary
	Tree *worktree.Past // nil: in no worktree
}

// PastOf lists the sessions that are kept of a folder and of the worktrees that stood for
// it, as history.List does, but those of the folders without that are there still.
func PastOf(folder string, h history.Options, limit int, without ...string) ([]Past, error) {
	trees := worktree.PastOf(folder)
	folders := []string{folder}
	for _, t := range trees {
		if isHere := slices.ContainsFunc(trees, func(other worktree.Past) bool { return other.Here && other.Folder == t.Folder }); !isHere || !slices.Contains(without, t.Folder) {
			folders = append(folders, t.Folder)
		}
	}
	sessions, err := history.ListAll(h, folders, limit)
	if err != nil {
		return nil, err
	}
	past := make([]Past, len(sessions))
	for i, s := range sessions {
		past[i] = Past{s, keptTree(s, trees)}
	}
	return past, nil
}

// keptTree is the tree that a session was made in. Several may have had its folder, one
// after the other.
func keptTree(s history.Summary, trees []worktree.Past) (in *worktree.Past) {
	for i, t := range trees {
		if t.Folder != s.Folder {
			continue
		}
		if t.Fate != worktree.FateMade && !s.StartedAt.After(t.At) {
			return &trees[i]
		}
		if t.Fate == worktree.FateMade && (in == nil || !s.StartedAt.Before(t.At)) {
			in = &trees[i]
		}
	}
	return in
}

// Ended is how a loop that is kept ended; ok is false where nobody was left to say it. Only the one
// that was driven last in its folder can go on.
func (p Past) Ended() (end End, ok bool) {
	if p.Loop == nil || p.End == nil {
		return end, false
	}
	if last, ok := endOfLast(p.Folder, p.Loop.LoopID); ok {
		return last, true
	}
	end = EndOfRecord(*p.End)
	end.Status = Status{
		LoopID: p.Loop.LoopID, Folder: p.Folder, State: StateEnded, StopReason: end.Reason, Title: history.Title(p.Loop.Title),
		Iteration: end.Iterations, StartedAt: history.TimeOf(p.Loop.StartedAt), SessionFile: p.Path, GivenUp: true,
	}
	return end, true
}

// FindPast finds the last loop that is kept of a folder, or of a worktree that stood for it, by
// its id, its branch, or the end of that; "" is the last of all, and nil is none.
func FindPast(folder string, h history.Options, name string) (*Past, error) {
	limit := 0
	if name == "" {
		limit = 1
	}
	all, err := PastOf(folder, h, limit)
	for i, p := range all {
		if name == "" || p.Loop.LoopID == name || p.Tree != nil && worktree.IsNamed(p.Tree.Branch, name) {
			return &all[i], nil
		}
	}
	return nil, err
}
