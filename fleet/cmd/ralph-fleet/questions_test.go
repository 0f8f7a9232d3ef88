package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// As many questions as there may be, each about a long diff: from the line that the child prints to
// what an editor gets, and back to the worker with the answer to each.
func TestQuestionsAboutLongDiffs(t *testing.T) {
	served, err := natsbus.Serve(natsbus.ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0"}) // which refuses longer messages
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	b, err := natsbus.Dial(t.Context(), natsbus.Options{URL: served.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	s := loop.Status{LoopID: "ralph-1", Folder: "/w/loops/f1/tree", State: loop.StateWaiting, Iteration: 3, Title: strings.Repeat("Do it. ", 100)}
	diff := strings.Repeat("-\tif a < b && c > \"ä\\n\" { // was\n+\tif a <= b && c >= \"ö\\t\" { // is\n", ask.MaxDetail)[:ask.MaxDetail]
	for i := range ask.MaxQuestions {
		s.Questions = append(s.Questions, ask.Question{
			ID: fmt.Sprintf("q%d", i), Kind: ask.Permission, Tool: "Edit", Title: fmt.Sprintf("Edit src/%s/%d.go", strings.Repeat("deep/", 8), i), Detail: diff,
			Rule: fmt.Sprintf("Edit(src/%s*)", strings.Repeat("deep/", 8)), At: time.Now(),
		})
		s.Allowed = append(s.Allowed, fmt.Sprintf("Bash(make target-%d:*)", i))
	}
	line, err := json.Marshal(wire.StatusUpdateOf(s))
	if err != nil || len(line) > wire.MaxStatusUpdate {
		t.Fatalf("the child prints %d bytes, %v", len(line), err)
	}
	var printed struct{ Status json.RawMessage }
	if err := json.Unmarshal(line, &printed); err != nil {
		t.Fatal(err)
	}
	shown, err := b.Shown(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Show(t.Context(), fleet.Shown{ID: "f1", Attempt: 4, Status: printed.Status}); err != nil {
		t.Fatal(err)
	}
	r := fleet.Record{Task: fleet.Task{ID: "f1", Name: "one"}, Phase: fleet.Running, Attempt: 4, Worker: "box"}
	l := fleet.StatusOf(r, <-shown, "/here/f1", time.Now())
	if data, err := json.Marshal(l); err != nil || len(data) > 256<<10 || len(l.Questions) != ask.MaxQuestions {
		t.Fatalf("an editor gets %d questions in %d bytes, %v", len(l.Questions), len(data), err)
	}
	var asked string
	stop, err := b.Listen(t.Context(), "f1", func(request []byte) []byte { asked = string(request); return []byte("{}") })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	h := &fleet.Handle{Ctx: t.Context(), Bus: b, Record: r}
	for i, q := range l.Questions {
		shows, isCut := strings.CutSuffix(q.Detail, "\n... (the rest is with the agent)")
		if q.ID != fmt.Sprintf("q%d", i) || !isCut || len(shows) < 1000 || !strings.HasPrefix(diff, shows) || q.Title != s.Questions[i].Title {
			t.Errorf("question %s, %s, shows %d bytes, and says that it is cut: %v", q.ID, q.Title, len(q.Detail), isCut)
		}
		for _, offer := range q.Offers {
			p, ok := offer.Arguments[0].(wire.AnswerParams)
			if !ok || p.LoopID != "f1" || p.ID != q.ID {
				t.Fatalf("question %s offers %+v", q.ID, offer)
			}
			if err := h.Answer(p.ID, ask.Answer{Kind: p.Answer, Text: p.Text}); err != nil || !strings.Contains(asked, `"id":"`+q.ID+`"`) {
				t.Errorf("the answer %s to %s comes as %s, %v", p.Answer, q.ID, asked, err)
			}
		}
		if len(q.Offers) < 3 {
			t.Errorf("question %s has %d answers", q.ID, len(q.Offers))
		}
	}
}
