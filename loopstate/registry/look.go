package registry

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Look lists loops again and again, and reads only files that were written since the list before. The zero value has
// read none.
type Look struct {
	read      map[string]readEntry
	madeAt    time.Time // when the last folder was made in that of the registry
	scannedAt time.Time // when all files were looked at
}

// scanEvery is how soon a loop of long ago is seen that goes on: it makes no folder. For so long, too, all files are looked at
// after a folder was made: a loop's file comes later.
const scanEvery = 10 * time.Second

// readEntry is what was in a file of this size and time.
type readEntry struct {
	size  int64
	at    time.Time
	entry Entry
	isOne bool
}

// All lists the loops that were driven lately or may go on, those that were driven last first, and by their folders
// what Last says of these. The folder of the registry is read once for all of it.
func (l *Look) All() (lately []Entry, last map[string]Entry) {
	last = map[string]Entry{}
	before := l.read
	files := l.files()
	l.read = map[string]readEntry{}
	for e := range entriesOf(files, func(f paths.File) (Entry, bool) {
		r, isKnown := before[f.Path]
		if !isKnown || r.size != f.Size() || !r.at.Equal(f.ModTime()) {
			r = readEntry{size: f.Size(), at: f.ModTime()}
			r.entry, r.isOne = read(f.Path)
		}
		l.read[f.Path] = r
		return r.entry, r.isOne
	}) {
		age := time.Since(e.ChangedAt)
		if age >= keepOpen || len(lately) == maxEntries {
			break
		}
		if _, ok := last[e.Folder]; !ok {
			last[e.Folder] = e
		}
		if age < keepEnded || !e.isOver() {
			lately = append(lately, e)
		}
	}
	return lately, last
}

// files are those of all loops, or, between two looks at all, those that were read the last time.
func (l *Look) files() []paths.File {
	dir, err := home()
	if err != nil {
		return nil
	}
	var madeAt time.Time
	if info, err := os.Stat(dir); err == nil {
		madeAt = info.ModTime()
	}
	if !madeAt.Equal(l.madeAt) || time.Since(madeAt) < scanEvery || time.Since(l.scannedAt) >= scanEvery {
		l.madeAt, l.scannedAt = madeAt, time.Now()
		return paths.NewestIn(dir, "*", FileName)
	}
	return paths.NewestOf(slices.Collect(maps.Keys(l.read)))
}

// IsSame says whether nothing was written of a loop between two reads.
func (e Entry) IsSame(other Entry) bool {
	return e.LoopID == other.LoopID && e.ChangedAt.Equal(other.ChangedAt) && e.GivenUp == other.GivenUp &&
		e.State == other.State && bytes.Equal(e.End, other.End)
}
