package start

import (
	"strings"
	"testing"
)

func TestSlashCommands(t *testing.T) {
	for text, want := range map[string]Request{
		"/cancel-ralph":                             {Slash: SlashCancel},
		" /cancel-ralph\n":                          {Slash: SlashCancel},
		"--backend=pi /ralph-help":                  {Slash: SlashHelp},
		"'/ralph-help'":                             {Slash: SlashHelp},
		"/ralph-loop":                               {},
		"/ralph-loop Build X":                       {Prompt: "Build X"},
		`'/ralph-loop "Build X"'`:                   {Prompt: "Build X"},
		"/ralph-loop -- /cancel-ralph":              {Prompt: "/cancel-ralph"},
		"-- /cancel-ralph":                          {Prompt: "/cancel-ralph"},
		"-- /ralph-loop x":                          {Prompt: "/ralph-loop x"},
		"/ralph-loops x":                            {Prompt: "/ralph-loops x"},
		"Mend /cancel-ralph":                        {Prompt: "Mend /cancel-ralph"},
		"/ralph-loop /cancel-ralph is to be faster": {Prompt: "/cancel-ralph is to be faster"},
	} {
		got, err := Parse(text)
		if err != nil || got.Prompt != want.Prompt || got.Slash != want.Slash {
			t.Errorf("%q: got %q, %q, %v; want %q, %q", text, got.Prompt, got.Slash, err, want.Prompt, want.Slash)
		}
	}
	for _, text := range []string{"/cancel-ralph now", "/ralph-help me --max-iterations 3"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "takes nothing after it; put a prompt that begins so after --") {
			t.Errorf("%q: %v", text, err)
		}
	}
	r, err := Parse(`'/ralph-loop "Build X" --max-iterations 3'`)
	if err != nil || r.MaxIterations == nil || *r.MaxIterations != 3 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestAPromptFileIsNoCommand(t *testing.T) {
	for prompt, ok := range map[string]bool{
		"/cancel-ralph": false, "\n/ralph-help \n": false, "/ralph-loop": false,
		"/ralph-loop Build X": true, "/cancel-ralph is slow\nMend it": true, "Build X": true, "": true,
	} {
		err := CheckFile("PROMPT.md", prompt)
		if (err == nil) != ok || err != nil && !strings.HasPrefix(err.Error(), "PROMPT.md says "+strings.TrimSpace(prompt)+" and nothing else") {
			t.Errorf("%q: %v", prompt, err)
		}
	}
}

func TestWordsOfACommandLine(t *testing.T) {
	for _, tt := range []struct {
		words      []string
		prompt     string
		iterations int
		slash      Slash
	}{
		{words: []string{"Build", "X"}, prompt: "Build X"},
		{words: []string{" a\n  b\t"}, prompt: " a\n  b\t"},
		{words: []string{"it's", "--max-iterations", "3"}, prompt: "it's --max-iterations 3"},
		{words: []string{`/ralph-loop "Build X" --max-iterations 3`}, prompt: "Build X", iterations: 3},
		{words: []string{"/ralph-loop Build", "X"}, prompt: "Build X"},
		{words: []string{"/ralph-loop", `say "hi" --max-iterations 3`}, prompt: `say "hi" --max-iterations 3`},
		{words: []string{"/cancel-ralph"}, slash: SlashCancel},
		{words: []string{"/ralph-help"}, slash: SlashHelp},
		{},
	} {
		r, err := FromWords(tt.words)
		iterations := 0
		if r.MaxIterations != nil {
			iterations = *r.MaxIterations
		}
		if err != nil || r.Prompt != tt.prompt || iterations != tt.iterations || r.Slash != tt.slash {
			t.Errorf("%q: got %q, %d, %q, %v", tt.words, r.Prompt, iterations, r.Slash, err)
		}
	}
	if _, err := FromWords([]string{"/cancel-ralph", "now"}); err == nil {
		t.Error("words behind a cancel are no error")
	}
}
