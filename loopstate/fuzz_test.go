package loopstate

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// FuzzRoundTrip writes any state and reads it back.
func FuzzRoundTrip(f *testing.F) {
	f.Add(true, 1, 50, "DONE", int64(1767375307), "pi", 1.5, int64(time.Hour), "--a\nb", "Build it.\n")
	f.Add(false, 0, 0, "null", int64(0), "true", 0.0, int64(0), "", "---\niteration: 9\n---\n")
	f.Add(true, 3, 7, " \"say \\\"hi\" # no ", int64(-1), "'\u0085\u2028\ufeff", 1e300, int64(1), "- a: b", "\n\r\n\xff")
	f.Add(true, 3, 7, "|", int64(1)<<40, ">-", 1e-300, int64(math.MaxInt64), "\x00\x7f\U0001f600", "\r\n.")
	f.Fuzz(func(t *testing.T, active bool, iteration, limit int, promise string, seconds int64, text string, usd float64, nanos int64, item, prompt string) {
		started := time.Unix(seconds, nanos%1e9).UTC()
		switch {
		case iteration < 0, limit < 0, nanos < 0, strings.TrimSpace(prompt) == "", !(usd >= 0), math.IsInf(usd, 0),
			started.Year() < 0, started.Year() > 9999:
			return // not a state
		}
		for _, s := range []string{promise, text, item} {
			if !utf8.ValidString(s) {
				return
			}
		}
		d := time.Duration(nanos)
		want := State{
			Active: active, Iteration: iteration, Values: settings.Values{Given: limits.Given{Promise: promiseOf(promise), MaxIterations: &limit, MaxCostUSD: &usd, MaxDuration: (*limits.Duration)(&d), IdleTimeout: (*limits.Duration)(&d), MaxFailures: &limit, MaxUnchanged: &limit}}.Or(saidIf(active)), StartedAt: started,
			LoopID: text, AgentChoice: AgentChoice{Backend: item, Hat: promise, Model: text, BackendArgs: []string{item, text}, BackendOutput: item, BackendPrompt: text},
			Spent: Spent{Cost: stream.CostOf(usd), Tokens: stream.Tokens{Input: nanos, Output: int64(limit)}, Elapsed: d}, ResumeAt: started, Steering: Steering{Queued: []string{text, item, promise}, Guided: []string{item}}, SessionFile: text,
			Prompt: prompt,
		}
		data := []byte(Whole(want))
		doc, err := Parse(data)
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if diff := cmp.Diff(want, doc.State()); diff != "" {
			t.Errorf("-want +got:\n%s\nin\n%s", diff, data)
		}
		if problems := doc.Problems(); len(problems) > 0 {
			t.Errorf("problems %v in\n%s", problems, data)
		}
	})
}

// A name of a file that isn't UTF-8 can't be kept. It is another one's name in no case.
func TestANameThatIsNoText(t *testing.T) {
	doc, err := Parse([]byte(Whole(State{LoopID: "x", Prompt: "Build it.\n", Values: settings.Values{Plan: "p\xe9.md"}})))
	if err != nil || doc.State().Values.Plan != "p\uFFFD.md" {
		t.Errorf("%q, %v", doc.State().Values.Plan, err)
	}
}

// FuzzSimple reads lines without YAML, which has to say the same of them.
func FuzzSimple(f *testing.F) {
	for _, value := range []string{
		"12", "0x1", "007", "1_000", "-1", "1.5", "true", "True", "null", "~", "nullify", "12 # twelve", "", " 1", "1 ",
		`"a"`, `""`, `"a" # b`, `"a\"b\\c\nd\te"`, `"\x41\u00e4\a"`, `"ä"`, `"a\`, `"a\"`, `"a"b"`, `"a: b, [c] {d} #e"`, `'a'`, `a`, "12\r", "\t1",
	} {
		f.Add("max_iterations", value)
	}
	f.Add("a b", "1")
	f.Add("null", "1")
	f.Fuzz(func(t *testing.T, key, value string) {
		for _, b := range splitBlocks(key + ": " + value + "\n") {
			text, null, ok := b.simple()
			if !ok {
				continue
			}
			if want, wantNull, err := b.anyScalar(); text != want || null != wantNull || err != nil {
				t.Errorf("%q is %q, %t; want %q, %t, %v", b.text, text, null, want, wantNull, err)
			}
		}
	})
}

// What this program writes is simple, or a look at many loops takes long.
func TestWhatIsWrittenIsSimple(t *testing.T) {
	d := time.Hour
	text := Whole(State{Active: true, Iteration: 7, Values: settings.Values{Given: limits.Given{Promise: new("DONE"), MaxDuration: (*limits.Duration)(&d)}}, StartedAt: time.Now(), LoopID: "ralph-x", AgentChoice: AgentChoice{Backend: "/bin/agent \\ \"x\"", BackendOutput: "text"}, Steering: Steering{Queued: []string{"say \"it\"\n"}}, Prompt: "Build it"})
	parts, ok := cut(text)
	if !ok || len(splitBlocks(parts.front)) < 10 {
		t.Fatal(text)
	}
	for _, b := range splitBlocks(parts.front) {
		if _, _, ok := b.simple(); !ok {
			t.Errorf("%q", b.text)
		}
	}
}

// saidIf is what a loop can keep of its settings.
func saidIf(quiet bool) (said settings.Values) {
	if quiet {
		said = settings.Values{Permissions: settings.PermissionsAsk, AskTimeout: new(limits.Duration(time.Minute)), Sandbox: settings.SandboxWorkspace, Instruct: new(false)}
	}
	return said
}

// FuzzParse reads any file, and changes what can be read.
func FuzzParse(f *testing.F) {
	for _, data := range stateFiles(f) {
		f.Add(data, 3, "DONE", "a\nb")
	}
	f.Fuzz(func(t *testing.T, data []byte, iteration int, promise, guidance string) {
		doc, err := Parse(data)
		if err != nil {
			return
		}
		doc.Problems()
		before := doc.State()
		doc.Set(before)
		if string(doc.Bytes()) != string(data) {
			t.Fatalf("setting what is there changed it to\n%q", doc.Bytes())
		}
		if iteration < 0 || !utf8.ValidString(promise) || !utf8.ValidString(guidance) {
			return
		}
		want := before
		want.Iteration, want.Promise, want.BackendArgs = iteration, promiseOf(promise), []string{guidance}
		doc.Set(want)
		changed := doc.Bytes()
		again, err := Parse(changed)
		if err != nil {
			t.Fatalf("after a change: %v in\n%q", err, changed)
		}
		if diff := cmp.Diff(want, again.State(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("after a change: -want +got:\n%s\nin\n%q", diff, changed)
		}
		if !strings.HasSuffix(string(changed), before.Prompt) {
			t.Fatalf("the prompt changed in\n%q", changed)
		}
	})
}

// promiseOf is a promise as a state has it that was read.
func promiseOf(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
