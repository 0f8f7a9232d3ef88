package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

const events = `{"ImportPath":"m/broken [m/broken.test]","Action":"build-output","Output":"broken/a.go:3:28: undefined: x\n"}
{"Action":"output","Package":"m/broken","Output":"FAIL\tm/broken [build failed]\n"}
{"Action":"fail","Package":"m/broken","FailedBuild":"m/broken [m/broken.test]"}
{"Action":"output","Package":"m/lacks","Output":"FAIL\tm/lacks [build failed]\n"}
{"Action":"fail","Package":"m/lacks","FailedBuild":"m/broken [m/broken.test]"}
{"Action":"run","Package":"m/bad","Test":"TestGood"}
{"Action":"output","Package":"m/bad","Test":"TestGood","Output":"a test that is well says nothing\n"}
{"Action":"pass","Package":"m/bad","Test":"TestGood","Elapsed":1.24}
{"Action":"output","Package":"m/good","Output":"what a package prints that is well\n"}
{"Action":"run","Package":"m/bad","Test":"TestBad"}
{"Action":"output","Package":"m/bad","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"run","Package":"m/bad","Test":"TestBad/one"}
{"Action":"output","Package":"m/bad","Test":"TestBad/one","Output":"a part that is well\n"}
{"Action":"pass","Package":"m/bad","Test":"TestBad/one"}
{"Action":"run","Package":"m/bad","Test":"TestBad/two"}
{"Action":"output","Package":"m/bad","Test":"TestBad/two","Output":"    a_test.go:4: wrong\n"}
{"Action":"fail","Package":"m/bad","Test":"TestBad/two"}
{"Action":"fail","Package":"m/bad","Test":"TestBad"}
{"Action":"run","Package":"m/bad","Test":"TestEndless"}
{"Action":"output","Package":"m/bad","Test":"TestEndless","Output":"panic: test timed out\n"}
{"Action":"output","Package":"m/good","Output":"PASS\n"}
{"Action":"output","Package":"m/good","Output":"ok  \tm/good\t0.1s\n"}
{"Action":"pass","Package":"m/good","Elapsed":0.1}
{"Action":"output","Package":"m/none","Output":"?   \tm/none\t[no test files]\n"}
{"Action":"skip","Package":"m/none"}
{"Action":"output","Package":"m/bad","Output":"FAIL\tm/bad\t1.5s\n"}
{"Action":"fail","Package":"m/bad","Elapsed":1.5}
go: words of its own
`

// reported reads events.
func reported(t *testing.T, events string) (r *report, out, times string) {
	t.Helper()
	var o, s strings.Builder
	r = newReport(&o, &s)
	must.OK(t, r.read(strings.NewReader(events)))
	return r, o.String(), s.String()
}

func TestWhatGoTestSays(t *testing.T) {
	_, out, times := reported(t, events)
	const want = `broken/a.go:3:28: undefined: x
FAIL	m/broken [build failed]
FAIL	m/lacks [build failed]
ok  	m/good	0.1s
--- FAIL: TestBad (0.00s)
    a_test.go:4: wrong
panic: test timed out
FAIL	m/bad	1.5s
go: words of its own
`
	if out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	if times != "1.2 bad TestGood\n" {
		t.Errorf("times %q", times)
	}
}

