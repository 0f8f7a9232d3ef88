package archtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestSleepsFindsThem(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"a wait":                      {"func TestA(t *testing.T) { time.Sleep(time.Second) }", "a/a_test.go: TestA"},
		"in a table":                  {"var roles = map[string]func(){\"a\": func() { time.Sleep(d) }}", "a/a_test.go: roles"},
		"a stand-in that hangs":       {"func hangs() { time.Sleep(time.Hour) }", ""},
		"a benchmark":                 {"func BenchmarkA(b *testing.B) { time.Sleep(d) }", ""},
		"another clock":               {"func TestA(t *testing.T) { clock.Sleep(d) }", ""},
		"in a bubble":                 {"func TestA(t *testing.T) { synctest.Test(t, func(*testing.T) { time.Sleep(d) }) }", ""},
		"in a bubble of the room's":   {"func TestA(t *testing.T) { bubble(t, func() { time.Sleep(d) }) }; func bubble(t *testing.T, f func()) { synctest.Test(t, f) }", ""},
		"in a bubble of a method's":   {"func TestA(t *testing.T) { r.bubble(func() { time.Sleep(d) }) }; func (r *rig) bubble(f func()) { synctest.Test(r.t, f) }", ""},
		"beside a test with a bubble": {"func TestA(t *testing.T) { synctest.Test(t, f) }; func TestB(t *testing.T) { time.Sleep(d) }", "a/a_test.go: TestB"},
	} {
		found, err := Sleeps(tree("a/a_test.go", "package a; "+tt.body, "a/a.go", "package a; func F() { time.Sleep(d) }"))
		if got := strings.Join(found, " "); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, tt.want)
		}
	}
	_, err := Sleeps(tree("a_test.go", "func {"))
	compare(t, "no Go at all", nil, err, "reading what sleeps")
}

// sleepers may sleep by the real clock: nobody waits for something that way. The list only gets shorter.
var sleepers = []string{
	// Stand-ins and users that are slow: that is what is tested.
	"backends/main_test.go: roles",
	"cmd/ralph-lsp/hangup_linux_test.go: closeTwice",
	"fleet/e2e/main_test.go: agent",
	"e2e/sidecar/flood_test.go: beginFlood",
	"e2e/sidecar/main_test.go: speakSlowly",
	"fleet/submit_test.go: Create",
	"loop/engine/editor_linux_test.go: TestNoSaveIsLostBesideALoop",
	"loopstate/saves_test.go: pauseInSave",
	// A process is killed, or hung up, at any moment.
	"cmd/ralph-lsp/hangup_linux_test.go: TestAKeptLoopOutlivesItsTerminal",
	// What is tested is that time goes by: for the real agent, and for a lease of the real bus. More of it does no harm.
	"fleet/e2e/operate_test.go: TestNoLeaseTakesRunningIterationsAway",
	"e2e/stop_test.go: TestAStopOfOursIsNoSilence",
	// They are called in bubbles.
	"loop/engine/crewlive_test.go: liveCrew",
	"loop/engine/fake_test.go: play",
	"loop/engine/unpriced_test.go: waitFor",
	"server/documents/documents_test.go: heard",
	"server/onelog_test.go: meanwhile",
	"stream/decode/calls_test.go: Read",
}

// A test waits for the thing itself (internal/test/proctest), or in a bubble, or it fails on a busy machine.
func TestNoTestWaitsByAClock(t *testing.T) {
	found, err := Sleeps(os.DirFS(root))
	must.OK(t, err)
	for _, f := range found {
		if !slices.Contains(sleepers, f) {
			t.Errorf("%s sleeps by the real clock: wait for the thing itself, by proctest.Until, or use testing/synctest", f)
		}
	}
	for _, f := range sleepers {
		if !slices.Contains(found, f) {
			t.Errorf("%s sleeps no more: take it off the list", f)
		}
	}
}
