package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// keeping is a story with a session file.
func keeping(t *testing.T, id string) (l told, path string) {
	t.Helper()
	w := &watcher{}
	r := NewRecorder(w)
	r.kept.cfg = setup.Config{Folder: t.TempDir(), Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}}}
	path = r.kept.Open("", false)
	r.kept.Begin(loop.Status{LoopID: id, Title: "Build it", Session: stream.SessionStart{Backend: "pi"}})
	return told{r, w, r.Open(id, true)}, path
}

// Each event is told once in the loop's journal, and how the loop ended is in its session file as well.
func TestAnEventIsToldOnce(t *testing.T) {
	inHome(t)
	end := loop.End{Reason: loop.StopPermissionDenied, Promise: "DONE", Iterations: 3, Limit: 50, Cost: stream.USD(1.5), Tokens: stream.Tokens{Input: 1}, Duration: stream.Duration(time.Hour), Error: "refused",
		Denials: []stream.Denial{{Tool: "bash", Detail: "rm"}}, Guards: "a_test.go"}
	offer := loop.Offer{LoopID: "ralph-a", Folder: "/w", Promises: []string{"DONE"}}
	asked := loop.Asked{}
	asked.ID, asked.Kind, asked.Title, asked.Options, asked.At = "q1", "select", "Which?", []string{"A", "B"}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	events := []any{
		loop.IterationStart{Iteration: 3, MaxIterations: 50, Hat: "builder", Topic: "plan.ready"},
		loop.Goal{Promise: "DONE", From: "prompt", Besides: "the reviewer critic approves"},
		stream.SessionStart{Backend: "pi", Provider: "anthropic", Model: "m"},
		stream.Retry{Attempt: 1, Delay: stream.Duration(time.Second), Kind: stream.KindRateLimit, Message: "429"},
		stream.Compaction{Done: true},
		stream.Error{Message: "broken", Kind: stream.KindRateLimit},
		loop.Told{Text: "Mind the tests"},
		loop.Published{Topic: "plan.ready", Target: "builder", Payload: "1. mend it <b>"},
		loop.NearMiss{Found: "DONE", Expected: "ALL DONE", Why: "it differs", Offer: offer},
		loop.SteeringMessage{ID: "g1", State: loop.SteeringDelivered, Text: "Mind the tests"},
		asked,
		loop.Answered{Question: asked.Question},
		loop.LimitsChanged{Limits: limits.Default(), Promise: "DONE"},
		loop.Warning{Message: "mind the gap"},
		loop.IterationEnd{Iteration: 3, Hat: "builder", Outcome: loop.OutcomeError, Error: "429", Cost: stream.USD(0.5), Turns: 4, Duration: stream.Duration(time.Minute), Skipped: 6},
		loop.Verify{Gate: verify.CommandGate, State: verify.Refuted, Command: "go test ./...", Promised: true, Why: "failed (exit 1)", ExitCode: new(1), Output: "FAIL",
			Problems: []verify.Problem{{Path: "a_test.go", Line: 3, Message: "got 2"}}},
		loop.StateChanged{State: loop.StatePaused},
		end,
	}
	l, _ := keeping(t, "ralph-a")
	for _, e := range events {
		switch e := e.(type) {
		case loop.End:
			l.kept.Close(&e, func() {})
			l.HandleLoop(e)
		case loop.Event:
			l.HandleLoop(e)
		case stream.Event:
			l.Handle(e)
		}
	}
	if told := said(t, l.log); len(told) != len(events)+1 { // that it is over goes before its end
		t.Errorf("%d updates of %d events", len(told), len(events))
	}
}

// Whoever kills a loop finds what its agent had said.
func TestWhatWasSaidOutlivesAKill(t *testing.T) {
	inHome(t)
	l, path := keeping(t, "ralph-a")
	l.HandleLoop(loop.IterationStart{Iteration: 1})
	l.Handle(stream.Text{MessageID: "m1", Delta: "First a look."})
	l.Handle(stream.MessageEnd{MessageID: "m1", Text: "First a look."})
	l.Handle(stream.TurnEnd{})
	l.kept.Rest()
	if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "First a look.") {
		t.Errorf("the file has %s, %v", data, err)
	}
}

// A story begins with the prompt, once: a loop that goes on has it.
func TestAStoryBeginsWithItsPrompt(t *testing.T) {
	inHome(t)
	long := strings.Repeat("Build it. ", wire.MaxText/5)
	for loopID, goesOn := range map[string]bool{"ralph-a": false, "ralph-b": true} {
		r := NewRecorder(&watcher{})
		r.kept.cfg = setup.Config{Folder: t.TempDir(), Prompt: long, Continue: goesOn,
			Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}}}
		r.kept.Open("", false)
		r.kept.Begin(loop.Status{LoopID: loopID, Title: "Build it"})
		log := r.Open(loopID, true)
		r.HandleLoop(loop.IterationStart{Iteration: 1})
		got, last := "", ""
		for _, u := range said(t, log) {
			if last = u["sessionUpdate"].(string); last == wire.KindUserChunk {
				got += u["content"].(map[string]any)["text"].(string)
			}
		}
		if want := map[bool]string{false: long}[goesOn]; got != want || last != wire.KindIteration {
			t.Errorf("that of a loop that goes on (%v) has %d bytes, want %d, and ends with %s", goesOn, len(got), len(want), last)
		}
	}
}

// said are the updates of a story.
func said(t *testing.T, r readable) (updates []map[string]any) {
	t.Helper()
	page, err := r.Read(t.Context(), "", Options{Thinking: true})
	if err != nil || page.Skipped > 0 {
		t.Fatal(page.Skipped, err)
	}
	for _, raw := range page.Updates(false) {
		var u map[string]any
		must.OK(t, json.Unmarshal(raw, &u))
		updates = append(updates, u)
	}
	return updates
}

// A story is found by its loop's session file, whether its user has gone on in pi or not. Where it isn't here any more,
// who asks is told what is.
func TestAStoryBySessionFile(t *testing.T) {
	dir := inHome(t)
	l, path := keeping(t, "ralph-a")
	l.HandleLoop(loop.Warning{Message: "mind the gap"})
	end := loop.End{Reason: loop.StopPromise, Promise: "DONE"}
	l.kept.Close(&end, func() {})
	l.HandleLoop(end)
	whole, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(whole, `{"type":"label","id":"1","parentId":null}`+"\n"...), 0o600)
	}
	must.OK(t, err)
	for _, id := range []string{"", "ralph-a"} {
		if told := said(t, StoryOf(id, path)); !strings.Contains(fmt.Sprint(told), "mind the gap") {
			t.Errorf("%q: %v", id, told)
		}
	}
	other := filepath.Join(t.TempDir(), "notes.md")
	must.OK(t, errors.Join(os.WriteFile(other, []byte("# Notes\n"), 0o600), os.RemoveAll(dir)))
	if _, err := StoryOf("", path).Outline(t.Context()); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "pi --session "+path) {
		t.Errorf("its journal is gone: %v", err)
	}
	if _, err := StoryOf("", other).Read(t.Context(), "", Options{}); !errors.As(err, new(*history.FormatError)) {
		t.Errorf("of no session: %v", err)
	}
}