// The last lines of a red run say why it is red.
func TestClosing(t *testing.T) {
	for _, name := range environment {
		t.Setenv(name, "")
	}
	t.Setenv("RALPH_STATE_DIR", "/dev/null")
	r, _, _ := reported(t, events)
	again := func(flags []string, f failure) (failed, ran int) {
		if !slices.Equal(flags, []string{"-race", "-tags", "e2e"}) {
			t.Errorf("run again with %q", flags)
		}
		return map[string]int{"TestBad/two": 3}[f.test], map[string]int{"TestBad/two": 20}[f.test]
	}
	got := strings.Join(closing(r, []string{"-race", "-p", "2", "-tags", "e2e", "./..."}, again), "\n")
	const want = `*** FAILED: m/broken [m/broken.test]
    broken/a.go:3:28: undefined: x
    alone: RALPH_STATE_DIR=/dev/null go test -race -tags e2e m/broken
*** FAILED: TestBad/two in m/bad
    a_test.go:4: wrong
    it fell 3 of 20 times alone: RALPH_STATE_DIR=/dev/null go test -race -tags e2e -run '^TestBad$/^two$' m/bad
*** FAILED: TestEndless in m/bad
    panic: test timed out
    alone, where it never ended: RALPH_STATE_DIR=/dev/null go test -race -tags e2e -run '^TestEndless$' m/bad`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestClosingFailures(t *testing.T) {
	long := strings.Repeat(`{"Action":"output","Package":"`+module+`/a","Test":"Test1","Output":"a line\n"}`+"\n", 20)
	fails := func(tests ...string) (events string) {
		for _, test := range tests {
			events += fmt.Sprintf(`{"Action":"fail","Package":"%s/a","Test":"%s"}`+"\n", module, test)
		}
		return events + fmt.Sprintf(`{"Action":"fail","Package":"%s/a"}`+"\n", module)
	}
	output := func(test, text string) string {
		return fmt.Sprintf(`{"Action":"output","Package":"%s/a","Test":"%s","Output":%q}`+"\n", module, test, text)
	}
	for name, tt := range map[string]struct{ events, want string }{
		"well":                {`{"Action":"pass","Package":"m/a"}` + "\n", ""},
		"much was said":       {long + fails("Test1"), "*** FAILED: Test1 in a\n" + strings.Repeat("    a line\n", 5) + "    … 12 lines …\n" + strings.Repeat("    a line\n", 3) + "    it fell 1 of 2 times alone: go test -run '^Test1$' ./a"},
		"a line without end":  {output("Test1", strings.Repeat("é", 1000)) + fails("Test1"), "*** FAILED: Test1 in a\n    " + strings.Repeat("é", 300) + "…\n    it fell 1 of 2 times alone: go test -run '^Test1$' ./a"},
		"words of a pattern":  {fails("Test1", "Test1/a (b)"), "*** FAILED: Test1/a (b) in a\n    it fell 1 of 2 times alone: go test -run '^Test1$/^a \\(b\\)$' ./a"},
		"the process ended":   {`{"Action":"run","Package":"` + module + `/a","Test":"Test1"}` + "\n" + output("", "left: 12 sh\n") + output("", "FAIL\n") + fails(), "*** FAILED: a\n    left: 12 sh\n    alone: go test ./a"},
		"what the whole said": {output("Test1", "cleanup: left\n") + output("Test1/one", "=== RUN   Test1/one\n") + output("Test1/one", "    --- FAIL: Test1/one (0.0s)\n") + fails("Test1/one", "Test1"), "*** FAILED: Test1/one in a\n    cleanup: left\n    it fell 1 of 2 times alone: go test -run '^Test1$/^one$' ./a"},
		"a script": {output("Test1", "    testscript.go:609: WORK=$WORK\n") + strings.Repeat(output("Test1", "        > exec true\n"), 20) + output("Test1", "        [exit status 1]\n") + output("Test1", "        FAIL: a.txtar:7: it fell\n") + fails("Test1"),
			"*** FAILED: Test1 in a\n    … 15 lines …\n" + strings.Repeat("    > exec true\n", 6) + "    [exit status 1]\n    FAIL: a.txtar:7: it fell\n    it fell 1 of 2 times alone: go test -run '^Test1$' ./a"},
		"a panic":               {`{"Action":"run","Package":"` + module + `/a","Test":"Test2"}` + "\n" + output("Test1", "it began\n") + output("Test1", "panic: nil\n\ngoroutine 1 [running]:\ntesting.f()\n\t/usr/local/go/src/testing/testing.go:1 +0x1\nm.F()\n\tgithub.com/m/a_test.go:7 +0x2\n") + fails("Test1"), "*** FAILED: Test1 in a\n    it began\n    panic: nil\n    github.com/m/a_test.go:7 +0x2\n    it fell 1 of 2 times alone: go test -run '^Test1$' ./a"},
		"more than are to read": {fails("Test1", "Test2", "Test3", "Test4", "Test5"), "*** FAILED: Test1 in a\n    it fell 1 of 2 times alone: go test -run '^Test1$' ./a\n*** FAILED: Test2 in a\n    it fell 1 of 2 times alone: go test -run '^Test2$' ./a\n*** FAILED: Test3 in a\n    it fell 1 of 2 times alone: go test -run '^Test3$' ./a\n*** FAILED, too: Test4 in a, Test5 in a"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, name := range environment {
				t.Setenv(name, "")
			}
			r, _, _ := reported(t, tt.events)
			lines := closing(r, nil, func([]string, failure) (int, int) { return 1, 2 })
			if got := strings.Join(lines, "\n"); got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// What is left out is told, or nobody would know.
func TestSkips(t *testing.T) {
	r, _, _ := reported(t, `{"Action":"output","Package":"m/a","Test":"Test1","Output":"=== RUN   Test1\n"}
{"Action":"output","Package":"m/a","Test":"Test1","Output":"    a_test.go:4: no bubblewrap\n"}
{"Action":"output","Package":"m/a","Test":"Test1","Output":"--- SKIP: Test1 (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"Test1"}
{"Action":"output","Package":"m/a","Test":"Test2","Output":"    b_test.go:4: no bubblewrap\n"}
{"Action":"skip","Package":"m/a","Test":"Test2"}
{"Action":"skip","Package":"m/a","Test":"Test3"}
`)
	want := []string{"*** skipped: 2, no bubblewrap", "*** skipped: 1, for no reason that it told"}
	if got := r.skips(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The real go test: what fell is run again, and the lines are kept where a variable says.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":      "module m\n\ngo 1.26\n",
		"a/a_test.go": "package a\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n// The first two times in three.\nfunc TestOften(t *testing.T) {\n\tif f, err := os.OpenFile(\"n\", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {\n\t\tf.WriteString(\"x\")\n\t\tif info, _ := f.Stat(); info.Size()%3 != 0 {\n\t\t\tt.Error(\"wrong\")\n\t\t}\n\t}\n}\n\nfunc TestWell(t *testing.T) {}\n",
	} {
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)))
	}
	for _, name := range environment {
		t.Setenv(name, "")
	}
	t.Setenv("RALPH_TEST_FELL", "fell")
	t.Setenv("RALPH_TEST_TIMES", "times")
	var out strings.Builder
	if failed, err := run([]string{"./..."}, &out); !failed || err != nil {
		t.Errorf("failed %t, %v", failed, err)
	}
	fell, err := os.ReadFile("fell")
	if want := "*** FAILED: TestOften in m/a\n    a_test.go:13: wrong\n    it fell 13 of 20 times alone: go test -run '^TestOften$' m/a\n"; err != nil || string(fell) != want || !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q, %v, want %q at the end of %s", fell, err, want, out.String())
	}
	if times, err := os.ReadFile("times"); err != nil || !strings.HasSuffix(string(times), " a TestWell\n") {
		t.Errorf("%q, %v", times, err)
	}
	if failed, err := run([]string{"-run", "TestWell", "./..."}, &out); failed || err != nil {
		t.Errorf("all is well: failed %t, %v", failed, err)
	}
	if failed, err := run([]string{"-run", "TestWell", "./none"}, &out); !failed || err != nil {
		t.Errorf("no such package: failed %t, %v", failed, err)
	}
}

// What fell in an editor is run again by a script, which says how often it fell, and leaves the rest as it is.
func TestWhatFellInAnEditorIsRunAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("make ci runs where there is bash")
	}
	file := filepath.Join(t.TempDir(), "fell")
	const before = "*** FAILED: one\n    it said this\n    alone: make --version\n*** FAILED: two\n    alone: editors/none '^it isn'\\''t$'\n*** FAILED: three\n    alone: go test ./a\n*** FAILED: one more\n    alone: make --version\n"
	must.OK(t, os.WriteFile(file, []byte(before), 0o600))
	cmd := exec.Command("bash", "../../../tools/ci/again.sh", file)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	want := strings.ReplaceAll(before, "alone: make", "it fell 0 of 20 times alone: make")
	want = strings.ReplaceAll(want, "alone: editors", "it fell 20 of 20 times alone: editors")
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s (%v), want\n%s", got, err, want)
	}
	if out, err := exec.Command("bash", "../../../tools/ci/again.sh", file+" none").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("without anything that fell: %v: %s", err, out)
	}
}
