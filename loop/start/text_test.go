package start

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text, prompt, promise string
		iterations            int
		problem               string
	}{
		{text: `/ralph-loop "Build X" --completion-promise "DONE" --max-iterations=20`, prompt: "Build X", promise: "DONE", iterations: 20},
		{text: `Build X --max-iterations 5`, prompt: "Build X", iterations: 5},
		{text: `--max-iterations=5 Build it --completion-promise ALL\ DONE now`, prompt: "Build it now", promise: "ALL DONE", iterations: 5},
		{text: "Fix  the\n\nbug & keep $HOME # really", prompt: "Fix  the\n\nbug & keep $HOME # really"},
		{text: `"don't" 'say "hi"' C:\\temp`, prompt: `don't say "hi" C:\temp`},
		{text: `"a\nb \"c\" \\"`, prompt: `a\nb "c" \`},
		{text: `x -- --max-iterations 5`, prompt: "x --max-iterations 5"},
		{text: `b --model b b`, prompt: "b b"},
		{text: `--max-iterations 5`, iterations: 5},
		{text: `naïve 日本語 ""`, prompt: "naïve 日本語 "},
		{text: "", prompt: ""},
		{text: `Build X --max-iteration 5`, problem: "did you mean --max-iterations"},
		{text: `Build X --max-iterations=many`, problem: `"many" is not a whole number`},
		{text: `Build X --completion-promise`, problem: "needs a value"},
		{text: `don't`, problem: "never closed"},
		{text: `x \`, problem: "backslash"},
		{text: `x -q`, problem: "unknown flag -q"},
		{text: `--help`, problem: "ralph.help"},
	} {
		r, err := Parse(tt.text)
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: got %v, want %s", tt.text, err, tt.problem)
			}
			continue
		}
		promise, iterations := "", 0
		if r.Limits.Promise != nil {
			promise = *r.Limits.Promise
		}
		if r.Limits.MaxIterations != nil {
			iterations = *r.Limits.MaxIterations
		}
		if err != nil || r.Prompt != tt.prompt || promise != tt.promise || iterations != tt.iterations {
			t.Errorf("%s: got %q, %q, %d, %v", tt.text, r.Prompt, promise, iterations, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`/ralph-loop "Build X" --completion-promise "DONE" --max-iterations=20`)
	f.Add(`a --model a a -- b`)
	f.Add(`'`)
	f.Fuzz(func(t *testing.T, text string) { Parse(text) })
}
