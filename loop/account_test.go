package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

func TestWhatALoopHasToAccountFor(t *testing.T) {
	var a account.Account
	refused := []stream.Denial{{Tool: "Bash", Detail: "rm  -r build"}, {Tool: "WebFetch"}}
	push := ask.Question{Title: "Bash git push"}
	for _, e := range []Event{
		Warning{Message: "$8.00 of $10.00\nare spent"}, Warning{Message: "$8.00 of $10.00 are spent"},
		LimitsChanged{}, LimitsChanged{Changes: []string{"80 iterations instead of 50", "$9.00 instead of $5.00"}, By: ByWindow},
		IterationEnd{Outcome: OutcomeOK, Error: "not one", Denials: refused, Commits: []string{"1a2b3c4d5 One"}},
		IterationEnd{Outcome: OutcomeError, Error: "exit code 3", Denials: refused[:1]},
		IterationEnd{Outcome: OutcomeTimeout, Error: "silent"}, IterationEnd{Outcome: OutcomeCancelled, Error: "cut off"},
		AnswerTo(push, ask.Answer{Kind: ask.Deny, By: "terminal"}), AnswerTo(push, ask.Answer{Kind: ask.Deny, By: ask.ByTimeout}),
		StateChanged{State: StateRunning}, Verify{State: verify.Refuted, Command: "make", Why: "failed (exit 2)"}, Verify{State: verify.Verified, Command: "make"},
	} {
		Count(&a, e)
	}
	end := End{Reason: StopUnanswered, Unanswered: []ask.Question{push, {Title: "Sure?"}}}
	end.AccountFor(strings.Repeat("x\n", maxPrompt), plan.Book{Refused: []plan.Refused{{Text: "one", Times: 3, Why: "make one failed"}, {Text: "two", Times: 2}}}, a)
	const want = "{{[{exit code 3 1} {silent 1} {refuted: make failed (exit 2) 1}] 0} {[{Bash rm -r build 2} {WebFetch 1}] 0} {[{$8.00 of $10.00 are spent 2}] 0} {[{Bash git push 2} {Sure? 1}] 0} {[{1a2b3c4d5 One 1}] 0} {[{80 iterations instead of 50, $9.00 instead of $5.00, by its own window 1}] 0} {[{\"one\": make one failed, 3 times 1}] 0} {[] 0} {[] 0}}"
	if got := fmt.Sprint(end.Account); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(end.Prompt) > maxPrompt || len(end.Prompt) < maxPrompt/2 {
		t.Errorf("%d bytes of the prompt", len(end.Prompt))
	}
	data, err := json.Marshal(end)
	if back, ok := RecordOf(registry.Entry{End: data}); err != nil || !ok || fmt.Sprint(back.Account) != want || back.Prompt != end.Prompt {
		t.Errorf("read back: %v, %v", back, err)
	}
}

func TestARecordOfAnOlderVersionHasItsDuration(t *testing.T) {
	for data, want := range map[string]time.Duration{
		`{"stopReason":"promise","duration":61000000000}`: 61 * time.Second, `{"stopReason":"promise","durationMs":61000}`: 61 * time.Second, `{"stopReason":"promise"}`: 0,
	} {
		if end, ok := RecordOf(registry.Entry{End: json.RawMessage(data)}); !ok || time.Duration(end.Duration) != want || end.Reason != StopPromise {
			t.Errorf("%s: %+v", data, end)
		}
	}
}
