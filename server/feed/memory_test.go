//go:build !race

package feed

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/memtest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// deafEditor takes everything at once and remembers nothing, but how far it is.
type deafEditor struct {
	clienttest.Editor

	mu     sync.Mutex
	sent   sync.Cond
	cursor string
}

func newDeafEditor() *deafEditor {
	e := &deafEditor{Editor: clienttest.Editor{Is: clienttest.Full}}
	e.sent.L = &e.mu
	return e
}

func (e *deafEditor) Notify(string, any)               {}
func (e *deafEditor) NotifyLatest(string, string, any) {}
func (e *deafEditor) Send(_ context.Context, _ string, params any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cursor = params.(wire.UpdateParams).Cursor
	e.sent.Broadcast()
	return nil
}

// await waits until the editor was sent all that is in a journal.
func (e *deafEditor) await(log *journal.Log) {
	end := log.End()
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.cursor != end {
		e.sent.Wait()
	}
}

// A feed and its journal keep nothing of what is on the disk.
func TestAFeedRemembersLittle(t *testing.T) {
	for _, name := range []string{"claude messages", "claude subagents"} {
		t.Run(name, func(t *testing.T) {
			ed := newDeafEditor()
			f := newFeed(ed, func(bool) {})
			f.begin(runningStatus)
			f.HandleLoop(loop.IterationStart{Iteration: 1})
			rest := func() { ed.await(f.log) }
			grown := memtest.GrowthAtRest(60_000, memtest.Streams[name], rest, func(r io.Reader) {
				if _, err := (decode.Reader{Format: decode.FormatClaude, Handler: f}).Run(r); err != nil {
					t.Error(err)
				}
			})
			f.Close()
			<-f.done
			// To keep five bytes of each line is too much.
			if limit := int64(150_000); grown > limit {
				t.Errorf("it grew by %d bytes", grown)
			}
		})
	}
}

func TestAMillionEventsForAnEditorThatNeverReads(t *testing.T) { neverRead(t, 1_000_000, 10_000) }
