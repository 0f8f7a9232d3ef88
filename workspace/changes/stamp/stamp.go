// Package stamp sees from the entries of a folder whether anything in it changed: no file is read, and no git is started.
package stamp

import (
	"encoding/binary"
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Trace is what a file's entry says of its content.
type Trace struct {
	Mode     uint32
	IsDir    bool
	Size     int64
	Modified int64 // nanoseconds since 1970, as are the others
	Changed  int64
	File     uint64 // which file it is
}

// Stamp is what the entries that were added to it say together. The zero value says
// nothing.
type Stamp struct {
	Sum    uint64
	taken  time.Time
	newest int64 // when an entry changed last
}

const (
	// Small is how many entries are looked at before git is asked, which
	// needs as long for them as to be started.
	Small = 500
	// A file that changed so short a time ago may change again without a trace:
	// the ticks of the file system's clock, where that has parts of seconds or not.
	fineTick   = 50 * time.Millisecond
	coarseTick = 2 * time.Second
)

// Same says whether nothing has changed in the folder since an older Stamp.
func (s Stamp) Same(older Stamp) bool {
	tick := fineTick
	if older.newest%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return s.Sum != 0 && s.Sum == older.Sum && older.taken.UnixNano()-older.newest > int64(tick)
}

// Seed is the seed of all sums of this process.
var Seed = maphash.MakeSeed()

// Of makes a stamp of a folder, but for what skips says, by full paths and those in the folder with slashes; the
// zero one of a folder that is large or can't be read.
func Of(folder string, skips func(path, name string) bool) (s Stamp, isLarge bool) {
	s = Stamp{Sum: 1, taken: time.Now()}
	left := Small
	var visit func(dir, path string) bool
	visit = func(dir, path string) bool {
		entries, all, err := regular.Dir(dir, left)
		if left -= len(entries); !all {
			left = -1
		}
		if err != nil || left < 0 {
			return false
		}
		for _, entry := range entries {
			name, full := path+entry.Name(), filepath.Join(dir, entry.Name())
			if skips(full, name) {
				continue
			}
			if entry.IsDir() {
				if !visit(full, name+"/") {
					return false
				}
				continue
			}
			t, err := TraceOf(full)
			if err != nil {
				return false
			}
			s.Add(name, t)
		}
		return true
	}
	if !visit(folder, "") {
		return Stamp{}, left < 0
	}
	return s, false
}

// Add adds an entry. They have to come in the same order each time.
func (s *Stamp) Add(path string, t Trace) {
	var hash maphash.Hash
	hash.SetSeed(Seed)
	hash.WriteString(path)
	var numbers [40]byte
	for i, n := range []uint64{uint64(t.Mode), uint64(t.Size), uint64(t.Modified), uint64(t.Changed), t.File} {
		binary.LittleEndian.PutUint64(numbers[8*i:], n)
	}
	hash.Write(numbers[:])
	s.Sum = s.Sum*31 + hash.Sum64()
	s.newest = max(s.newest, t.Changed)
}

// maxRefs bounds how many files are looked at for a repository's commits.
const maxRefs = 4000

// AddRefs adds a repository's branches, tags and HEAD, but for our own refs. common is where the refs are: a
// worktree's are in another repository.
func (s *Stamp) AddRefs(gitDir, common string) {
	look := func(path string) {
		if t, err := TraceOf(path); err == nil {
			t.Changed = 0 // a link more, by a backup say, is no news
			s.Add(path, t)
		}
	}
	head, _ := regular.Read(filepath.Join(gitDir, "HEAD"), regular.Short) // git writes it anew without a change
	s.Add(string(head), Trace{})
	look(filepath.Join(common, "packed-refs"))
	look(filepath.Join(common, "reftable", "tables.list"))
	left := maxRefs
	_ = filepath.WalkDir(filepath.Join(common, "refs"), func(path string, entry fs.DirEntry, err error) error {
		switch left--; {
		case err != nil:
			return nil // gone meanwhile: the next look sees it
		case left < 0:
			return fs.SkipAll
		case entry.IsDir() && entry.Name() == "ralph":
			return fs.SkipDir
		case !entry.IsDir():
			look(path)
		}
		return nil
	})
}
