package folders

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// driver is a process that drives a loop, which is asked to let a window in.
type driver struct {
	pid   int
	start string
}

// tried says whose window a folder wanted to be, and whether it is to be asked again.
type tried struct {
	driver
	again time.Time // zero: it isn't
}

// isDue says whether a process is to be asked.
func (t tried) isDue(is driver, now time.Time) bool {
	return t.driver != is || !t.again.IsZero() && now.After(t.again)
}

// Found is a loop that some process drives and this server is no window of yet.
type Found struct {
	*Folder
	LoopID string
	Socket string // of that process
	Cursor string // behind what the editor was told of it
}

// adopt says that this server becomes a window of a folder's loop, whichever process drives that; GaveUp or Runs
// follows. It is false where it is one, or the process can't be talked to.
func (f *Folder) adopt(now *loop.Status) (found Found, isNew bool) {
	if now == nil || now.Owner == nil || now.Owner.Control == "" || now.LoopID == "" {
		return found, false
	}
	w := f.workspace
	w.mu.Lock()
	is, last := driver{now.Owner.PID, now.Owner.ProcessStart}, f.last
	isNew = !w.closed && !f.hasOurs() && f.tried.isDue(is, time.Now()) && w.folders[f.Path] == f
	if isNew {
		f.tried = tried{driver: is}
		f.starting++
		w.Work.Add(1)
	}
	w.mu.Unlock()
	if !isNew {
		return found, false
	}
	found = Found{Folder: f, LoopID: now.LoopID, Socket: now.Owner.Control}
	if last != nil && last.ID() == now.LoopID {
		found.Cursor = last.Window.Cursor()
	} else if story, err := journal.Open(now.LoopID); err == nil {
		found.Cursor, _ = story.End() // what was before is there to be read
	}
	return found, true
}

// Again lets the process of a found loop be asked once more, at one of the next looks: it didn't listen yet.
func (f Found) Again() {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	f.tried.again = time.Now().Add(ownerPoll / 2)
}
