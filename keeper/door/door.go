// Package door lets windows in at a loop: each is told the loop's story behind a cursor, and what it asks
// for is carried out. The loop waits for none of them, and goes on without.
package door

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

// Loop is a loop that windows look at.
type Loop interface {
	ID() string
	Status() loop.Status
	Do(pid int, q loop.Request) loop.Reply
}

// Door is where windows come in at the loop of this process.
type Door struct {
	begun chan struct{} // closed once there is a loop, or won't be one
	loop  Loop          // nil: there won't be one
	log   *journal.Log

	mu       sync.Mutex
	windows  []*Window
	isEdited bool          // an editor has begun the loop: other windows of it own it, too
	returns  time.Duration // how long the loop waits for an owner to be back: the longest of all who have owned it
	grace    func()        // ends the wait for one; nil: it doesn't wait
	orphaned func()        // its owners are gone for good
	taken    func()        // a window that hasn't begun it owns it
	isLoose  bool          // it was detached: nobody owns it
	isOver   bool
}

// New returns the door of a loop that hasn't begun: connections wait for that.
func New() *Door { return &Door{begun: make(chan struct{})} }

// Begun says that the loop has begun, whose story is in a log.
func (d *Door) Begun(l Loop, log *journal.Log) {
	d.loop, d.log = l, log
	close(d.begun)
}

// Failed says that no loop has begun.
func (d *Door) Failed() { close(d.begun) }

// Connect serves a process that has connected to the loop's socket, to its end. It is false for one that
// only asks for something.
func (d *Door) Connect(first []byte, c control.Conn) bool {
	var f client.Frame
	if !bytes.HasPrefix(first, []byte(client.FrameHead)) || json.Unmarshal(first, &f) != nil || f.Kind != client.Connect || f.Hello == nil {
		return false
	}
	<-d.begun
	w := NewWindow(c.ReadWriteCloser, *f.Hello)
	w.PID = c.PID
	isAgent := caller.Peer(c.PID, f.Hello.From).IsAgent() // no agent answers for its user
	w.Answers, w.Editor, w.Owns = w.Answers && !isAgent, w.Editor && !isAgent, w.Owns && !isAgent
	if d.loop == nil {
		w.Refuse(loop.ErrNotRunning)
	} else {
		if w.Owns {
			d.take()
		}
		d.Serve(w, c.In)
	}
	return true
}

// Serve tells a window of the loop, and does what it asks for, until its connection ends.
func (d *Door) Serve(w *Window, in *bufio.Reader) {
	if !d.enter(w) {
		w.Refuse(loop.ErrNotRunning)
		return
	}
	status := d.loop.Status()
	w.write(client.Frame{
		Kind: client.Welcome, LoopID: d.loop.ID(), PID: os.Getpid(), Owns: w.isOwner.Load(), Status: &status, Cursor: w.Cursor,
	})
	go w.tell(d.log, d.loop.Status)
	w.obey(in, func(q loop.Request) loop.Reply { return d.loop.Do(w.PID, q) })
	d.leave(w)
}

// Expect registers a window before it is served: it gets all notes from now on.
func (d *Door) Expect(w *Window) { d.enter(w) }

// enter notes that a window is there, unless the loop is over.
func (d *Door) enter(w *Window) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isOver {
		return false
	}
	if !slices.Contains(d.windows, w) {
		d.windows = append(d.windows, w)
	}
	d.isEdited = d.isEdited || w.Owns && w.Editor
	w.isOwner.Store(!d.isLoose && (w.Owns || w.Editor && d.isEdited))
	if w.owns() {
		d.returns = max(d.returns, w.Returns)
		d.stopGrace()
	}
	return true
}

// leave notes that a window is gone.
func (d *Door) leave(w *Window) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.windows = slices.DeleteFunc(d.windows, func(other *Window) bool { return other == w })
	if d.isLoose || d.isOver || d.orphaned == nil || !w.isOwner.Load() || slices.ContainsFunc(d.windows, (*Window).owns) {
		return
	}
	grace, end := context.WithCancel(context.Background())
	d.grace = end
	time.AfterFunc(d.returns, func() {
		d.mu.Lock()
		isOver := grace.Err() != nil
		d.mu.Unlock()
		if !isOver {
			d.orphaned()
		}
	})
}

// stopGrace says that the loop waits for no owner any more. The caller holds mu.
func (d *Door) stopGrace() {
	if d.grace != nil {
		d.grace()
		d.grace = nil
	}
}

// Orphaned has a function called once nobody owns the loop any more who did. It is called before Begun.
func (d *Door) Orphaned(call func()) { d.orphaned = call }

// Taken has a function called when a window that hasn't begun the loop wants to own it, detached or not. It is called before
// Begun.
func (d *Door) Taken(call func()) { d.taken = call }

// take says that a window is about to own the loop that hasn't begun it.
func (d *Door) take() {
	d.mu.Lock()
	d.isLoose = false
	d.mu.Unlock()
	if d.taken != nil {
		d.taken()
	}
}

// Loosen says that nobody owns the loop any more: it needs no window.
func (d *Door) Loosen() {
	d.mu.Lock()
	d.isLoose, d.returns = true, 0
	d.stopGrace()
	owners := slices.DeleteFunc(slices.Clone(d.windows), func(w *Window) bool { return !w.isOwner.Swap(false) })
	d.mu.Unlock()
	for _, w := range owners {
		w.say(client.Frame{Kind: client.Left})
	}
}

// IsAttended says whether a user looks on who can answer, or is away for a moment.
func (d *Door) IsAttended() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.grace != nil && !d.isLoose || slices.ContainsFunc(d.windows, func(w *Window) bool { return w.Answers })
}

// Note shows a line to all windows. Where none is its user's, who may have seen it, the process prints it, too: a window
// that only looks on may be about to leave, as one does that has begun a detached loop.
func (d *Door) Note(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.ContainsFunc(d.windows, func(w *Window) bool { return w.owns() || w.Answers }) {
		fmt.Fprintln(os.Stderr, text)
	}
	for _, w := range d.windows {
		w.say(client.Frame{Kind: client.Note, Text: text})
	}
}

// Look has all windows told how the loop stands, where that is new to them.
func (d *Door) Look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.windows {
		w.signal()
	}
}

// errNoEditor says that no window can be asked.
var errNoEditor = errors.New("no editor is attached that tells them")

// Diagnose asks the editor that came last for what it knows of files, see setup.Host.
func (d *Door) Diagnose(ctx context.Context, paths []string) (verify.Diagnosis, error) {
	d.mu.Lock()
	var asked *Window
	for _, w := range d.windows {
		if w.Diagnoses {
			asked = w
		}
	}
	d.mu.Unlock()
	if asked == nil {
		return verify.Diagnosis{}, errNoEditor
	}
	return asked.diagnose(ctx, paths)
}

// Finish tells all windows how the loop ended, and returns when that is told, or nobody takes it: then
// the journal tells.
func (d *Door) Finish(end loop.End) {
	d.mu.Lock()
	d.isOver = true
	d.stopGrace()
	windows := slices.Clone(d.windows)
	d.mu.Unlock()
	var told sync.WaitGroup
	for _, w := range windows {
		told.Go(func() { w.finish(end, d.log.Kept()) })
	}
	told.Wait()
}
