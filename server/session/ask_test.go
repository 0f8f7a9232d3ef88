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
	for _, about := range []Topic{AboutTrust, AboutReplacing, AboutLeftBehind, AboutUndoing, AboutDiscarding} {
		ed := &eagerEditor{}
		chosen := Dialog{ed, new(atomic.Bool)}.Ask(t.Context(), "?", about)
		if !slices.Contains(changesNothing, chosen) || chosen != about[0] || len(ed.asked.Actions) != len(about) || len(about) < 2 {
			t.Errorf("%q: %q of %+v", about, chosen, ed.asked)
		}
		for i, other := range about[1:] {
			if slices.Contains(changesNothing, other) || ed.asked.Actions[1+i].Title != other {
				t.Errorf("%q: %s in %+v", about, other, ed.asked)
			}
		}
	}
}
