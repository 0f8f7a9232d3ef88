package server

import (
	"context"
	"fmt"
	"io"
	"testing"

	"ralph-lsp/internal/memtest"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
)

// deafEditor takes everything at once and remembers nothing.
type deafEditor struct{ feedEditor }

func (e *deafEditor) Notify(string, any)                      {}
func (e *deafEditor) NotifyLatest(string, string, any)        {}
func (e *deafEditor) Send(context.Context, string, any) error { return nil }

// A feed keeps the last 4 MiB of updates for who asks again, and a bounded
// backlog; a run of many messages doesn't fill more.
func TestAFeedRemembersLittle(t *testing.T) {
	for _, name := range []string{"claude messages", "claude subagents"} {
		t.Run(name, func(t *testing.T) {
			f := newFeed(&deafEditor{feedEditor{client: fullClient}}, func(bool) {})
			f.Start("l1", runningStatus)
			f.HandleLoop(loop.IterationStart{Iteration: 1})
			grown := memtest.Growth(120_000, memtest.Streams[name], func(r io.Reader) {
				if _, err := (stream.Reader{Format: stream.FormatClaude, Handler: f}).Run(r); err != nil {
					t.Error(err)
				}
			})
			f.Close()
			<-f.done
			if limit := int64(maxBacklog); grown > limit { // what waits at the two moments may differ by that
				t.Errorf("it grew by %d bytes", grown)
			}
		})
	}
}

// Calls that never get a result are bounded, and the last ones end with their run.
func TestCallsWithoutResultsAreBounded(t *testing.T) {
	var p Projector
	for i := range 3 * maxCalls {
		p.Event(stream.ToolCall{ID: fmt.Sprint("t", i), Name: "bash"})
	}
	ends := p.Unfinished(loop.IterationEnd{})
	if len(ends) != maxCalls || ends[maxCalls-1].(ToolCallUpdate).ToolCallID != fmt.Sprint("t", 3*maxCalls-1) {
		t.Errorf("%d calls end, the last is %+v", len(ends), ends[len(ends)-1])
	}
}
