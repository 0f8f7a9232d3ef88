package window

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

// Watch is a terminal that looks on at a loop, whichever process drives it, one after the other. It is what a
// terminal.Display shows.
type Watch struct {
	Hello client.Hello // what it says of itself to whoever drives the loop

	dir, loopID string
	past        *journal.Reader
	told        chan struct{} // holds one signal

	mu       sync.Mutex
	parts    []part // of the story that aren't all shown, oldest first
	status   loop.Status
	isLive   bool // a process drives it
	isBehind bool // what came before this window isn't shown yet
}

// part is a part of a story. What it returns last of all is empty.
type part interface {
	Next(thinking bool) (page journal.Page, behind int64)
}

// NewWatch watches the loop with an id in a folder, whose story is in a journal, behind the cursor of hello. now is how
// it stands, where a process drives it.
func NewWatch(dir, loopID string, now loop.Status, past *journal.Reader, hello client.Hello) *Watch {
	return &Watch{Hello: hello, dir: dir, loopID: loopID, status: now, past: past, told: make(chan struct{}, 1)}
}

// News implements terminal.Story.
func (w *Watch) News() <-chan struct{} { return w.told }

// Next implements terminal.Story.
func (w *Watch) Next(thinking bool) (page journal.Page, behind int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.parts) > 0 {
		isLast := len(w.parts) == 1 // before it is looked at: only then nothing came behind it
		if page, behind = w.parts[0].Next(thinking); len(page.Items) > 0 || behind > 0 || isLast {
			break
		}
		w.parts = w.parts[1:]
	}
	page.More = page.More || len(w.parts) > 1
	if len(page.Items) > 0 {
		w.isBehind = behind > 0
	}
	return page, behind
}

// Status is how the loop stands.
func (w *Watch) Status() loop.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.connection(); c != nil {
		return c.Status()
	}
	return w.status
}

// IsLive says whether what is shown next can be answered, where it asks something.
func (w *Watch) IsLive() bool {
	open := len(w.Status().Questions) > 0
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.isLive && (open || !w.isBehind)
}

// connection is the newest, nil without one. The caller holds mu.
func (w *Watch) connection() *client.Connection {
	if !w.isLive || len(w.parts) == 0 {
		return nil
	}
	c, _ := w.parts[len(w.parts)-1].(*client.Connection)
	return c
}

// Do has whoever drives the loop carry out a request.
func (w *Watch) Do(q loop.Request) error {
	w.mu.Lock()
	c := w.connection()
	w.mu.Unlock()
	if c == nil {
		return loop.ErrNotRunning
	}
	_, err := c.Do(q)
	return err
}

// Answer answers a question of an agent's.
func (w *Watch) Answer(id string, a ask.Answer) error {
	return w.Do(loop.Request{Do: caller.Answer, ID: id, Answer: a})
}

// Follow follows the loop until nobody drives it any more, or ctx ends, and returns how it ended. The error says
// why what a process does that drives it can't be seen, or that this was killed.
func (w *Watch) Follow(ctx context.Context) (loop.End, error) {
	w.passOn()
	c, err := w.dial(ctx)
	if c == nil {
		w.add(&past{Reader: w.past, cursor: w.Hello.Cursor}, false)
		return loop.End{Reason: loop.StopInterrupted}, err
	}
	w.add(c, true)
	if over := w.follow(ctx, c); !over {
		c.Close()
		return loop.End{}, ctx.Err()
	}
	end, err := c.End()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Hello.Cursor, w.status, w.isLive = c.Cursor(), c.Status(), false
	return end, err
}

// passOn has what comes next begin where the journal was read to, which it reads on from then.
func (w *Watch) passOn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := len(w.parts) - 1; last >= 0 {
		if p, ok := w.parts[last].(*past); ok {
			w.Hello.Cursor, w.parts = p.cursor, w.parts[:last]
		}
	}
}

// lookAgain is how often it is looked whether somebody goes on with a loop that was over.
const lookAgain = time.Second

// Keep follows the loop, and whoever goes on with it later, until ctx ends.
func (w *Watch) Keep(ctx context.Context) {
	for ctx.Err() == nil {
		_, _ = w.Follow(ctx) // what can't be shown is told where the loop is listed
		select {
		case <-ctx.Done():
		case <-time.After(lookAgain):
		}
	}
}

// follow passes on that a connection has something to show, until it has nothing more. over is false if ctx ends before.
func (w *Watch) follow(ctx context.Context, c *client.Connection) (over bool) {
	for {
		w.signal()
		select {
		case <-c.News():
		case <-c.Over():
			w.signal()
			return true
		case <-ctx.Done():
			return false
		}
	}
}

func (w *Watch) signal() {
	select {
	case w.told <- struct{}{}:
	default: // it looks soon
	}
}

func (w *Watch) add(p part, isLive bool) {
	w.mu.Lock()
	w.parts = append(w.parts, p)
	w.isLive, w.isBehind = isLive, true
	w.mu.Unlock()
	w.signal()
}

const (
	beginPatience = 5 * time.Second // how long a process that drives a loop may take until it listens
	retryEvery    = 10 * time.Millisecond
)

// dial connects with the process that drives the loop. Without one there is no connection, and no error.
func (w *Watch) dial(ctx context.Context) (*client.Connection, error) {
	for began := time.Now(); ; {
		status, err := loop.FolderStatus(w.dir)
		owner := status.Owner
		if owner == nil || err == nil && status.LoopID != w.loopID || err != nil && owner.LoopID != w.loopID {
			return nil, nil // where its file can't be read, or is gone, it is about to end
		}
		c, err := client.Dial(ctx, owner.Control, w.Hello, nil)
		switch {
		case err == nil && w.Hello.Owns && !c.Owns():
			c.Close()
			return nil, errors.New("the loop can't be taken here: its process is of an earlier version, or this terminal is an agent's")
		case err == nil, ctx.Err() != nil:
			return c, ctx.Err()
		case errors.Is(err, client.ErrOld), owner.Deaf != "", time.Since(began) > beginPatience:
			if owner.Deaf != "" {
				err = errors.New(owner.Deaf)
			} else if errors.Is(err, control.ErrNobody) {
				err = errors.New("nobody answers on its socket from here")
			}
			return nil, fmt.Errorf("what the loop does from here on can't be shown: process %d on %s drives it, and %w", owner.PID, owner.Host, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryEvery):
		}
	}
}

// past is what a journal has behind a cursor.
type past struct {
	*journal.Reader
	cursor string
}

// Next implements part.
func (p *past) Next(thinking bool) (journal.Page, int64) {
	page, err := p.Read(context.Background(), p.cursor, journal.Options{Thinking: thinking})
	if err != nil {
		return journal.Page{}, 0 // there is none
	}
	p.cursor = page.Cursor
	return page, 0
}
