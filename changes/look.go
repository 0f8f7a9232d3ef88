package changes

import (
	"encoding/binary"
	"hash/maphash"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// trace is what a file's entry says of its content.
type trace struct {
	mode     uint32
	isDir    bool
	size     int64
	modified int64 // nanoseconds since 1970, as are the others
	changed  int64
	file     uint64 // which file it is
}

// Stamp is what all entries of a small folder say together. The zero value says
// nothing.
type Stamp struct {
	sum    uint64
	taken  time.Time
	newest int64 // when an entry changed last
	tip    tip   // the snapshot that had the folder so
}

const (
	// smallFolder is how many entries are looked at before git is asked, which
	// needs as long for them as to be started.
	smallFolder = 500
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
	return s.sum != 0 && s.sum == older.sum && older.taken.UnixNano()-older.newest > int64(tick)
}

var seed = maphash.MakeSeed()

// look makes a stamp of the folder, but for files that are printed into.
func (b book) look(but printed) (s Stamp, isLarge bool) {
	return StampOf(b.Folder, func(path, name string) bool { return filepath.Base(path) == ".git" || b.skips(name) || but.has(path) })
}

// StampOf makes a stamp of a folder, but for what skips says, by full paths and those in the folder with slashes; the
// zero one of a folder that is large or can't be read.
func StampOf(folder string, skips func(path, name string) bool) (s Stamp, isLarge bool) {
	s = Stamp{sum: 1, taken: time.Now()}
	left := smallFolder
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
			t, err := traceOf(full)
			if err != nil {
				return false
			}
			s.add(name, t)
		}
		return true
	}
	if !visit(folder, "") {
		return Stamp{}, left < 0
	}
	return s, false
}

func (s *Stamp) add(path string, t trace) {
	var hash maphash.Hash
	hash.SetSeed(seed)
	hash.WriteString(path)
	var numbers [40]byte
	for i, n := range []uint64{uint64(t.mode), uint64(t.size), uint64(t.modified), uint64(t.changed), t.file} {
		binary.LittleEndian.PutUint64(numbers[8*i:], n)
	}
	hash.Write(numbers[:])
	s.sum = s.sum*31 + hash.Sum64() // the entries come in order
	s.newest = max(s.newest, t.changed)
}
