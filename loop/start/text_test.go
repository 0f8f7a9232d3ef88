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
		{text: `"don't" 'say "hi"' C:\\temp`, prompt: `"don't" 'say "hi"' C:\\temp`},
		{text: `"a\nb \"c\" \\"`, prompt: `a\nb "c" \`},
		{text: `x -- --max-iterations 5`, prompt: "x --max-iterations 5"},
		{text: `b --model b b`, prompt: "b b"},
		{text: `--max-iterations 5`, iterations: 5},
		{text: `naïve 日本語 ""`, prompt: `naïve 日本語 ""`},
		{text: "", prompt: ""},
		{text: `""`, prompt: ""},
		{text: `Don't break the API`, prompt: `Don't break the API`},
		{text: `Rename "foo" to "bar"`, prompt: `Rename "foo" to "bar"`},
		{text: `"foo" and "bar"`, prompt: `"foo" and "bar"`},
		{text: `split at \n  and\t`, prompt: `split at \n  and\t`},
		{text: "one  two - three ", prompt: "one  two - three"},
		{text: ` /ralph-loop "Build \"X\" \n" --no-instruct`, prompt: `Build "X" \n`},
		{text: `--max-cost=2 /ralph-loop Build /ralph-loop`, prompt: `Build /ralph-loop`},
		{text: `'agent: hang'`, prompt: `agent: hang`},
		{text: `--model 'a b' Don't  stop --max-iterations=2 now`, prompt: `Don't  stop now`, iterations: 2},
		{text: `-- --max-cost=2 "x" `, prompt: `--max-cost=2 "x"`},
		{text: `one -- "two"`, prompt: `one "two"`},
		{text: `"one" -- "two"`, prompt: `"one" "two"`},
		{text: `-- "two"`, prompt: `"two"`},
		{text: `--no-instruct Build it`, prompt: `Build it`},
		{text: `/ralph-loops are here`, prompt: `/ralph-loops are here`},
		{text: `"`, prompt: `"`},
		{text: `"it" --max-iterations=2 'is'`, prompt: `"it" 'is'`, iterations: 2},
		{text: `Run "ls -la" and describe`, prompt: `Run "ls -la" and describe`},
		{text: `"ls  -la" is it, --max-iterations=2 not 'rm  -r'`, prompt: `"ls  -la" is it, not 'rm  -r'`, iterations: 2},
		{text: `Run (x="a \" -- b") now --max-iterations=2`, prompt: `Run (x="a \" -- b") now`, iterations: 2},
		{text: `Don't stop --max-iterations=2 at the user's API`, prompt: `Don't stop at the user's API`, iterations: 2},
		{text: `Say 'don't -x' and "go --max-iterations=2`, prompt: `Say 'don't -x' and "go`, iterations: 2},
		{text: `'don't stop'`, prompt: `'don't stop'`},
		{text: `a 5" pipe --max-iterations=2 a 6" pipe`, prompt: `a 5" pipe a 6" pipe`, iterations: 2},
		{text: `Build X --max-iteration 5`, problem: "did you mean --max-iterations"},
		{text: `Build X --max-iterations=many`, problem: `--max-iterations is "many"; write a whole number`},
		{text: `Build X --completion-promise`, problem: "needs a value"},
		{text: `Build --completion-promise don't`, problem: "never closed"},
		{text: `Build --completion-promise x\`, problem: "backslash"},
		{text: `x -q`, problem: "unknown flag -q; see /ralph-help"},
		{text: `--help`, problem: "say /ralph-help"},
	} {
		r, err := Parse(tt.text)
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: got %v, want %s", tt.text, err, tt.problem)
			}
			continue
		}
		promise, iterations := "", 0
		if r.Promise != nil {
			promise = *r.Promise
		}
		if r.MaxIterations != nil {
			iterations = *r.MaxIterations
		}
		if err != nil || r.Prompt != tt.prompt || promise != tt.promise || iterations != tt.iterations {
			t.Errorf("%s: got %q, %q, %d, %v", tt.text, r.Prompt, promise, iterations, err)
		}
	}
}

// A text of many quotes that close nowhere is read in one go.
func TestParseManyOpenQuotes(t *testing.T) {
	text := strings.Repeat(`'a b"c "d `, 100_000)
	if r, err := Parse(text); err != nil || r.Prompt != strings.TrimSpace(text) {
		t.Errorf("%d bytes, %v", len(r.Prompt), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`/ralph-loop "Build X" --completion-promise "DONE" --max-iterations=20`)
	f.Add(`a --model a a -- b`)
	f.Add(`'`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if _, again := Parse("-- " + r.Prompt); again != nil {
			t.Errorf("%q became %q, which isn't a text of its own: %v", text, r.Prompt, again)
		}
		if plain := strings.TrimSpace(text); !strings.ContainsAny(text, "-\"'/") && (err != nil || r.Prompt != plain) {
			t.Errorf("%q became %q, %v", text, r.Prompt, err)
		}
	})
}
