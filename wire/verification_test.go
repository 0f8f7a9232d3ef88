package wire

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

func TestAGoalNamesAllThatHasToBeSo(t *testing.T) {
	for _, tt := range []struct {
		goal loop.Goal
		want string
	}{
		{loop.Goal{Promise: "DONE"}, "this loop is done when the agent says <promise>DONE</promise>; nothing verifies that"},
		{loop.Goal{Promise: "null"}, `this loop is done when the agent says <promise>null</promise>, the text "null" (--completion-promise "" sets none); nothing verifies that`},
		{loop.Goal{Suggested: "go test ./..."}, `this loop is done when the agent says LOOP_COMPLETE (no promise is set); nothing verifies that; --verify "go test ./..." would`},
		{loop.Goal{Plan: "the 4 tasks of PLAN.md are done"}, "this loop is done when the 4 tasks of PLAN.md are done; nothing else verifies that"},
		{loop.Goal{Plan: "the 4 tasks of PLAN.md are done (checks: a; b)", Verify: "make"}, "this loop is done when the 4 tasks of PLAN.md are done (checks: a; b), and this passes: make"},
		{loop.Goal{Promise: "DONE", Verify: "make"}, "this loop is done when the agent says <promise>DONE</promise>, and this passes: make"},
		{loop.Goal{Until: "make", Besides: "the reviewer critic approves"}, "this loop is done when this passes: make; besides: the reviewer critic approves"},
		{loop.Goal{Until: "make", Money: "your budget: $3.00 of $5.00 left today"}, "this loop is done when this passes: make; your budget: $3.00 of $5.00 left today"},
		{loop.Goal{Promise: "DONE", Besides: "the editor shows no new errors"}, "this loop is done when the agent says <promise>DONE</promise>; besides: the editor shows no new errors"},
	} {
		if got := GoalText(tt.goal); got != tt.want {
			t.Errorf("got %q", got)
		}
	}
}

func TestWhatAPromiseIsVerifiedBy(t *testing.T) {
	from := func(g verify.Gate) string { return " (from " + string(g) + ")" }
	all := verify.Check{Command: []string{"go", "test"}, Diagnostics: verify.DiagnosticsNoNew, Protect: []string{"*_test.go"}, Reviewer: "critic"}
	const want = "go test (from command) · the editor shows no new errors (from diagnostics) · no protected file was changed (*_test.go) (from protect) · the reviewer critic approves (from reviewer)"
	if got := VerifiedBy(all, from); got != want {
		t.Errorf("got %q", got)
	}
	if got := VerifiedBy(verify.Check{}, from); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestAReviewIsToldInItsOwnWords(t *testing.T) {
	for want, e := range map[string]loop.Verify{
		"the reviewer critic looks at the work":                    {Gate: verify.ReviewerGate, State: verify.Running, Command: "the reviewer critic"},
		"promised, but the reviewer critic objects: no tests · 0s": {Gate: verify.ReviewerGate, State: verify.Refuted, Command: "the reviewer critic", Promised: true, Why: "objects: no tests"},
		"promised, but that can't be verified: protected files were changed by the loop: a_test.go · 0s": {Gate: verify.ProtectGate, State: verify.Unchecked, Command: "protected files", Promised: true,
			Why: "were changed by the loop: a_test.go"},
	} {
		if got := VerifyText(e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheLineSaysForHowLongItIsVerified(t *testing.T) {
	began := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	now := began.Add(12345 * time.Millisecond)
	st := loop.Status{State: loop.StateRunning, Iteration: 3, Condition: loop.Condition{Refuted: 2}, Work: loop.Work{Tool: &loop.ToolStatus{Call: loop.CheckCall("go test ./..."), StartedAt: began}}}
	for want, at := range map[string]time.Time{"3 · refuted 2x · verifying 12s: go test ./...": now, "3 · refuted 2x · verifying go test ./...": {}} {
		if got := Line(st, nil, at); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	st.Tool = &loop.ToolStatus{Call: loop.CheckCall("")} // another process's
	if got := Line(st, nil, now); got != "3 · refuted 2x · verifying" {
		t.Errorf("got %q", got)
	}
}
