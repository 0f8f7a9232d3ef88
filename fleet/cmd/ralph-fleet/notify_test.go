package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/client"
	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// hearing is an editor that is told that something has changed.
type hearing struct {
	nobody
	changed chan struct{}
}

func (h hearing) Changed() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// Who watches a loop, two editors that show it and the bus itself call its user once, and a worker
// calls nobody.
func TestALoopOfTheFleetCallsOnce(t *testing.T) {
	y := newYard(t)
	dir, err := config.UserDir()
	y.must(err)
	y.must(os.MkdirAll(dir, 0o700))
	heard := filepath.Join(t.TempDir(), "heard")
	y.must(os.WriteFile(filepath.Join(dir, config.UserName), []byte("[notify]\ncommand = [\"sh\", \"-c\", \"cat >>'"+heard+"'\"]\n"), 0o600))
	y.put("f1", "one")
	y.begin("f1", "box")

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	for range 2 {
		dial := func(context.Context, func()) (fleet.Bus, func(), error) { return y.bus, func() {}, nil }
		d := client.New(client.Options{Dial: dial, Name: "test", Dir: t.TempDir()})
		h := hearing{changed: make(chan struct{}, 1)}
		go func() {
			calling{d, notify.At{Warn: func(text string) { t.Error(text) }}}.Run(ctx, h)
			ended <- struct{}{}
		}()
		for loops := 0; loops == 0; {
			<-h.changed
			all, _ := d.Loops()
			loops = len(all)
		}
	}
	y.must(callFrom(ctx, y.bus, slog.New(slog.DiscardHandler)))
	out, code := y.watches(t.Context(), "one")
	y.until(out, "(runs on box)")

	q := ask.Question{ID: "q1abc", Kind: ask.Permission, Title: "Bash git push"}
	y.say("f1", 1, 1, string(lsptest.JSON(new(wire.Projector).Loop(loop.Asked{Question: q}))))
	y.asks("f1", 1, q)
	y.until(out, "git push")
	y.commit("f1", 1, fleet.Outcome{Iterations: 1, CostUSD: 0.2, StopReason: "promise", Text: "done: hunter2"}, begins(1))
	if got := <-code; got != 0 {
		t.Errorf("it ends with %d: %s", got, out)
	}
	counts := func() (questions, ends int, text string) {
		data, _ := os.ReadFile(heard)
		return strings.Count(string(data), `"event":"question"`), strings.Count(string(data), `"event":"end"`), string(data)
	}
	proctest.Until(t, "a question and an end", func() bool { q, e, _ := counts(); return q > 0 && e > 0 })
	cancel()
	<-ended
	<-ended // what they still tell is told
	if questions, ends, text := counts(); questions != 1 || ends != 1 || !strings.Contains(text, `"title":"Ralph loop f1","text":"done after 1 iteration · $0.20`) || strings.Contains(text, "hunter2") {
		t.Errorf("%d questions, %d ends: %s", questions, ends, text)
	}
}
