package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// judged is what a recorded output comes to.
func judged(t *testing.T, name string, e Exit) Result {
	t.Helper()
	printed := must.Read(t, filepath.Join("testdata", name+".txt"))
	return judge(string(printed), e)
}

func judge(printed string, e Exit) Result {
	var o Output
	o.Write([]byte(printed))
	return o.Judge(e)
}

func TestWhatRealToolsPrint(t *testing.T) {
	tests := []struct {
		name  string
		code  int
		state State
		why   string
		at    string // the first problem
	}{
		{"go-failed", 1, Refuted, "failed (exit 1): TestParse", "a_test.go:9 Parse(1) = 3"},
		{"go-build-failed", 1, Refuted, "failed (exit 1): TestParse", "bad/bad.go:3:23 undefined: undefinedThing"},
		{"go-vet", 1, Refuted, "failed (exit 1): vet: bad/bad.go:3:23: undefined: undefinedThing", "bad/bad.go:3:23 undefined: undefinedThing"},
		{"go-passed", 0, Verified, "passed", ""},
		{"go-no-test-files", 0, Unchecked, "ran no test", ""},
		{"go-no-tests-to-run", 0, Unchecked, "ran no test", ""},
		{"cargo-failed", 101, Refuted, "failed (exit 101): tests::it_parses", "src/lib.rs:11:9 tests::it_parses"},
		{"cargo-build-failed", 101, Refuted, "failed (exit 101): error[E0308]: mismatched types", "src/lib.rs:2:5 error[E0308]: mismatched types"},
		{"cargo-passed", 0, Verified, "passed", ""},
		{"cargo-filtered-out", 0, Unchecked, "ran no test", ""},
		{"pytest-failed", 1, Refuted, "failed (exit 1): test_sample.py::test_answer - assert 4 == 5", "test_sample.py:6 AssertionError"},
		{"pytest-passed", 0, Verified, "passed", ""},
		{"pytest-no-tests", 5, Unchecked, "ran no test", ""},
		{"pytest-deselected", 5, Unchecked, "ran no test", ""},
		{"unittest-no-tests", 5, Unchecked, "ran no test", ""},
		{"jest-failed", 1, Refuted, "failed (exit 1): adds (5ms)", "sum.test.js:1:36 adds"},
		{"jest-passed", 0, Verified, "passed", ""},
		{"jest-filtered", 0, Unchecked, "ran no test", ""},
		{"jest-no-tests", 1, Unchecked, "ran no test", ""},
		{"jest-pass-with-no-tests", 0, Unchecked, "ran no test", ""},
		{"vitest-failed", 1, Refuted, "failed (exit 1): adds 6ms", "sum.test.mjs:2:36 AssertionError: expected 2 to be 3 // Object.is equality"},
		{"vitest-passed", 0, Verified, "passed", ""},
		{"vitest-filtered", 0, Unchecked, "ran no test", ""},
		{"vitest-no-tests", 1, Unchecked, "ran no test", ""},
		{"node-failed", 1, Refuted, "failed (exit 1): adds", "/w/node/sum.test.js:3:1 adds"},
		{"node-tap-failed", 1, Refuted, "failed (exit 1): adds", "/w/node/sum.test.js:3:1 adds"},
		{"node-spec-failed", 1, Refuted, "failed (exit 1): adds (5ms)", "/w/node/sum.test.js:3:29 AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:"},
		{"node-passed", 0, Verified, "passed", ""},
		{"node-filtered", 0, Unchecked, "ran no test", ""},
		{"node-no-tests", 0, Unchecked, "ran no test", ""},
		{"tsc-failed", 1, Refuted, "failed (exit 1): x.ts(2,3): error TS2322: Type 'number' is not assignable to type 'string'.", "x.ts:2:3 error TS2322: Type 'number' is not assignable to type 'string'."},
		{"tsc-pretty-failed", 1, Refuted, "failed (exit 1): x.ts:2:3 - error TS2322: Type 'number' is not assignable to type 'string'.", "x.ts:2:3 error TS2322: Type 'number' is not assignable to type 'string'."},
		{"gcc-failed", 1, Refuted, "failed (exit 1): main.c:3:3: error: expected ‘,’ or ‘;’ before ‘return’", "main.c:3:3 error: expected ‘,’ or ‘;’ before ‘return’"},
		{"sh-not-found", 127, Unchecked, "could not be run (exit 127): sh: 1: no-such-tool: not found", ""},
	}
	tested := map[string]bool{}
	for _, tt := range tests {
		tested[tt.name] = true
		got := judged(t, tt.name, Exit{Code: tt.code})
		at := ""
		if len(got.Problems) > 0 {
			p := got.Problems[0]
			at = fmt.Sprintf("%s:%d:%d %s", p.Path, p.Line, p.Column, p.Message)
			at = strings.Replace(at, ":0 ", " ", 1)
		}
		if got.State != tt.state || got.Why != tt.why || at != tt.at {
			t.Errorf("%s: %s, %q, %q\nwant %s, %q, %q\n%+v", tt.name, got.State, got.Why, at, tt.state, tt.why, tt.at, got.Problems)
		}
		if got.Empty != (tt.why == "ran no test") {
			t.Errorf("%s: empty is %v", tt.name, got.Empty)
		}
	}
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".txt"); !tested[name] {
			t.Errorf("nobody says what %s comes to", file)
		}
	}
}

