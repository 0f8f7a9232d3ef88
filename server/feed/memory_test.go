//go:build !race

package feed

import (
	"context"
	"io"
	"testing"

	"ralph-lsp/internal/test/clienttest"
	"ralph-lsp/internal/test/memtest"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
)

// deafEditor takes everything at once and remembers nothing.
type deafEditor struct{ clienttest.Editor }

func (e *deafEditor) Notify(string, any)                      {}
func (e *deafEditor) NotifyLatest(string, string, any)        {}
func (e *deafEditor) Send(context.Context, string, any) error { return nil }

// A feed and its journal keep nothing of what is on the disk.
func TestAFeedRemembersLittle(t *testing.T) {
	for _, name := range []string{"claude messages", "claude subagents"} {
		t.Run(name, func(t *testing.T) {
			f := newFeed(&deafEditor{clienttest.Editor{Is: clienttest.Full}}, func(bool) {})
			f.begin(runningStatus)
			f.HandleLoop(loop.IterationStart{Iteration: 1})
			grown := memtest.Growth(240_000, memtest.Streams[name], func(r io.Reader) {
				if _, err := (stream.Reader{Format: stream.FormatClaude, Handler: f}).Run(r); err != nil {
					t.Error(err)
				}
			})
			f.Close()
			<-f.done
			// To keep ten bytes of each line is too much.
			if limit := int64(2 << 20); grown > limit {
				t.Errorf("it grew by %d bytes", grown)
			}
		})
	}
}

func TestAMillionEventsForAnEditorThatNeverReads(t *testing.T) { neverRead(t, 1_000_000, 10_000) }
