package folders

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
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

// meets says that this server becomes a window of a folder's loop, whichever process drives that; GaveUp or Runs
// follows. It is false where it is one, or the process can't be talked to. The caller holds the workspace's mu.
func (f *Folder) meets(now *loop.Status) bool {
	if now == nil || now.Owner == nil || now.Owner.Control == "" || now.LoopID == "" {
		return false
	}
	w, is := f.workspace, driver{now.Owner.PID, now.Owner.ProcessStart}
	if w.closed || f.hasOurs() || !f.tried.isDue(is, time.Now()) || w.folders[f.Path] != f {
		return false
	}
	f.tried, f.meeting = tried{driver: is}, make(chan struct{})
	f.starting++
	w.Work.Add(1)
	return true
}

// isMet ends meeting. The caller holds the workspace's mu.
func (f *Folder) isMet() {
	if f.meeting != nil {
		close(f.meeting)
		f.meeting = nil
	}
}

// found is the loop that is met.
func (f *Folder) found(now *loop.Status) Found {
	found := Found{Folder: f, LoopID: now.LoopID, Socket: now.Owner.Control}
	f.workspace.mu.Lock()
	last := f.last
	f.workspace.mu.Unlock()
	if last != nil && last.ID() == now.LoopID {
		found.Cursor = last.Window.Cursor()
	} else if story, err := journal.Open(now.LoopID); err == nil {
		found.Cursor, _ = story.End() // everything before can be read there
	}
	return found
}

// Again lets the process of a found loop be asked once more, at one of the next looks: it didn't listen yet.
func (f Found) Again() {
	f.workspace.mu.Lock()
	defer f.workspace.mu.Unlock()
	f.tried.again = time.Now().Add(ownerPoll / 2)
}
