package loop

import (
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// What an owner's record says that is asked may be anybody's.
func TestQuestionsOfAnOwnersRecord(t *testing.T) {
	q := ask.Question{ID: "q1", Kind: ask.Permission, Title: "Bash git push"}
	owner := loopstate.Owner{Questions: []string{"{", "{}", q.ForFile()}, Allowed: []string{"Bash(ls)"}}
	status := StatusOf(loopstate.State{Active: true}, "", "", true)
	status.show(owner)
	if status.State != StateWaiting || len(status.Questions) != 1 || status.Questions[0].Title != q.Title || len(status.Allowed) != 1 {
		t.Errorf("it shows as %+v", status)
	}
	owner.Questions = slices.Repeat([]string{q.ForFile()}, ask.MaxQuestions+1)
	if n := len(questionsOf(owner)); n != ask.MaxQuestions {
		t.Errorf("%d questions", n)
	}
}

func TestStateInTheFile(t *testing.T) {
	for name, tt := range map[string]struct {
		reason        StopReason
		active, owned bool
		want          State
	}{
		"nobody's, failed":                 {StopFailures, false, false, StateFailed},
		"nobody's, failed and made active": {StopStalled, true, false, StateFailed},
		"nobody's, refused":                {StopPermissionDenied, false, false, StateFailed},
		"nobody's":                         {"", true, false, StateInterrupted},
		"nobody's, paused":                 {"", false, false, StateInterrupted},
		"a reason that leaves no file":     {StopMaxCost, true, false, StateInterrupted},
		"a reason of the future":           {"tired", true, false, StateInterrupted},
		"its owner is about to go":         {StopFailures, false, true, StateFailed},
		"a planted reason":                 {StopFailures, true, true, StateRunning},
		"paused":                           {"", false, true, StatePaused},
		"running":                          {"", true, true, StateRunning},
	} {
		t.Run(name, func(t *testing.T) {
			s := loopstate.State{Active: tt.active, Iteration: 3, StopReason: string(tt.reason), StopError: "why"}
			got := StatusOf(s, "f", "/w", tt.owned)
			if got.State != tt.want || (got.Error != "") != (tt.want == StateFailed) || got.Iteration != 3 {
				t.Errorf("got %s %q", got.State, got.Error)
			}
		})
	}
}