func TestHowACommandEnds(t *testing.T) {
	for _, tt := range []struct {
		name, printed string
		exit          Exit
		state         State
		why           string
	}{
		{"a silent success", "", Exit{}, Verified, "passed"},
		{"a silent failure", "", Exit{Code: 2}, Refuted, "failed (exit 2)"},
		{"missing", "", Exit{Missing: "no program ./check"}, Unchecked, "could not be run: no program ./check"},
		{"too slow, whatever it said", "--- FAIL: TestX", Exit{TimedOut: 10 * time.Minute, Code: -1, Signal: "killed"}, Unchecked, "took longer than 10m"},
		{"no memory left", "", Exit{Code: -1, Signal: "killed"}, Unchecked, "was ended from outside (killed)"},
		{"the same below a shell", "", Exit{Code: 137}, Unchecked, "was ended from outside (exit 137)"},
		{"it crashes", "", Exit{Code: -1, Signal: "segmentation fault"}, Refuted, "was ended by a signal (segmentation fault)"},
		{"not allowed", "sh: 1: ./check: Permission denied\n", Exit{Code: 126}, Unchecked, "could not be run (exit 126): sh: 1: ./check: Permission denied"},
		{"tests besides none", "?   \ta\t[no test files]\nok  \tb\t0.1s\n", Exit{}, Verified, "passed"},
		{"the cache knows", "ok  \tb\t(cached)\n", Exit{}, Verified, "passed"},
		{"a failure besides none", "?   \ta\t[no test files]\nb.go:3:1: undefined: x\n", Exit{Code: 1}, Refuted, "failed (exit 1): b.go:3:1: undefined: x"},
		{"a crate without tests besides one", "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n", Exit{}, Verified, "passed"},
		{"all are skipped", "=== 3 skipped in 0.01s ===\n", Exit{}, Unchecked, "ran no test"},
		{"mocha", "  0 passing (2ms)\n", Exit{}, Unchecked, "ran no test"},
		{"rspec", "0 examples, 0 failures\n", Exit{}, Unchecked, "ran no test"},
		{"unittest", "Ran 2 tests in 0.000s\n\nOK\n", Exit{}, Verified, "passed"},
		{"a linter says nothing of tests", "3 warnings in 2 files\n", Exit{}, Verified, "passed"},
	} {
		got := judge(tt.printed, tt.exit)
		if got.State != tt.state || got.Why != tt.why {
			t.Errorf("%s: %s, %q; want %s, %q", tt.name, got.State, got.Why, tt.state, tt.why)
		}
	}
}

func TestAnExcerptBeginsWithWhatFailed(t *testing.T) {
	printed := "begin\n--- FAIL: TestOne (0.00s)\n    one_test.go:7: got 1\nmore\n" + strings.Repeat("=== RUN of something else\n", 1000) + "exit status 1\n"
	got := judge(printed, Exit{Code: 1}).Output
	if !strings.HasPrefix(got, "--- FAIL: TestOne (0.00s)\n    one_test.go:7: got 1\n...\n") || !strings.HasSuffix(got, "\nexit status 1") || len(got) > MaxExcerpt {
		t.Errorf("got %d bytes: %.300s", len(got), got)
	}
}

func FuzzJudge(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		printed, _ := os.ReadFile(file)
		f.Add(printed, 1, uint8(13))
	}
	f.Add([]byte("\x1b[31m\xff--> a.rs:99999999999:1\n1..0\n# pass 9999999999999999999999\n::::\nC:\\x.go:1:2: y"), 0, uint8(1))
	f.Fuzz(func(t *testing.T, printed []byte, code int, step uint8) {
		var whole, pieces Output
		whole.Write(printed)
		for rest := printed; len(rest) > 0; {
			n := min(len(rest), int(step)+1)
			pieces.Write(rest[:n])
			rest = rest[n:]
		}
		a, b := whole.Judge(Exit{Code: code}), pieces.Judge(Exit{Code: code})
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("it matters how it comes:\n%+v\n%+v", a, b)
		}
		if len(a.Output) > MaxExcerpt || !utf8.ValidString(a.Output) || !utf8.ValidString(a.Why) || strings.Contains(a.Why, "\n") || len(a.Problems) > maxProblems {
			t.Errorf("got %+v", a)
		}
		if a.State == Verified && code != 0 {
			t.Errorf("exit %d is verified", code)
		}
	})
}
