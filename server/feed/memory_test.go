//go:build !race

package feed

import (
	"context"
	"io"
	"testing"

	"ralph-lsp/internal/test/clienttest"
	"ralph-lsp/internal/test/memtest"
	"ralph-lsp/loop"
	"ralph-lsp/looplog"
	"ralph-lsp/stream"
)

// deafEditor takes everything at once and remembers nothing.
type deafEditor struct{ clienttest.Editor }

func (e *deafEditor) Notify(string, any)                      {}
func (e *deafEditor) NotifyLatest(string, string, any)        {}
func (e *deafEditor) Send(context.Context, string, any) error { return nil }

// A feed keeps the last 4 MiB of updates for who asks again, and a bounded
// backlog; a run of many messages doesn't fill more.
func TestAFeedRemembersLittle(t *testing.T) {
	for _, name := range []string{"claude messages", "claude subagents"} {
		t.Run(name, func(t *testing.T) {
			f := New(&deafEditor{clienttest.Editor{Is: clienttest.Full}}, new(looplog.Pages), func(bool) {})
			f.Start("l1", runningStatus)
			f.HandleLoop(loop.IterationStart{Iteration: 1})
			grown := memtest.Growth(240_000, memtest.Streams[name], func(r io.Reader) {
				if _, err := (stream.Reader{Format: stream.FormatClaude, Handler: f}).Run(r); err != nil {
					t.Error(err)
				}
			})
			f.Close()
			<-f.done
			// Backlog and log may be empty at the first moment and full at the second: the
			// machine says how fast what waits is sent. To keep 70 bytes of each line is too much.
			if limit := int64(2 * maxBacklog); grown > limit {
				t.Errorf("it grew by %d bytes", grown)
			}
		})
	}
}

func TestAMillionEventsForAnEditorThatNeverReads(t *testing.T) { neverRead(t, 1_000_000, 10_000) }
