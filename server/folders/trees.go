package folders

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// treePoll is how often the worktrees of open folders are looked for. A look is two stats
// of a folder while nothing changes there.
const treePoll = 2 * time.Second

// WatchTrees lets the workspace have the folders of loops in the worktrees of open
// folders, until ctx ends.
func (w *Workspace) WatchTrees(ctx context.Context) {
	known := map[string]treesOf{}
	for {
		known = w.lookForTrees(known)
		select {
		case <-ctx.Done():
			return
		case <-w.opened:
		case <-time.After(treePoll):
		}
	}
}

// treesOf are the folders of loops in the worktrees of a folder's repository.
type treesOf struct {
	mark    [2]time.Time // of git's folders that change with them
	folders []string
}

// lookForTrees lists the trees of each open folder whose repository has changed.
func (w *Workspace) lookForTrees(known map[string]treesOf) map[string]treesOf {
	now := map[string]treesOf{}
	for _, path := range w.Open() {
		mark, settled := markOf(worktree.CommonDir(path))
		if was, ok := known[path]; ok && settled && was.mark == mark {
			now[path] = was
			continue
		}
		found := treesOf{mark: mark}
		for _, tree := range worktree.List(path) {
			found.folders = append(found.folders, tree.Folder)
		}
		now[path] = found
	}
	var all []string
	for _, path := range slices.Sorted(maps.Keys(now)) {
		all = append(all, now[path].folders...)
	}
	if w.haveTrees(all) {
		w.Changed("")
	}
	return now
}

// markOf changes with the trees of a repository. It isn't settled when it is so young that
// they may have changed since without changing it.
func markOf(common string) (mark [2]time.Time, settled bool) {
	if common == "" {
		return mark, true
	}
	settled = true
	for i, name := range []string{"worktrees", "ralph"} {
		if info, err := os.Stat(filepath.Join(common, name)); err == nil {
			mark[i] = info.ModTime()
			settled = settled && time.Since(mark[i]) > treePoll
		}
	}
	return mark, settled
}

// haveTrees takes the folders of trees into the workspace, and those out of it that are
// no trees of open folders any more: it says whether there were such. Where a loop of ours is, it stays.
func (w *Workspace) haveTrees(all []string) (gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	for _, path := range all {
		w.folder(path, path).isTree = true
	}
	for _, f := range w.folders {
		if f.isTree && len(f.names) == 0 && !f.hasOurs() && !slices.Contains(all, f.real) {
			f.removed, gone = true, true
			w.forget(f)
		}
	}
	return gone
}
