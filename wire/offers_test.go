package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Who is refused is offered the same again with a word more, and no other way
// to do what no word helps with.
func TestOffersInstead(t *testing.T) {
	argument := json.RawMessage(`{"folder":"file:///w/app","prompt":"Build X","maxDurationMs":9007199254740993}`)
	again := func(word string) string {
		return `"arguments":[{"folder":"file:///w/app","maxDurationMs":9007199254740993,"prompt":"Build X","` + word + `":true}]}`
	}
	for _, tt := range []struct {
		reason, command string
		argument        json.RawMessage
		want            []string
	}{
		{wire.ReasonAlreadyRunning, wire.CommandStart, argument, []string{`{"title":"Cancel It and Start","command":"ralph.loop.start",` + again("replace")}},
		{wire.ReasonInterrupted, wire.CommandStart, argument, []string{
			`{"title":"Resume","command":"ralph.loop.resume","arguments":[{"folder":"file:///w/app"}]}`,
			`{"title":"Discard It and Start","command":"ralph.loop.start",` + again("replace"),
		}},
		{wire.ReasonUntrusted, wire.CommandPlan, json.RawMessage("{}"), []string{`{"title":"Trust It and Go On","command":"ralph.plan","arguments":[{"trust":true}]}`}},
		{wire.ReasonAlreadyRunning, wire.CommandResume, argument, nil},
		{wire.ReasonEmptyPrompt, wire.CommandStart, argument, nil},
		{wire.ReasonUntrusted, wire.CommandStart, json.RawMessage("[]"), nil},
	} {
		var got []string
		for _, offer := range wire.OffersInstead(tt.reason, tt.command, tt.argument) {
			got = append(got, string(lsptest.JSON(offer)))
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s of %s:\n%s\nwant\n%s", tt.reason, tt.command, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// The status line says that a loop is another's, once it runs.
func TestALoopOfAnotherProcessIsToldApart(t *testing.T) {
	s := loop.Status{Folder: "/w/app", State: loop.StatePaused, Iteration: 3}
	if line := wire.StatusOf(s, false).Line; line != "3 · paused · in another process" {
		t.Error(line)
	}
	s.State, s.StopReason = loop.StateInterrupted, loop.StopInterrupted
	if line := wire.StatusOf(s, false).Line; line != "interrupted at 3" {
		t.Error(line)
	}
}

// A remedy without a command would be forgotten in silence.
func TestEveryRemedyIsOffered(t *testing.T) {
	examples := exampleEndings()
	for i, e := range loop.Endings() {
		if offers := examples[i].Status.Offers; len(offers) != len(e.Remedies) {
			t.Errorf("%s has the remedies %q and offers %+v", e.Reason, e.Remedies, offers)
		}
	}
}
