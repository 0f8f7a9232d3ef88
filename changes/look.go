package changes

import (
	"encoding/binary"
	"hash/maphash"
	"os"
	"path/filepath"
	"time"
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

// stamp is what all entries of a small folder say together. The zero value says
// nothing.
type stamp struct {
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

// same says whether nothing has changed in the folder since an older stamp.
func (s stamp) same(older stamp) bool {
	tick := fineTick
	if older.newest%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return s.sum != 0 && s.sum == older.sum && older.taken.UnixNano()-older.newest > int64(tick)
}

var seed = maphash.MakeSeed()

// look makes a stamp of the folder, but for files that are printed into; the zero one
// of a folder that is large or can't be read.
func (b book) look(but printed) (s stamp, isLarge bool) {
	return stampOf(b.Folder, func(path, name string) bool { return filepath.Base(path) == ".git" || b.skips(name) || but.has(path) })
}

// Stamp is what the entries of a small folder say together.
type Stamp struct{ stamp }

// StampOf looks at a folder, but for what skips says, by paths in the folder with slashes. Of one that is large or can't
// be read it says nothing.
func StampOf(folder string, skips func(name string) bool) Stamp {
	s, _ := stampOf(folder, func(_, name string) bool { return skips(name) })
	return Stamp{s}
}

// Same says whether nothing has changed in the folder since an older stamp.
func (s Stamp) Same(older Stamp) bool { return s.same(older.stamp) }

func stampOf(folder string, skips func(path, name string) bool) (s stamp, isLarge bool) {
	s = stamp{sum: 1, taken: time.Now()}
	left := smallFolder
	var visit func(dir, path string) bool
	visit = func(dir, path string) bool {
		entries, err := os.ReadDir(dir)
		if left -= len(entries); err != nil || left < 0 {
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
		return stamp{}, left < 0
	}
	return s, false
}

func (s *stamp) add(path string, t trace) {
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
