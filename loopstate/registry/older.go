package registry

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Earlier versions kept the files of all loops in one folder: "NAME.json" had what an Entry has without its counts, and
// "NAME.state" these; journals had a folder of their own, and names made of the loops' ids.
const (
	olderEntry    = ".json"
	olderCounts   = ".state"
	olderJournals = "journals"
)

var (
	taken   = map[string]bool{} // the folders in which nothing is left to take over
	takenMu sync.Mutex
)

// home returns paths.Loops, where every loop has a folder of its own. Folders of an earlier version are taken over
// first, once in the life of a process.
func home() (string, error) {
	dir, err := paths.Loops()
	if err != nil {
		return "", err
	}
	takenMu.Lock()
	defer takenMu.Unlock()
	if !taken[dir] {
		taken[dir] = true
		takeOver(dir)
	}
	return dir, nil
}

// takeOverPatience is how long another process may take over, before this one goes on without it.
const takeOverPatience = 10 * time.Second

// takeOver gives loops of earlier versions folders of their own. One that can't be moved stays as it is, for the next
// process that looks.
func takeOver(dir string) {
	if !hasOlder(dir) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), takeOverPatience)
	defer cancel()
	path := filepath.Join(dir, ".lock")
	lock, err := filelock.Hold(ctx, path)
	if err != nil {
		return
	}
	defer lock.Close()
	if !filelock.IsNamed(lock, path) { // another process has just done it
		return
	}
	for _, suffix := range []string{olderEntry, olderCounts} {
		for _, f := range paths.Newest(dir, "*"+suffix) {
			takeOverLoop(dir, strings.TrimSuffix(f.Name(), suffix))
		}
	}
	journals := filepath.Join(dir, olderJournals)
	for _, f := range paths.Newest(journals, "*.jsonl") {
		takeOverJournal(dir, f)
	}
	_ = os.Remove(journals)
	_ = os.Remove(path)
}

func hasOlder(dir string) bool {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		switch ext := filepath.Ext(e.Name()); {
		case e.IsDir() && e.Name() == olderJournals, !e.IsDir() && (ext == olderEntry || ext == olderCounts):
			return true
		}
	}
	return false
}

// olderRecord is what an earlier version kept of what a loop counts.
type olderRecord struct {
	Version int             `json:"version"`
	LoopID  string          `json:"loopId"`
	Folder  string          `json:"folder"`
	State   json.RawMessage `json:"state"`
}

// takeOverLoop makes a loop's file of the two with a name. A loop that has a later file keeps that.
func takeOverLoop(dir, name string) {
	entry, counts := filepath.Join(dir, name+olderEntry), filepath.Join(dir, name+olderCounts)
	var e Entry
	var r olderRecord
	if data, err := paths.ReadOwn(entry, maxSize); err == nil {
		_ = json.Unmarshal(data, &e)
	}
	if data, err := paths.ReadOwn(counts, maxSize); err == nil {
		_ = json.Unmarshal(data, &r)
	}
	if e.LoopID == "" {
		e.LoopID, e.Folder = r.LoopID, r.Folder
		if info, err := os.Lstat(counts); err == nil {
			e.ChangedAt = info.ModTime()
		}
	}
	if e.Version > 1 || r.Version > 1 || paths.LoopName(e.Folder, e.LoopID) != name || !filepath.IsAbs(e.Folder) {
		return // of a version that is later than this one, or none of ours
	}
	if r.LoopID == e.LoopID && r.Folder == e.Folder {
		e.Counts = r.State
	}
	if now, ok := read(filepath.Join(dir, e.name())); ok && !now.ChangedAt.Before(e.ChangedAt) {
		e = now
	} else if writeIn(dir, e) != nil {
		return
	}
	_ = os.Remove(entry)
	_ = os.Remove(counts)
}

// takeOverJournal moves a journal into the folder of its loop, which has the beginning of the file's name in its own.
// One of a loop of which nothing else is known has a folder all the same: it can be read by the loop's id.
func takeOverJournal(dir string, f paths.File) {
	name := strings.TrimSuffix(f.Name(), ".jsonl")
	id := name[:min(16, len(name))]
	to := filepath.Join(dir, paths.FolderPrefix("")+id)
	if found := paths.FoldersLike(dir, "*-"+id); len(found) > 0 {
		to = found[0]
	}
	path := filepath.Join(to, JournalName)
	if _, err := os.Lstat(path); err == nil {
		return
	}
	if os.MkdirAll(to, 0o700) == nil {
		_ = os.Rename(f.Path, path)
	}
}
