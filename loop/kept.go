package loop

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Past is a loop that is kept, and the worktree where it worked.
type Past struct {
	registry.Entry
	Tree *worktree.Past // nil: in no worktree
}

// Kept are the loops of a folder whose sessions are there, those that were driven last first: at most
// limit, if that is positive.
func Kept(folder string, limit int) (kept []registry.Entry) {
	for e := range registry.In(paths.Real(folder)) {
		if _, ok := e.Session(); !ok {
			continue
		}
		if kept = append(kept, e); len(kept) == limit {
			break
		}
	}
	return kept
}

// PastOf lists the past loops of a folder and of its worktrees, as Kept does, except those of the folders in without,
// which still exist.
func PastOf(folder string, limit int, without ...string) []Past {
	trees := worktree.PastOf(folder)
	folders := []string{paths.Real(folder)}
	for _, t := range trees {
		isHere := slices.ContainsFunc(trees, func(other worktree.Past) bool { return other.Here && other.Folder == t.Folder })
		if !(isHere && slices.Contains(without, t.Folder)) && !slices.Contains(folders, t.Folder) {
			folders = append(folders, t.Folder)
		}
	}
	var past []Past
	for _, folder := range folders {
		for _, e := range Kept(folder, limit) {
			past = append(past, Past{e, keptTree(e, trees)})
		}
	}
	slices.SortStableFunc(past, func(a, b Past) int { return b.ChangedAt.Compare(a.ChangedAt) })
	if limit > 0 && len(past) > limit {
		past = past[:limit]
	}
	return past
}

// keptTree is the tree that a loop worked in. Several may have had its folder, one
// after the other.
func keptTree(e registry.Entry, trees []worktree.Past) (in *worktree.Past) {
	for i, t := range trees {
		if t.Folder != e.Folder {
			continue
		}
		if t.Fate != worktree.FateMade && !e.StartedAt.After(t.At) {
			return &trees[i]
		}
		if t.Fate == worktree.FateMade && (in == nil || !e.StartedAt.Before(t.At)) {
			in = &trees[i]
		}
	}
	return in
}

// Ended is how a loop that is kept ended; ok is false where nobody was left to say it. Only the one
// that was driven last in its folder can go on.
func (p Past) Ended() (end End, ok bool) {
	if p.End == nil {
		return end, false
	}
	if last, ok := endOfLast(p.Folder, p.LoopID); ok {
		return last, true
	}
	return EndOf(p.Entry)
}

// FindPast finds the last loop that is kept of a folder, or of a worktree that stood for it, by
// its id, its branch, or the end of that; "" is the last of all, and nil is none.
func FindPast(folder, name string) *Past {
	limit := 0
	if name == "" {
		limit = 1
	}
	for _, p := range PastOf(folder, limit) {
		if name == "" || p.LoopID == name || p.Tree != nil && worktree.IsNamed(p.Tree.Branch, name) {
			return &p
		}
	}
	return nil
}
