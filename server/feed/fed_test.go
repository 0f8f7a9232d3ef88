package feed

import (
	"crypto/rand"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

func runningStatus() loop.Status { return loop.Status{State: loop.StateRunning} }

// fed is a feed with the journal that it sends.
type fed struct {
	*Feed
	recorder *journal.Recorder
	log      *journal.Log
}

func newFeed(ed client.Editor, onStatus func(now bool)) *fed {
	f := &fed{Feed: New(ed, onStatus, func(journal.Item) {})}
	f.recorder = journal.NewRecorder(nobody{})
	return f
}

// nobody hears what a loop tells.
type nobody struct{}

func (nobody) Handle(stream.Event)   {}
func (nobody) HandleLoop(loop.Event) {}

// Handle tells what the agent does, and that the loop stands otherwise than before.
func (f *fed) Handle(e stream.Event) {
	f.recorder.Handle(e)
	f.Stands(false)
}

// HandleLoop tells what the loop does. What it says to its agents is no part of how it stands.
func (f *fed) HandleLoop(e loop.Event) {
	f.recorder.HandleLoop(e)
	if _, isSaid := e.(loop.SteeringMessage); !isSaid {
		f.Stands(true)
	}
}

// Close ends the story, and the feed with it.
func (f *fed) Close() {
	if f.log != nil {
		f.log.Close()
		select {
		case <-f.done:
		case <-time.After(time.Second): // the editor reads no more
		}
	}
	f.Feed.Close()
}

// begin begins to send; the journal is one that nobody else has.
func (f *fed) begin(status func() loop.Status) { f.beginAs("l1", status) }

func (f *fed) beginAs(id string, status func() loop.Status) {
	f.log = f.recorder.Open(rand.Text(), false)
	f.Start(id, clienttest.StoryOf(f.log, f.size), status, true)
}
