package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
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
		{ReasonAlreadyRunning, CommandStart, argument, []string{`{"title":"Cancel It and Start","command":"ralph.loop.start",` + again("replace")}},
		{ReasonInterrupted, CommandStart, argument, []string{
			`{"title":"Resume","command":"ralph.loop.resume","arguments":[{"folder":"file:///w/app"}]}`,
			`{"title":"Discard It and Start","command":"ralph.loop.start",` + again("replace"),
		}},
		{ReasonUntrusted, CommandPlan, json.RawMessage("{}"), []string{`{"title":"Trust It and Go On","command":"ralph.plan","arguments":[{"trust":true}]}`}},
		{ReasonAlreadyRunning, CommandResume, argument, nil},
		{ReasonEmptyPrompt, CommandStart, argument, nil},
		{ReasonUntrusted, CommandStart, json.RawMessage("[]"), nil},
	} {
		var got []string
		for _, offer := range OffersInstead(tt.reason, tt.command, tt.argument) {
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
	if line := StatusOf(s, false).Line; line != "3 · paused · in another process" {
		t.Error(line)
	}
	s.State, s.StopReason = loop.StateInterrupted, loop.StopInterrupted
	if line := StatusOf(s, false).Line; line != "interrupted at 3" {
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
