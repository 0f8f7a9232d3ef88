package changes

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/stamp"
)

// A folder may have repositories below it: clones that git ignores, submodules, or some side by side where there is
// no repository above. The loop's index has their files like the files of ordinary folders, and our objects have
// their contents, so that a loop has one row of snapshots, and a review or an undo is about all of them. Nothing is
// written into the repositories themselves, and nothing runs that their configuration names: our own git only lists
// each.
//
// A repository that is there when a process first looks at the folder joins the snapshots, for good. One that a run
// makes doesn't: an undo of that run would remove all its files and leave its .git. A repository below a folder whose
// name begins with a dot, which is some tool's, or one that is too large, doesn't, either.

const (
	ofItsOwn = "a repository of its own"
	// maxJoining is how many files a repository may have that joins.
	maxJoining = 20_000
)

// below is what is known of the repositories below the folder, by their paths in it.
type below struct {
	dirs map[string]string // where the objects and refs are of those that are there now
	why  map[string]string // a snapshot has no file of those that were there first; nil: nobody has looked

	isDark bool // one is in no snapshot and too large to be looked at
}

// join has repositories below the folder be a part of the snapshots from now on, as far as there is room for what they
// have, in bytes.
func (b *below) join(ctx context.Context, s *archive, room int64) error {
	b.why = map[string]string{}
	joined := false
	for _, r := range git.Below(s.book.Folder) {
		if s.book.has(r) {
			continue
		}
		if b.why[r.Name] = ofItsOwn; s.book.skips(r.Name) || strings.HasPrefix(r.Name, ".") || strings.Contains(r.Name, "/.") {
			continue
		}
		tracked, others, err := s.git.Within(r.Top).FilesBelow(ctx, r.Dir, listing(s.home))
		if err != nil {
			b.why[r.Name] = ofItsOwn + ", and " + err.Error()
			continue
		}
		var size int64
		for _, name := range slices.Concat(tracked, others) {
			t, _ := stamp.TraceOf(filepath.Join(r.Top, filepath.FromSlash(name)))
			size += t.Size
		}
		if n := len(tracked) + len(others); n > maxJoining || size > room {
			b.why[r.Name] = ofItsOwn + ", too large: " + format.Counted(n, "file") + " with " + format.Bytes(size)
			continue
		}
		room -= size
		delete(b.why, r.Name)
		s.book.Below, joined = append(s.book.Below, r.Name), true
	}
	if !joined {
		return ctx.Err()
	}
	return s.writeBook()
}

// listing is an index of a repository below the folder, while that is listed.
func listing(home string) string { return filepath.Join(home, exportName+"below.index") }

// has says whether the snapshots have the files of a repository below the folder.
func (b book) has(r git.Repository) bool { return slices.Contains(b.Below, r.Name) }

// topOf is where a repository begins that is below the folder.
func (b book) topOf(name string) string { return filepath.Join(b.Folder, filepath.FromSlash(name)) }

// belowAt names the innermost repository that has a path of the folder; "" where that is the one around the folder, or none.
func (b book) belowAt(name string) (found string) {
	for _, r := range b.Below {
		if strings.HasPrefix(name, r+"/") && len(r) > len(found) {
			found = r
		}
	}
	return found
}

// exchange puts what the repositories below the folder say of files that the index doesn't know in the place of what git
// says of them, where the snapshots have these repositories. It notes the others.
func (b *below) exchange(ctx context.Context, x *index, c *candidates, unknown []string) ([]string, error) {
	for _, name := range slices.Sorted(maps.Keys(b.dirs)) {
		if !slices.Contains(x.in.book.Below, name) {
			c.notes = append(c.notes, name+"/ ("+cmp.Or(b.why[name], ofItsOwn)+")")
		}
	}
	unknown = slices.DeleteFunc(unknown, func(path string) bool {
		name := x.in.book.inFolder(path)
		return x.in.book.belowAt(name) != "" || b.dirs[strings.TrimSuffix(name, "/")] != ""
	})
	if len(x.in.book.Below) == 0 {
		return unknown, nil
	}
	args := []string{"ls-files", "-z", "--"}
	for _, name := range x.in.book.Below {
		args = append(args, x.in.book.prefix()+name)
	}
	names, err := x.in.git.List(ctx, args...)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	c.tracked = map[string]bool{}
	for _, name := range x.in.book.Below {
		top := x.in.book.prefix() + name
		if info, err := os.Lstat(x.in.book.topOf(name)); err != nil || !info.IsDir() || !c.isReal(x.in.book.Top, top+"/") {
			continue
		}
		tracked, others, err := x.in.git.Within(x.in.book.topOf(name)).FilesBelow(ctx, b.dirs[name], listing(x.in.home))
		if err != nil {
			c.leaveOut(x, top+"/", "its new files, as "+err.Error())
			continue
		}
		for i, file := range slices.Concat(tracked, others) {
			path := top + "/" + file
			if info, err := os.Lstat(filepath.Join(x.in.book.Top, filepath.FromSlash(path))); err == nil && !info.IsDir() && !known[path] {
				unknown, c.tracked[path] = append(unknown, path), i < len(tracked)
			}
		}
	}
	return unknown, ctx.Err()
}

// isShortOf says whether there are submodules that nobody looks at. They may lie deeper than others are looked for.
func (b *below) isShortOf(book book) bool {
	data, _ := regular.Read(filepath.Join(book.Top, ".gitmodules"), regular.Long)
	for line := range strings.Lines(string(data)) {
		key, path, _ := strings.Cut(line, "=")
		name := book.inFolder(strings.Trim(strings.TrimSpace(path), `"`))
		if strings.TrimSpace(key) != "path" || slices.Contains(book.Below, name) || b.dirs[name] != "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(book.topOf(name), ".git")); err == nil {
			return true
		}
	}
	return false
}

// refsNow sums up the branches and tags, and what HEAD is, of the repository and of those below the folder; of those that
// no snapshot has, the files as well.
func (b *below) refsNow(of book) uint64 {
	sum := stamp.Stamp{}
	if !of.Own {
		sum.AddRefs(of.GitDir, git.CommonOf(of.GitDir))
	}
	b.dirs = map[string]string{}
	for _, r := range git.Below(of.Folder) {
		b.dirs[r.Name] = r.Dir
		sum.AddRefs(r.Dir, git.CommonOf(r.Dir))
		if of.has(r) {
			continue
		}
		files, isLarge := stamp.Of(r.Top, func(path, _ string) bool { return filepath.Base(path) == ".git" })
		sum.Sum, b.isDark = sum.Sum*31+files.Sum, b.isDark || isLarge
	}
	return sum.Sum
}
