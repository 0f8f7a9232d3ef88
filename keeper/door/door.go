// Package door lets windows in at a loop: each is told the loop's story behind a cursor, and what it asks
// for is carried out. The loop waits for none of them, and goes on without.
package door

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
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

	mu      sync.Mutex
	windows []*Window
	isOver  bool
}

// New is the door of a loop that hasn't begun: whoever comes waits for that.
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
	w.PID, w.Owns = c.PID, false                                         // the process that drives the loop decides when it ends
	w.Answers = w.Answers && !caller.Peer(c.PID, f.Hello.From).IsAgent() // no agent answers for its user
	if d.loop == nil {
		w.Refuse(loop.ErrNotRunning)
	} else {
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
	w.write(client.Frame{Kind: client.Welcome, LoopID: d.loop.ID(), PID: os.Getpid(), Status: &status})
	go w.tell(d.log, d.loop.Status)
	w.obey(in, func(q loop.Request) loop.Reply { return d.loop.Do(w.PID, q) })
	d.mu.Lock()
	defer d.mu.Unlock()
	d.windows = slices.DeleteFunc(d.windows, func(other *Window) bool { return other == w })
}

// enter notes that a window is there, unless the loop is over.
func (d *Door) enter(w *Window) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.isOver {
		d.windows = append(d.windows, w)
	}
	return !d.isOver
}

// IsAttended says whether a user looks on who can answer.
func (d *Door) IsAttended() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.windows, func(w *Window) bool { return w.Answers })
}

// Finish tells all windows how the loop ended, and returns when that is told, or nobody takes it: then
// the journal tells.
func (d *Door) Finish(end loop.End) {
	d.mu.Lock()
	d.isOver = true
	windows := slices.Clone(d.windows)
	d.mu.Unlock()
	var told sync.WaitGroup
	for _, w := range windows {
		told.Go(func() { w.finish(end, d.log.Kept()) })
	}
	told.Wait()
}
