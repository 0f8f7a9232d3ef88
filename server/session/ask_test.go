package session

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
)

// eagerEditor is one whose user presses Return whatever is asked.
type eagerEditor struct {
	clienttest.Editor
	asked MessageParams
}

func (e *eagerEditor) Request(_ context.Context, _ string, params, result any) error {
	e.asked = params.(MessageParams)
	*result.(**MessageItem) = &e.asked.Actions[0]
	return nil
}

func TestTheFirstAnswerOfEachQuestionChangesNothing(t *testing.T) {
	changesNothing := []string{ActionDont, ActionKeep, ActionLater, ActionLeave}
	for about, a := range replies {
		ed := &eagerEditor{}
		chosen := Dialog{ed, new(atomic.Bool)}.Ask(t.Context(), "?", topic(about))
		if !slices.Contains(changesNothing, chosen) || chosen != a.safe || len(ed.asked.Actions) != 1+len(a.others) || len(a.others) == 0 {
			t.Errorf("question %d: %q of %+v", about, chosen, ed.asked)
		}
		for i, other := range a.others {
			if slices.Contains(changesNothing, other) || ed.asked.Actions[1+i].Title != other {
				t.Errorf("question %d: %s in %+v", about, other, ed.asked)
			}
		}
	}
}
