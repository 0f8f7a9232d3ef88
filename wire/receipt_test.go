package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

func TestAReceiptSaysWhatHelps(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)
	capped := loop.End{Reason: loop.StopMaxIterations, Iterations: 3, Changes: &changes.Summary{Files: 2, Added: 5}, Error: "the agent asked: Bash rm -r build",
		Status: loop.Status{LoopID: "ralph-a", Folder: "/w/my app", State: loop.StateEnded, Ended: loop.Ended{StopReason: loop.StopMaxIterations, EndedAt: noon}, Iteration: 3, Limits: loop.Limits{MaxIterations: 3}}}
	done := loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 1, Changes: &changes.Summary{}, Status: loop.Status{LoopID: "ralph-b", Folder: "/w/app", State: loop.StateEnded, Ended: loop.Ended{StopReason: loop.StopPromise}}}
	gone := capped
	gone.Changes, gone.Error, gone.Status.GivenUp = nil, "", true
	for want, e := range map[string]loop.End{
		"Ended 2026-01-02 12:00:00|Result stopped after 3 iterations: iteration limit reached · cost unknown · 0s|Problem the agent asked: Bash rm -r build|Changed 2 files changed +5 -0|" +
			"ralph-lsp resume -C '/w/my app' --max-iterations 6|ralph-lsp cancel -C '/w/my app'|ralph-lsp changes -C '/w/my app'|ralph-lsp undo -C '/w/my app' --since 1": capped,
		"Result done: DONE after 1 iteration · cost unknown · 0s · nothing verified this · no file changed":                                                                       done,
		"Ended 2026-01-02 12:00:00|Result stopped after 3 iterations: iteration limit reached · cost unknown · 0s|Goes on no: it was discarded, or another loop was started here": gone,
	} {
		r := ReceiptOf(e, InFolder(e.Status.Folder))
		var got []string
		for _, row := range r.Rows {
			got = append(got, row.Label+" "+row.Text)
		}
		for _, c := range r.Commands {
			got = append(got, c.Line)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		if r.LoopID != e.Status.LoopID || r.Reason != e.Reason {
			t.Errorf("got %+v", r)
		}
	}
}

func TestAReceiptIsShort(t *testing.T) {
	var prompt strings.Builder
	end := loop.End{Reason: loop.StopFailures, Error: "exit code 3"}
	for i := range 7 {
		fmt.Fprintf(&prompt, "line %d\n\n", i)
		end.Account.Warnings.Add(fmt.Sprintf("warning\t%d", i), "warning\t0")
	}
	end.Prompt = prompt.String()
	end.Account.Warnings.More = 2
	end.Account.Failures.Add("exit code 3")
	const want = `Result: failed after 0 iterations: too many failures in a row · cost unknown · 0s
Problem: exit code 3
Asked: line 0
  line 1
  line 2
  line 3
  … 3 more lines
Warned: warning 0 (8 times)
  warning 1
  warning 2
  warning 3
  … 5 more
`
	if got := ReceiptOf(end, "").InLines(); got != want {
		t.Errorf("got %s", got)
	}
	end.Account.Failures.Add("exit code 3")
	if got := ReceiptOf(end, "").InLines(); !strings.Contains(got, "\nFailed: exit code 3 (2 times)\n") {
		t.Errorf("got %s", got)
	}
	end.Account.Stuck.Add(`"one": make failed, 4 times`)
	if got := ReceiptOf(end, "").InLines(); !strings.Contains(got, "\nNot done: \"one\": make failed, 4 times\n  mend its check, ") {
		t.Errorf("got %s", got)
	}
	end.Reason = loop.StopOnce
	if u := projectEnd(end); len(u.Receipt) > 0 {
		t.Errorf("one that goes on has %v", u.Receipt)
	}
}
