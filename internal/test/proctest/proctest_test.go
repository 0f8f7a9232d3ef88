package proctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// start starts a process that ends when it is killed, with a variable and an
// argument that no other process has.
func start(t *testing.T) (cmd *exec.Cmd, variable, argument string) {
	t.Helper()
	argument = filepath.Join(t.TempDir(), "watched")
	if err := os.WriteFile(argument, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	variable = "RALPH_PROCTEST=" + argument
	cmd = exec.Command("tail", "-f", argument)
	cmd.Env = append(os.Environ(), variable)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for len(Find(argument)) == 0 || len(Find(variable)) == 0 { // an exec hides both for a moment
		time.Sleep(time.Millisecond)
	}
	return cmd, variable, argument
}

func TestFind(t *testing.T) {
	cmd, variable, argument := start(t)
	want := fmt.Sprint([]Process{{cmd.Process.Pid, "tail -f " + argument}})
	for name, tt := range map[string]struct {
		marks []string
		want  string
	}{
		"by a variable":          {[]string{variable}, want},
		"by an argument":         {[]string{argument}, want},
		"by one of two":          {[]string{"RALPH_PROCTEST=other", argument}, want},
		"by both, once":          {[]string{variable, argument}, want},
		"value goes on":          {[]string{strings.TrimSuffix(variable, "d")}, "[]"},
		"name begins before":     {[]string{strings.TrimPrefix(variable, "RALPH_")}, "[]"},
		"part of an argument":    {[]string{filepath.Dir(argument)}, "[]"},
		"variable without value": {[]string{"RALPH_PROCTEST"}, "[]"},
		"no mark":                {nil, "[]"},
	} {
		if got := fmt.Sprint(Find(tt.marks...)); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// witness is a test that may fail.
type witness struct {
	testing.TB
	said string
}

func (w *witness) Errorf(format string, args ...any) { w.said += fmt.Sprintf(format, args...) }

func TestWhatIsLeftFailsAndIsKilled(t *testing.T) {
	cmd, variable, _ := start(t)
	w := &witness{TB: t}
	CheckNone(w, 0, variable)
	if want := fmt.Sprintf(`^left after 0s: \[%d [RSD] \(tail`, cmd.Process.Pid); !regexp.MustCompile(want).MatchString(w.said) {
		t.Errorf("said %q, want %s", w.said, want)
	}
	if left := AwaitNone(time.Minute, variable); len(left) > 0 {
		t.Errorf("not killed: %v", left)
	}
}

// What a killed test would leave is ended all the same.
func TestAtEndOfAKilledTest(t *testing.T) {
	if ended := os.Getenv("RALPH_PROCTEST_ENDED"); ended != "" {
		AtEnd(t, "mkdir", ended)
		me, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = me.Kill()
		}
		t.Fatal("still alive", err)
	}
	ended := filepath.Join(t.TempDir(), "ended")
	variable := "RALPH_PROCTEST_ENDED=" + ended
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable)
	if err := cmd.Run(); err == nil {
		t.Fatal("the test wasn't killed")
	}
	CheckNone(t, time.Minute, variable)
	if _, err := os.Stat(ended); err != nil {
		t.Error(err)
	}
}

func TestAtEndOfATest(t *testing.T) {
	ended := filepath.Join(t.TempDir(), "ended")
	t.Run("one", func(t *testing.T) { AtEnd(t, "mkdir", ended) })
	if _, err := os.Stat(ended); err != nil {
		t.Error(err)
	}
}
