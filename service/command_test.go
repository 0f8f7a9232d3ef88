package service

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// finds is a client that means one loop, or none.
type finds struct {
	Finder
	loop.Handle
}

func (f finds) Driven(context.Context, wire.LoopParams) (loop.Handle, loop.Status, error) {
	if f.Handle == nil {
		return nil, loop.Status{}, loop.ErrNotRunning
	}
	return f.Handle, loop.Status{}, nil
}

// shown is a loop that the client has a window of.
type shown struct {
	here
	owns bool
}

func (s *shown) Cancel() error { return s.hear("cancel") }
func (s *shown) Owns() bool    { return s.owns }

// A cancel ends the loop as its user says, wherever it is driven; where none is, it says so.
func TestALoopIsCancelledAsItIsSaid(t *testing.T) {
	over := driven{now: loop.Status{LoopID: "ralph-1", Folder: "/w/app", State: loop.StateEnded}}
	for _, tt := range []struct {
		when string
		of   interface{ Status() loop.Status }
		want string
	}{
		{"", &far{driven: over, said: "cancelled on the moon"}, "[cancel] far waiting cancelled on the moon"},
		{wire.WhenNow, &shown{here: here{over}, owns: true}, "[cancel] ralph-1 ended "},
		{wire.WhenNow, &shown{here: here{over}}, "[cancel] ralph-1 ended the loop in app is cancelled"},
		{wire.WhenAfterIteration, &shown{here: here{over}}, "[last] ralph-1 ended the loop ends after this iteration"},
		{wire.WhenInterrupt, &shown{here: here{over}}, "[interrupt] ralph-1 ended the loop is being interrupted; it can be resumed"},
		{wire.WhenNow, nil, "[]  idle " + wire.NothingRuns},
		{wire.WhenLeft, nil, "[]  idle " + wire.NothingRuns},
		{wire.WhenAfterIteration, nil, "[]  idle " + wire.NothingRuns},
	} {
		h, _ := tt.of.(loop.Handle)
		result, err := Commands{&Service{}, finds{Handle: h}}.Cancel(t.Context(), wire.CancelParams{When: tt.when})
		var heard []string
		switch l := tt.of.(type) {
		case *far:
			heard = l.heard
		case *shown:
			heard = l.heard
		}
		if got := fmt.Sprint(heard, " ", result.LoopID, " ", result.State, " ", result.Text); err != nil || got != tt.want {
			t.Errorf("%q: %q, %v, want %q", tt.when, got, err, tt.want)
		}
	}
	_, err := Commands{&Service{}, finds{Handle: &far{driven: over}}}.Cancel(t.Context(), wire.CancelParams{When: wire.WhenLeft})
	if f := FailureOf(err); f == nil || f.Reason != wire.ReasonElsewhere {
		t.Errorf("what is left of one of another machine: %v", err)
	}
	_, err = Commands{&Service{}, finds{}}.Cancel(t.Context(), wire.CancelParams{When: "soon"})
	if f, ok := errors.AsType[*wire.Failure](err); !ok || f.Key != "when" {
		t.Errorf("soon: %v", err)
	}
	if _, err := (Commands{&Service{}, finds{}}).Cancel(t.Context(), wire.CancelParams{When: wire.WhenInterrupt}); !errors.Is(err, loop.ErrNotRunning) {
		t.Errorf("an interrupt of none: %v", err)
	}
}

// A prompt of blanks changes nothing.
func TestALoopGetsNoEmptyPrompt(t *testing.T) {
	l := &shown{}
	_, err := Commands{&Service{}, finds{Handle: l}}.Update(t.Context(), wire.ChangeParams{Prompt: new(" \n")})
	if !errors.Is(err, loop.ErrEmptyPrompt) || len(l.heard) > 0 {
		t.Errorf("%v, it heard %q", err, l.heard)
	}
}
