package loopstate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

const testdata = "../testdata/state"

// readable says what each readable file of testdata/state means.
var readable = map[string]State{
	"plugin.md": {
		Active: true, Iteration: 1, Values: settings.Values{Given: limits.Given{MaxIterations: new(0), Promise: new("TASK COMPLETE")}},
		StartedAt: date("2026-01-02T17:35:07Z"),
		Prompt:    "Build a REST API for todos. Output <promise>TASK COMPLETE</promise> when done.\n",
	},
	"plugin_session.md": {
		Active: true, Iteration: 7, Values: settings.Values{Given: limits.Given{MaxIterations: new(20)}},
		StartedAt: date("2026-03-14T08:00:00Z"),
		Prompt:    "Fix the flaky tests in ./store\n",
	},
	"plugin_quotes.md": {
		Active: true, Iteration: 2, Values: settings.Values{Given: limits.Given{MaxIterations: new(10), Promise: new(`say "hi" & it's \d+`)}},
		StartedAt: date("2026-01-02T17:35:07Z"),
		Prompt:    "Greet.\n",
	},
	"pi_tool.md": {
		Active: true, Iteration: 3, Values: settings.Values{Given: limits.Given{MaxIterations: new(50), Promise: new("DONE")}},
		StartedAt: date("2026-01-02T17:35:07.25Z"),
		Prompt:    "Write the docs.",
	},
	"handwritten.md": {
		Active: true, Iteration: 4, Values: settings.Values{Given: limits.Given{Promise: new("it's done"), MaxIterations: new(12), MaxDuration: new(limits.Duration(90 * time.Minute))}},
		AgentChoice: AgentChoice{BackendArgs: []string{"--keep-it-small", "--no-new: ask first"}},
		Prompt:      "Tidy up.\n\n---\niteration: 99\n---\n\nThe lines above are part of the prompt.\n",
	},
	"prompt_only_keys_missing.md": {
		Active: true, Iteration: 1,
		Prompt: "Just do it.\n",
	},
	"ours.md": {
		Active: false, Iteration: 5, Values: settings.Values{Given: limits.Given{Promise: new(`all "green"`), MaxIterations: new(50), MaxCostUSD: new(5.0), MaxDuration: new(limits.Duration(4 * time.Hour)), IdleTimeout: new(limits.Duration(10 * time.Minute)), MaxFailures: new(5), MaxUnchanged: new(8)}},
		StartedAt: date("2026-01-02T17:35:07Z"),
		LoopID:    "01JGKX", AgentChoice: AgentChoice{Backend: "pi", Hat: "builder", Model: "claude-sonnet-4", BackendArgs: []string{"--thinking", "medium"}},
		Spent:       Spent{Cost: stream.USD(1.42), Elapsed: time.Hour + 2*time.Minute + 3500*time.Millisecond},
		ResumeAt:    date("2026-01-02T18:00:00Z"),
		Failed:      Failed{StopReason: "failures", StopError: "500 overloaded", StoppedAt: date("2026-01-02T19:00:00Z")},
		Steering:    Steering{Queued: []string{"use the table\nin docs/"}},
		SessionFile: "/home/me/.pi/agent/sessions/x.jsonl",
		Prompt:      "Make every test green.\n",
	},
	"windows_editor.md": {
		Active: true, Iteration: 2, Values: settings.Values{Given: limits.Given{MaxIterations: new(5), Promise: new("DONE")}},
		StartedAt: date("2026-01-02T17:35:07Z"),
		Prompt:    "First line\r\nsecond line\r\n",
	},
	"invalid_utf8_prompt.md": {
		Active: true, Iteration: 1,
		Prompt: "caf\xe9 \xff\x00 end",
	},
}

// damaged says what is wrong with each file of testdata/state that isn't
// readable: the line, and a part of the message.
var damaged = map[string]struct {
	line int
	msg  string
}{
	"damaged_empty.md":                   {1, `the first line is not "---"`},
	"damaged_no_front_matter.md":         {1, `the first line is not "---"`},
	"damaged_not_closed.md":              {1, `put a line of "---" between the keys and the prompt`},
	"damaged_iteration_word.md":          {3, `iteration is "abc"; write a whole number`},
	"damaged_iteration_negative.md":      {5, `iteration is "-1"; write a whole number`},
	"damaged_max_iterations_fraction.md": {2, `max_iterations is "2.5"; write a whole number`},
	"damaged_active.md":                  {2, `active is "maybe"; write true or false`},
	"damaged_no_prompt.md":               {5, `there is no prompt`},
	"damaged_twice.md":                   {4, `iteration is already set in line 2`},
	"damaged_duration.md":                {2, `max_duration is "4 hours"; write a duration such as`},
	"damaged_date.md":                    {2, `started_at is "yesterday"; write a time such as`},
	"damaged_cost.md":                    {2, `max_cost_usd is "5 dollars"; write an amount in US dollars`},
	"damaged_record.md":                  {3, `record isn't what ralph-lsp has written there; remove it`},
	"damaged_record_negative.md":         {2, `record isn't what ralph-lsp has written there; remove it`},
	"damaged_list.md":                    {2, `backend_args is not a list of texts`},
	"damaged_indented_key.md":            {2, `iteration is not a text`},
}

func TestStateFilesAsTheyAreFound(t *testing.T) {
	for name, data := range stateFiles(t) {
		t.Run(name, func(t *testing.T) {
			doc, err := Parse(data)
			if want, ok := damaged[name]; ok {
				syntax, ok := errors.AsType[*SyntaxError](err)
				if !ok {
					t.Fatalf("error %v, want a *SyntaxError", err)
				}
				if syntax.Line != want.line || !strings.Contains(syntax.Msg, want.msg) {
					t.Errorf("error %q, want line %d and %q", syntax, want.line, want.msg)
				}
				return
			}
			want, ok := readable[name]
			if !ok {
				t.Fatal("no table says what this file means")
			}
			must.OK(t, err)
			if diff := cmp.Diff(want, doc.State()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			doc.Set(doc.State())
			if diff := cmp.Diff(string(data), string(doc.Bytes())); diff != "" {
				t.Errorf("changed by being read:\n%s", diff)
			}
		})
	}
	for name := range readable {
		if _, ok := stateFiles(t)[name]; !ok {
			t.Errorf("%s is gone", name)
		}
	}
	for name := range damaged {
		if _, ok := stateFiles(t)[name]; !ok {
			t.Errorf("%s is gone", name)
		}
	}
}

// stateFiles returns the files of testdata/state by their names.
func stateFiles(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testdata, "*.md"))
	must.OK(t, err)
	files := map[string][]byte{}
	for _, path := range paths {
		if filepath.Base(path) == "README.md" {
			continue
		}
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatalf("no state files in %s", testdata)
	}
	return files
}

func date(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}
