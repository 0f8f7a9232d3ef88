package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// What another process met arrives as what it is, in its words, also where it is a part of another error.
func TestErrorsOfAStartArrive(t *testing.T) {
	pi, err := backends.Lookup("pi")
	must.OK(t, err)
	for _, met := range []error{
		&AlreadyRunningError{Folder: "/w", Owner: loopstate.Owner{PID: 7, Host: "h", LoopID: "ralph-a"}},
		&InterruptedError{Path: "/w/.pi/x", State: loopstate.State{LoopID: "ralph-a", Iteration: 3}},
		&CapError{Reason: StopMaxIterations, Used: Limits{MaxIterations: 5}, Limits: Limits{MaxIterations: 5}},
		&backends.NotFoundError{Looked: []backends.Backend{pi}, Path: "/bin"},
		&backends.UnknownError{Name: "po", Known: []string{"pi"}},
		&loopstate.SyntaxError{File: "x", Line: 2, Msg: "no"},
		&loopstate.OutsideError{Path: "x", Target: "/etc"},
	} {
		for _, err := range []error{met, fmt.Errorf("the hat a: %w", met)} {
			data, bad := json.Marshal(ReplyOf(0, err))
			var reply Reply
			if bad == nil {
				bad = json.Unmarshal(data, &reply)
			}
			if bad != nil {
				t.Fatal(bad)
			}
			got := reply.Err()
			held := reflect.New(reflect.TypeOf(met))
			if got == nil || got.Error() != err.Error() || !errors.As(got, held.Interface()) || inJSON(held.Elem().Interface()) != inJSON(met) {
				t.Errorf("%T arrives as %#v: %v", met, got, got)
			}
		}
	}
	for code, known := range codes {
		if got := ReplyOf(0, known).Err(); got != known {
			t.Errorf("%s arrives as %v", code, got)
		}
	}
}

func inJSON(v any) string {
	data, err := json.Marshal(v)
	return fmt.Sprint(string(data), err)
}

// A loop that was left is told with its limits, which its file has and JSON doesn't.
func TestALoopThatWasLeftArrivesWithItsLimits(t *testing.T) {
	folder := t.TempDir()
	file, err := loopstate.Open(folder)
	must.OK(t, err)
	state := loopstate.State{Active: true, Iteration: 3, Prompt: "Do it", LoopID: "ralph-left"}
	state.MaxIterations = new(4)
	must.OK(t, file.Create(state))
	var left *InterruptedError
	data, err := json.Marshal(ReplyOf(0, InTheWay(folder)))
	must.OK(t, err)
	var reply Reply
	must.OK(t, json.Unmarshal(data, &reply))
	if !errors.As(reply.Err(), &left) || left.State.Limits().MaxIterations != 4 || left.State.LoopID != "ralph-left" {
		t.Errorf("%+v", left)
	}
}
