package setup

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

func TestStrayPromises(t *testing.T) {
	long := "<promise>" + strings.Repeat("x", 2000) + "</promise>"
	for _, tt := range []struct{ prompt, promise, why, offered string }{
		{"Build it", "DONE", "", ""},
		{"Say <promise>DONE</promise>", "DONE", "", ""},
		{"Say <promise>ALL DONE</promise> or <promise>STUCK</promise>", "ALL  DONE", "", ""},
		{"Say <promise>LOOP_COMPLETE</promise>", "", "", ""},
		{long, "", "", ""},
		{"<promise></promise>", "", "", ""},
		{"Say <promise>DONE</promise>", "", "the prompt speaks of <promise>DONE</promise>, but this loop has no promise, so that doesn't end it", "DONE"},
		{"Say <promise>A</promise>, <promise>B</promise>", "", "the prompt has several promises (<promise>A</promise>, <promise>B</promise>), so none of them ends this loop", "A B"},
		{"<promise>A</promise><promise>B</promise><promise>C</promise><promise>D</promise><promise>E</promise>", "Z",
			"the prompt speaks of <promise>A</promise>, <promise>B</promise>, <promise>C</promise> and 2 more, but this loop waits for <promise>Z</promise>", "A B C"},
	} {
		why, offered := StrayPromises(tt.prompt, tt.promise)
		if why != tt.why || strings.Join(offered, " ") != tt.offered {
			t.Errorf("%q: %q, %q", tt.prompt, why, offered)
		}
	}
}

func TestEachRunIsToldHowToFinish(t *testing.T) {
	for _, tt := range []struct {
		name, promise string
		format        decode.Format
		want, not     string
	}{
		{"a promise", "ALL \n DONE", decode.FormatPi, "output <promise>ALL DONE</promise>, on a line of its own, when and only when that statement is true and", "LOOP_COMPLETE"},
		{"no promise", "", decode.FormatPi, "output LOOP_COMPLETE, on a line of its own, when and only when all that the prompt asks for is done and", "<promise>"},
		{"a promise as text", "DONE", decode.FormatText, `the statement "DONE" between an opening and a closing XML tag of the name promise`, "<promise>"},
		{"no promise as text", "", decode.FormatText, "the words LOOP and COMPLETE in capital letters, joined by an underscore", "LOOP_COMPLETE"},
	} {
		cfg := Config{Backend: backends.Custom("/bin/cat", nil, backends.PromptStdin, tt.format)}
		run := Run{Iteration: 1, Prompt: "Build it", Promise: tt.promise}
		if told, _ := cfg.Instruct(run); !strings.Contains(told, tt.want) || strings.Contains(told, tt.not) {
			t.Errorf("%s: %q", tt.name, told)
		}
		cfg.Values.Instruct = new(false)
		if told, _ := cfg.Instruct(run); told != "Build it" {
			t.Errorf("%s, with completion.instruct = false: %q", tt.name, told)
		}
	}
}
