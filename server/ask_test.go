package server

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
	asked messageParams
}

func (e *eagerEditor) Request(_ context.Context, _ string, params, result any) error {
	e.asked = params.(messageParams)
	*result.(**messageItem) = &e.asked.Actions[0]
	return nil
}

func TestTheFirstAnswerOfEachQuestionChangesNothing(t *testing.T) {
	changesNothing := []string{actionDont, actionKeep, actionLater, actionLeave}
	for about, a := range replies {
		ed := &eagerEditor{}
		chosen := dialog{ed, new(atomic.Bool)}.ask(t.Context(), "?", topic(about))
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

// What a loop leaves when the editor goes is no question to that editor.
func TestNobodyIsAskedWhenTheEditorLeaves(t *testing.T) {
	w := &workspace{env: &env{ctx: t.Context()}, asked: map[askedOf]bool{}, folders: map[string]*folder{}}
	left := &seenLoop{}
	f := &folder{workspace: w, path: "/p", seen: left}
	w.folders[f.path] = f
	if f.askOnce(left) == nil {
		t.Error("an open editor isn't asked")
	}
	clear(w.asked)
	w.close()
	if f.askOnce(left) != nil {
		t.Error("it is asked all the same")
	}
}
