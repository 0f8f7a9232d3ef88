package loopstate

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestANewFileHasTheFiveKeysFirst(t *testing.T) {
	s := readable["ours.md"]
	want := must.Read(t, filepath.Join(testdata, "ours.md"))
	if diff := cmp.Diff(string(want), Whole(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	bare := State{Active: true, Iteration: 1, Prompt: "Go.\n"}
	wantBare := "---\nactive: true\niteration: 1\nmax_iterations: 50\ncompletion_promise: null\nstarted_at: null\n---\n\nGo.\n"
	if diff := cmp.Diff(wantBare, string(NewDocument(bare).Bytes())); diff != "" {
		t.Errorf("without optional keys: -want +got:\n%s", diff)
	}
}

func TestAChangeTouchesOnlyItsKeys(t *testing.T) {
	tests := []struct {
		name   string
		before string
		change func(*State)
		after  string
	}{
		{"the next iteration of a hand-written file",
			"---\n# mine\nmax_iterations: '5'\nowner: me # who\niteration:  2   # now\n\nactive: yes\n---\nGo.",
			func(s *State) { s.Iteration = 3 },
			"---\n# mine\nmax_iterations: '5'\nowner: me # who\niteration: 3   # now\n\nactive: yes\n---\nGo."},
		{"line endings stay CRLF",
			"\uFEFF---\r\niteration: 2 # now\r\n---\r\n\r\nGo.\r\n",
			func(s *State) { s.Iteration = 3; s.BackendArgs = []string{"a", "b"} },
			"\uFEFF---\r\niteration: 3 # now\r\nbackend_args:\r\n  - \"a\"\r\n  - \"b\"\r\n---\r\n\r\nGo.\r\n"},
		{"missing keys take their place at the top",
			"---\nowner: me\nmax_iterations: 9\n---\nGo.",
			func(s *State) {
				s.Active, s.Iteration, s.Promise, s.LoopID, s.MaxCostUSD = false, 2, new("OK"), "x", new(0.5)
			},
			"---\nactive: false\niteration: 2\nowner: me\nmax_iterations: 9\ncompletion_promise: \"OK\"\nloop_id: \"x\"\nmax_cost_usd: 0.5\n---\nGo."},
		{"a default that nobody wrote isn't written",
			"---\n---\nGo.",
			func(s *State) { s.Active, s.Iteration, s.MaxIterations = true, 1, nil },
			"---\n---\nGo."},
		{"a list that is cleared goes, comments around it stay",
			"---\n# before\nbackend_args:\n- a\n\n# in between\n- b\n# behind\nhat: h\n---\nGo.",
			func(s *State) { s.BackendArgs = nil },
			"---\n# before\n# behind\nhat: h\n---\nGo."},
		{"a key that is cleared goes",
			"---\nstarted_at: 2026-01-02T17:35:07Z\nmodel: m\nhat: h\n---\nGo.",
			func(s *State) { s.Model = "" },
			"---\nstarted_at: 2026-01-02T17:35:07Z\nhat: h\n---\nGo."},
		{"a promise that is cleared becomes null",
			"---\ncompletion_promise: \"say \"hi\"\" # greet\n---\nGo.",
			func(s *State) { s.Promise = nil },
			"---\ncompletion_promise: null # greet\n---\nGo."},
		{"an empty value keeps its comment",
			"---\nhat: # none yet\n---\nGo.",
			func(s *State) { s.Hat = "builder" },
			"---\nhat: \"builder\" # none yet\n---\nGo."},
		{"an unknown key that isn't YAML",
			"---\nweird: [unclosed \"\n  more: {\niteration: 1\nstray line\n---\nGo.",
			func(s *State) { s.Iteration = 2 },
			"---\nweird: [unclosed \"\n  more: {\niteration: 2\nstray line\n---\nGo."},
		{"a new prompt that starts with a blank line",
			"---\niteration: 1\n---\nGo.",
			func(s *State) { s.Prompt = "\nGo on." },
			"---\niteration: 1\n---\n\n\nGo on."},
		{"the prompt's own front matter is prompt",
			"---\niteration: 1\n---\n\n---\niteration: 9\n---\n",
			func(s *State) { s.Iteration = 2 },
			"---\niteration: 2\n---\n\n---\niteration: 9\n---\n"},
		{"a stray line at the top stays stray",
			"---\n# top\n  stray: 1\n---\nGo.",
			func(s *State) { s.Iteration = 2 },
			"---\n# top\n  stray: 1\niteration: 2\n---\nGo."},
		{"a comment doesn't fall into the text above it",
			"---\ncompletion_promise: |\n  done\nhat: h\n  # comment\n---\nGo.",
			func(s *State) { s.Hat = "" },
			"---\ncompletion_promise: |\n  done\nhat: null\n  # comment\n---\nGo."},
		{"a time that only looks different stays",
			"---\nstarted_at: 2026-01-02 18:35:07+01:00\nmax_duration: 4h0m0s\nmax_cost_usd: 5.00\n---\nGo.",
			func(s *State) {
				s.StartedAt, s.MaxDuration, s.MaxCostUSD = date("2026-01-02T17:35:07Z"), new(limits.Duration(4*time.Hour)), new(5.0)
			},
			"---\nstarted_at: 2026-01-02 18:35:07+01:00\nmax_duration: 4h0m0s\nmax_cost_usd: 5.00\n---\nGo."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := parse(t, tt.before)
			s := doc.State()
			tt.change(&s)
			doc.Set(s)
			if diff := cmp.Diff(tt.after, string(doc.Bytes())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(s, parse(t, string(doc.Bytes())).State()); diff != "" {
				t.Errorf("read again: -want +got:\n%s", diff)
			}
		})
	}
}

func TestPromisesAsPeopleWriteThem(t *testing.T) {
	tests := []struct{ written, want string }{
		{`DONE`, "DONE"},
		{`"DONE"`, "DONE"},
		{`'DONE'`, "DONE"},
		{`"DONE" # when it is`, "DONE"},
		{`all tests pass`, "all tests pass"},
		{`null`, ""},
		{`~`, ""},
		{``, ""},
		{`""`, ""},
		{`"null"`, "null"},
		{`"true"`, "true"},
		{`true`, "true"},
		{`42`, "42"},
		{`"say "hi""`, `say "hi"`},
		{`"say "hi"" # greet`, `say "hi"`},
		{`'it's done'`, "it's done"},
		{`"a\nb"`, "a\nb"},
		{`"C:\dir"`, `C:\dir`},
		{`"\d+ done"`, `\d+ done`},
		{`TASK: done`, "TASK: done"},
		{`[x] done`, "[x] done"},
		{`[done]`, "[done]"},
		{`@done`, "@done"},
		{`*done*`, "*done*"},
		{`"`, `"`},
		{`"half`, `"half`},
		{"\ttabbed", "tabbed"},
		{"bell \a rings", "bell \a rings"},
		{"|\n  first\n  # second\n", "first\n# second\n"},
		{"all\n  of it", "all of it"},
	}
	for _, tt := range tests {
		t.Run(tt.written, func(t *testing.T) {
			doc := parse(t, "---\ncompletion_promise: "+tt.written+"\n---\nGo.")
			if got := doc.State().CompletionPromise(); got != tt.want {
				t.Errorf("promise %q, want %q", got, tt.want)
			}
		})
	}
}

func TestKeysAsPeopleWriteThem(t *testing.T) {
	for _, line := range []string{
		"iteration: 7", "iteration:7", "iteration:    7", "iteration : 7", `"iteration": 7`, `iteration: "7"`,
		"iteration: '7'", "iteration:\t7", "iteration: 7 # seven", "iteration: +7", "iteration:\n  7",
	} {
		t.Run(line, func(t *testing.T) {
			if got := parse(t, "---\n"+line+"\n---\nGo.").State().Iteration; got != 7 {
				t.Errorf("iteration %d, want 7", got)
			}
		})
	}
}

func TestListsAsPeopleWriteThem(t *testing.T) {
	tests := []struct {
		written string
		want    []string
	}{
		{"", nil},
		{" null", nil},
		{" []", nil},
		{" one text", []string{"one text"}},
		{` "say "hi""`, []string{`say "hi"`}},
		{" [a, 'b', 3]", []string{"a", "b", "3"}},
		{"\n- a\n-\n- ~\n# comment\n- b", []string{"a", "", "", "b"}},
		{"\n\n  - |\n    two\n    lines\n  - b", []string{"two\nlines\n", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.written, func(t *testing.T) {
			doc := parse(t, "---\nbackend_args:"+tt.written+"\niteration: 2\n---\nGo.")
			if diff := cmp.Diff(tt.want, doc.State().BackendArgs); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if doc.State().Iteration != 2 {
				t.Error("the key behind it was not read")
			}
		})
	}
	_, err := Parse([]byte("---\nbackend_args: {a: 1,\n  b: 2}\n---\nGo."))
	wantError(t, err, ":2: backend_args is not a list of texts")
}

func TestTheFencesAndTheBlankLine(t *testing.T) {
	tests := []struct{ name, file, prompt string }{
		{"trailing blanks", "---  \niteration: 1\n---\t\n\nGo.", "Go."},
		{"two blank lines: the second is the prompt's", "---\n---\n\n\nGo.", "\nGo."},
		{"a line of blanks is the prompt's", "---\n---\n \nGo.", " \nGo."},
		{"four dashes are no fence", "---\n----\n---\nGo.", "Go."},
		{"no final newline", "---\n---\nGo.", "Go."},
		{"mixed line endings", "---\r\n---\n\r\nGo.\r", "Go.\r"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := parse(t, tt.file)
			if got := doc.State().Prompt; got != tt.prompt {
				t.Errorf("prompt %q, want %q", got, tt.prompt)
			}
			if got := string(doc.Bytes()); got != tt.file {
				t.Errorf("bytes %q, want %q", got, tt.file)
			}
		})
	}
}

func TestProblemsAreNamedWithTheirLine(t *testing.T) {
	doc := parse(t, `---
max-iterations: 5
# fine
session_id: abc
Iteration: 3

completion_promse: DONE
a stray line
favourite_colour: blue
: 3
---
Go.`)
	want := []Problem{
		{2, "max-iterations", "max_iterations", "max-iterations is not a known key, it is ignored; did you mean max_iterations?"},
		{5, "Iteration", "iteration", "Iteration is not a known key, it is ignored; did you mean iteration?"},
		{7, "completion_promse", "completion_promise", "completion_promse is not a known key, it is ignored; did you mean completion_promise?"},
		{8, "", "", `this line belongs to no key; write "key: value"`},
		{9, "favourite_colour", "", "favourite_colour is not a known key, it is ignored"},
		{10, "", "", `this line belongs to no key; write "key: value"`},
	}
	if diff := cmp.Diff(want, doc.Problems()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAStateSharesNothingWithItsDocument(t *testing.T) {
	doc := parse(t, Whole(readable["ours.md"]))
	before := string(doc.Bytes())
	s := doc.State()
	s.Queued[0], s.BackendArgs[0], s.Cost.USD, *s.MaxFailures = "new", "--new", 9, 9
	doc.Set(s)
	if string(doc.Bytes()) == before {
		t.Error("a change made in place was not noticed")
	}
}

func TestAMegabyteOfPromptAndFrontMatter(t *testing.T) {
	prompt := strings.Repeat("---\niteration: 9\n\x00\xff\r\n", 1<<20/20)
	front := strings.Repeat("# comment\n\nunknown: value\n  continued\n", 1<<20/40)
	doc := parse(t, "---\n"+front+"iteration: 2\n---\n\n"+prompt)
	if doc.State().Prompt != prompt || doc.State().Iteration != 2 {
		t.Error("prompt or iteration differ")
	}
}

func parse(t *testing.T, text string) *Document {
	t.Helper()
	doc, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return doc
}

func TestEachLimitHasAKey(t *testing.T) {
	for _, limit := range limits.All() {
		if fieldOf(limit.Key) == nil {
			t.Errorf("the state file doesn't know %s", limit.Key)
		}
	}
}

func TestWhereTheKeysStand(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"---\na: 1 # c\n", "a=1"},
		{"\uFEFF---\r\na: \"b # c\" # \"d\"\r\n---\r\nprompt: x", `a="b # c"`},
		{"---\nlist: # c\n  - a: 1\n- b: 2\ntext: |\n  # c: 1\n---\n", "list= text=|"},
		{"---\n# c: 1\n'max' : \"say \"hi\"\" # c\niter\n---\n", `max="say "hi"" iter?`},
		{"---\na: it's # no\n---\n", "a=it's"},
		{"no front", "none"},
		{"---", "none"},
	} {
		front, ok := FrontOf(tt.text)
		var got []string
		for _, l := range front.Lines {
			line := l.Key + "?"
			if l.Colon >= 0 {
				line = l.Key + "=" + tt.text[l.ValueStart:l.ValueEnd]
			}
			if at, found := front.LineAt(l.KeyStart); !found || at != l || strings.Trim(tt.text[l.KeyStart:l.KeyEnd], "'") != l.Key {
				t.Errorf("%q: %s stands at %d to %d", tt.text, l.Key, l.KeyStart, l.KeyEnd)
			}
			got = append(got, line)
		}
		if !ok {
			got = []string{"none"}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
