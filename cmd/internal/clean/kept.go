package clean

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// kept is one thing that is kept, and how it is removed.
type kept struct {
	kind   string // as people are told of it
	path   string
	at     time.Time
	size   int64
	remove func() error
}

// of is the loop that something is of. The zero value: nobody knows.
type of struct{ id, folder string }

// keeps finds what is kept.
type keeps struct {
	ctx    context.Context
	folder string // whose loops are meant
	all    bool   // those of all folders, and what is no loop's
	age    string // as it was said; what is younger stays
	before time.Time

	loops  map[of]bool   // all that are known
	names  map[string]of // by the names of their folders
	needed map[of]bool   // by somebody who drives it, or goes on with it
	found  []kept
}

// find looks at all places. The error names places that couldn't be looked at; the rest was found.
func (k *keeps) find() error {
	shots, shotsErr := changes.All(changes.Options{})
	k.loops, k.names, k.needed = map[of]bool{}, map[string]of{}, map[of]bool{}
	past := slices.Collect(registry.Everything())
	for _, e := range past {
		k.know(of{e.LoopID, e.Folder})
	}
	for _, s := range shots {
		k.know(of{s.LoopID, s.Folder})
	}
	for _, e := range past {
		if file, ok := e.Session(); ok && !e.IsGoneOn(file) {
			k.add(of{e.LoopID, e.Folder}, kept{"history", e.SessionFile, file.ModTime(), file.Size(), e.ForgetSession})
		}
	}
	for _, s := range shots {
		k.add(of{s.LoopID, s.Folder}, kept{"snapshots", s.Path, s.ChangedAt, sizeOf(s.Path), func() error { return s.Forget(k.ctx) }})
	}
	k.files("journals", "loops", registry.JournalName)
	k.files("records", "loops", registry.FileName)
	k.files("records", "loops", registry.OwnerName) // of processes that were killed
	k.files("keepers' logs", "loops", registry.LogName)
	k.files("keepers' logs", "keepers", "")
	leavingsErr := k.leavings()
	if k.all {
		k.files("outputs", "outputs", "")
		k.caches()
		k.trust()
	}
	if errors.Is(shotsErr, changes.ErrNoGit) { // so there are none
		shotsErr = nil
	}
	return errors.Join(shotsErr, leavingsErr)
}

// know takes a loop down, and what its files are called.
func (k *keeps) know(o of) {
	if o.id == "" || k.loops[o] {
		return
	}
	k.loops[o] = true
	if loop.Needs(o.folder, o.id) {
		k.needed[o] = true
	}
	k.names[paths.LoopName(o.folder, o.id)] = o
}

// isMeant says whether a folder's loops are.
func (k *keeps) isMeant(folder string) bool {
	if k.all || folder != "" && folder == paths.Real(k.folder) {
		return true
	}
	return slices.ContainsFunc(worktree.PastOf(k.folder), func(p worktree.Past) bool { return p.Folder == folder })
}

// add takes down what is meant, old enough, and of no loop that needs it.
func (k *keeps) add(o of, it kept) {
	if !k.needed[o] && it.at.Before(k.before) && k.isMeant(o.folder) {
		k.found = append(k.found, it)
	}
}

// files adds the files of a folder in ours, or the files of one name in the folders of loops there. A file that a
// process holds is in use.
func (k *keeps) files(kind, in, name string) {
	dir, err := paths.State(in)
	if err != nil {
		return
	}
	files := paths.NewestIn(dir, "*", name)
	if name == "" {
		files = paths.Newest(dir, "*")
	}
	for _, f := range files {
		if !f.Mode().IsRegular() || isHeld(f.Path) {
			continue
		}
		its := filepath.Dir(f.Path)
		k.add(k.names[filepath.Base(its)], kept{kind, f.Path, f.ModTime(), f.Size(), func() error {
			if isHeld(f.Path) {
				return nil
			}
			err := gone(os.Remove(f.Path))
			if name != "" {
				registry.Tidy(its)
			}
			return err
		}})
	}
}

// isHeld says whether a process has a file's lock, or it is none of ours.
func isHeld(path string) bool {
	file, err := paths.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	isFree, err := filelock.Try(file, false)
	if isFree {
		_ = filelock.Unlock(file)
	}
	return err != nil || !isFree
}

// leavings adds what worktrees have left in the repositories of folders that are known.
func (k *keeps) leavings() error {
	folders := map[string]string{worktree.CommonDir(k.folder): k.folder}
	if k.all {
		for o := range k.loops {
			folders[worktree.CommonDir(o.folder)] = o.folder
		}
	}
	delete(folders, "")
	var errs []error
	for common, folder := range folders {
		left, err := worktree.Leavings(k.ctx, folder)
		errs = append(errs, err)
		for _, l := range left {
			kind, path := "discarded work", filepath.Dir(common)+": "+l.Path
			if filepath.IsAbs(l.Path) {
				kind, path = "worktrees' books", l.Path
			}
			k.add(of{folder: paths.Real(k.folder)}, kept{kind, path, l.At, 0, func() error { return l.Forget(k.ctx) }})
		}
	}
	return errors.Join(errs...)
}

// caches adds what agents have in caches of ours. A folder's own stay with a loop that needs them,
// the others with any.
func (k *keeps) caches() {
	user, err := os.UserCacheDir()
	if err != nil {
		return
	}
	ours := filepath.Join(user, "ralph-lsp")
	folders := map[string]of{}
	for o := range k.needed {
		folders[strings.TrimSuffix(paths.FolderPrefix(o.folder), "-")] = o
	}
	walls := filepath.Join(ours, "walls")
	for dir, o := range map[string]of{ours: {}, walls: {}} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := e.Info()
			if err != nil || path == walls {
				continue
			}
			if name, _, _ := strings.Cut(e.Name(), "-"); dir == walls {
				o = folders[name]
			} else if len(k.needed) > 0 {
				continue
			}
			k.add(o, kept{"caches", path, info.ModTime(), sizeOf(path), func() error { return paths.RemoveAll(path) }})
		}
	}
}

// trust adds what is trusted, but in folders of loops that go on with it.
func (k *keeps) trust() {
	for _, t := range config.FilesOf(k.folder, nil).Remembered() {
		first, _, _ := strings.Cut(t.About, "\n") // a folder, or a file in it
		about, isNeeded := paths.Real(first), false
		for o := range k.needed {
			rel, err := filepath.Rel(o.folder, about)
			isNeeded = isNeeded || err == nil && filepath.IsLocal(rel) || strings.HasPrefix(t.About, o.folder)
		}
		if !isNeeded {
			k.add(of{}, kept{"trust", t.Path, t.ModTime(), t.Size(), func() error { return gone(os.Remove(t.Path)) }})
		}
	}
}

// sizeOf is what all files in a folder have.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// gone is the error of a removal, but where somebody was faster.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
