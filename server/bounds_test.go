package server

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// A number that nothing can have measured is as good as none; one that JSON has
// no word for would take all other loops with it.
func TestUnbelievableAmountsAreUnknown(t *testing.T) {
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, usd := range []float64{1e300, 1e308, math.Inf(1), math.NaN(), -1} {
		cost := stream.USD(usd)
		status := loop.Status{LoopID: "l", Folder: "/w", State: loop.StateWaiting, Times: loop.Times{StartedAt: far, IterationStartedAt: far}, Usage: loop.Usage{Cost: cost, IterationCost: cost, Tokens: stream.Tokens{Input: math.MinInt64}, Quota: []stream.Quota{{Window: "w", Utilization: usd, ResetsAt: far}}},
			Work: loop.Work{Retry: &loop.RetryStatus{ResumeAt: far}, Tool: &loop.ToolStatus{StartedAt: far}}}
		shown := wire.StatusOf(status, true)
		if shown.Cost != nil || shown.Tokens != (stream.Tokens{}) || !shown.StartedAt.IsZero() {
			t.Errorf("%v: %+v", usd, shown)
		}
		if text := wire.NewStatus([]wire.LoopStatus{shown}).Message + feed.ReportOf(status, nil).Message; len(text) > 100 || strings.Contains(text, "$") {
			t.Errorf("%v: %s", usd, text)
		}
		var p wire.Projector
		updates := []wire.Update{
			p.Event(stream.Usage{Cost: cost, Context: 1}),
			p.Loop(loop.StateChanged{State: loop.StateWaiting, ResumeAt: far}),
			p.Loop(loop.IterationEnd{Cost: cost}),
			p.Loop(loop.End{Cost: cost}),
			wire.ResultOf(stream.Result{Usage: stream.Usage{Cost: cost}}),
		}
		for _, u := range append(updates, p.Event(stream.Usage{Cost: stream.USD(0.5), Context: 2})) {
			if _, err := json.Marshal(u); err != nil {
				t.Errorf("%v: %v", usd, err)
			}
		}
		if last := p.Usage.Cost; last == nil || last.Amount != 0.5 {
			t.Errorf("after %v: %+v", usd, last)
		}
		if _, err := json.Marshal(wire.NewStatus([]wire.LoopStatus{shown})); err != nil {
			t.Errorf("%v: %v", usd, err)
		}
	}
}

func TestABadStateFileDoesNotHideTheOtherLoops(t *testing.T) {
	bad, good := t.TempDir(), t.TempDir()
	must.Write(t, filepath.Join(bad, ".pi", "ralph-loop.local.md"),
		"---\nactive: true\niteration: 2\nstarted_at: \"9999-12-31T23:59:59-12:00\"\ncost_usd: 1e300\nelapsed: 2000000h\n---\n\nhello\n")
	c := dial(t, optedIn, bad, good)
	if seen := c.status(bad, inState("interrupted")); seen.Cost != nil || !seen.StartedAt.IsZero() {
		t.Errorf("got %+v", seen)
	}
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Folder: wire.FileURI(good), Prompt: "x", Choices: wire.Choices{Backend: agentThat(t, "never")}}))
	c.status(good, inState("running"))
	if got := result[wire.StatusResult](c, c.Command(wire.CommandStatus, struct{}{})); len(got.Loops) != 2 {
		t.Errorf("got %+v", got)
	}
}

// A session that somebody put there is no loop of ours. It is read all the same by who names it.
func TestAPlantedSessionIsNotListed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	finished(t, c, dir)
	past := result[answers.HistoryResult](c, c.Command(wire.CommandHistory, struct{}{})).Loops
	path, err := wire.PathOf(past[0].SessionFileURI)
	must.OK(t, err)
	data := must.Read(t, path)
	planted := filepath.Join(filepath.Dir(path), "2099-01-01T00-00-00-000Z_x.jsonl")
	must.Write(t, planted, string(data))
	if again := result[answers.HistoryResult](c, c.Command(wire.CommandHistory, struct{}{})).Loops; len(again) != 1 || again[0].SessionFileURI != past[0].SessionFileURI {
		t.Errorf("got %+v", again)
	}
	read := result[answers.ReadResult](c, c.Command(wire.CommandRead, wire.ReadParams{SessionFileURI: wire.FileURI(planted)}))
	if len(read.Updates) < 5 || read.SkippedLines > 0 {
		t.Errorf("the log has %d updates, %d lines are skipped", len(read.Updates), read.SkippedLines)
	}
}
