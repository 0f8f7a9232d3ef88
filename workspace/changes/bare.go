package changes

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/stamp"
)

// Bare looks at a folder without git. It can tell whether files changed, but can't restore any.
type Bare struct {
	book    book
	printed Printed
	known   map[string]known
}

// known is a file as it was when it was looked at last.
type known struct {
	trace stamp.Trace
	sum   uint64
}

const (
	// maxBare is how many files are looked at each time: 0.1 s.
	maxBare = 20_000
	// maxRead is from how many bytes on a changed file isn't read: its size and time must do.
	maxRead = 1 << 20
)

// ErrTooMany says that a folder can't be looked at without git.
var ErrTooMany = errors.New("without snapshots of git a folder with more than " + strconv.Itoa(maxBare) + " files isn't looked at")

// Look prepares to look at a folder without git. Errors: ErrTooMany, and what the system says.
func Look(folder string, o Options, theirs Printed) (*Bare, error) {
	b := &Bare{printed: theirs, book: book{Folder: paths.Real(folder), GitDir: filepath.Join(paths.Real(folder), ".git"), Skip: o.Skip}}
	if info, err := os.Stat(b.book.GitDir); err != nil || !info.IsDir() {
		b.book.Own = true
	}
	if _, err := b.State(); err != nil {
		return nil, err
	}
	return b, nil
}

// State is how the folder is now. A file that is touched with the same content counts as changed
// the first time, and not again.
func (b *Bare) State() (State, error) {
	now := make(map[string]known, len(b.known))
	theirs := printedOf(b.printed)
	var sum stamp.Stamp
	err := filepath.WalkDir(b.book.Folder, func(path string, entry fs.DirEntry, err error) error {
		name := filepath.ToSlash(path[min(len(b.book.Folder)+1, len(path)):])
		switch {
		case err != nil && path == b.book.Folder:
			return err
		case err != nil || name == "":
			return nil // nobody may read it, or it is gone
		case b.book.skips(name), entry.Name() == ".git":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		case len(now) == maxBare:
			return ErrTooMany
		}
		t, err := stamp.TraceOf(path)
		if err != nil || theirs.has(path) {
			return nil
		}
		was := b.known[name]
		if was.trace != t {
			was.trace, was.sum = t, read(path, t, entry.Type().IsRegular() && b.known != nil)
		}
		now[name] = was
		sum.Add(name, stamp.Trace{Mode: t.Mode, File: was.sum})
		return nil
	})
	if err != nil {
		return State{}, err
	}
	b.known = now
	return State{Tree: "bare " + strconv.FormatUint(sum.Sum, 36), Aside: new(below).refsNow(b.book)}, nil
}

// read sums up what a file holds, or what its entry says of that.
func read(path string, t stamp.Trace, whole bool) uint64 {
	var hash maphash.Hash
	hash.SetSeed(stamp.Seed)
	switch target, err := os.Readlink(path); {
	case err == nil:
		hash.WriteString(target)
	case whole && t.Size <= maxRead:
		data, _ := regular.Read(path, maxRead)
		hash.Write(data)
	default:
		hash.WriteString(strconv.FormatInt(t.Size, 36) + " " + strconv.FormatInt(t.Modified, 36))
	}
	return hash.Sum64()
}

// Shows says whether a file, whose path is absolute, is among those that are looked at.
func (b *Bare) Shows(path string) bool {
	name, err := filepath.Rel(b.book.Folder, filepath.Join(paths.Real(filepath.Dir(path)), filepath.Base(path)))
	return err == nil && filepath.IsLocal(name)
}

// printed are the files that whoever runs the loop prints into.
type printed []os.FileInfo

func printedOf(find Printed) printed {
	if find == nil {
		return nil
	}
	return find()
}

// has says whether a path leads to one of them, under any name.
func (p printed) has(path string) bool {
	if len(p) == 0 {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && p.are(info)
}

func (p printed) are(info os.FileInfo) bool {
	return slices.ContainsFunc(p, func(file os.FileInfo) bool { return os.SameFile(file, info) })
}
