package fakemodel

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"
)

// How a request may end; other outcomes are made where they happen.
const (
	outcomeOK         = "ok"
	outcomeClientGone = "client gone"
)

// answer is one answer being played.
type answer struct {
	anthropic
	ctx    context.Context
	script *Script
}

// play sends the turn's answer and says how it ended.
func (s *Server) play(ctx context.Context, w *responseWriter, t Turn, q Request) string {
	usage := Usage{Input: 100, Output: 20}
	switch {
	case t.Usage != nil:
		usage = *t.Usage
	case s.script.Usage != nil:
		usage = *s.script.Usage
	}
	a := &answer{anthropic{w: w, request: q, usage: usage}, ctx, &s.script}
	if !a.sleep(t.HangMS) {
		return outcomeClientGone
	}
	if t.Drop {
		return w.drop()
	}
	w.Header().Set("Request-Id", "req_fake")
	if t.Status != 0 && t.Status != http.StatusOK {
		return w.json(t.Status, a.failure(t))
	}
	steps := t.Steps
	if t.Text != "" || len(steps) == 0 {
		steps = append([]Step{Say(cmp.Or(t.Text, "OK"))}, steps...)
	}
	if !q.Stream {
		a.whole(steps, stopReason(steps))
		return "ok (not streamed)"
	}
	return a.stream(steps, stopReason(steps))
}

func stopReason(steps []Step) string {
	for _, st := range steps {
		if st.Tool != nil {
			return "tool_use"
		}
	}
	return "end_turn"
}

func (a *answer) stream(steps []Step, stop string) string {
	header := a.w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("Cache-Control", "no-cache")
	a.w.WriteHeader(http.StatusOK)
	a.start()
	for i, st := range steps {
		if outcome := a.step(i, st); outcome != "" {
			return outcome
		}
	}
	a.end(stop)
	return outcomeOK
}

// step plays one step. A non-empty outcome ends the answer.
func (a *answer) step(i int, st Step) string {
	switch {
	case st.Text != nil:
		a.beginText()
		return a.block(i, *st.Text)
	case st.Thinking != nil:
		a.beginThinking()
		return a.block(i, *st.Thinking)
	case st.Tool != nil:
		a.beginTool(cmp.Or(st.Tool.ID, fmt.Sprintf("toolu_fake_%d_%d", a.request.Seq, i)), st.Tool.Name)
		return a.block(i, st.Tool.args())
	case st.SSEError != nil:
		a.fail(*st.SSEError)
		return "error in the stream"
	case st.Raw != nil:
		a.w.writeNow(*st.Raw)
	case st.Drop:
		a.w.Flush()
		return a.w.drop()
	case !a.sleep(st.SleepMS):
		return outcomeClientGone
	}
	return ""
}

// block sends the deltas of a block that was begun, and ends it.
func (a *answer) block(i int, content string) string {
	for _, piece := range split(content, a.script.Chunk, int64(i+1)) {
		if a.ctx.Err() != nil {
			return outcomeClientGone
		}
		a.delta(piece)
	}
	a.endBlock()
	return ""
}

// sleep waits and says whether the client is still there.
func (a *answer) sleep(ms int) bool {
	if ms <= 0 {
		return a.ctx.Err() == nil
	}
	select {
	case <-a.ctx.Done():
		return false
	case <-time.After(time.Duration(ms) * time.Millisecond):
		return true
	}
}
