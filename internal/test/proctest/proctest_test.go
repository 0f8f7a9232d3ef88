package proctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// start starts a process that ends when it is killed, with a variable and an
// argument that no other process has.
func start(t *testing.T) (cmd *exec.Cmd, variable, argument string) {
	t.Helper()
	argument = filepath.Join(t.TempDir(), "watched")
	must.OK(t, os.WriteFile(argument, nil, 0o600))
	variable = "RALPH_PROCTEST=" + argument
	cmd = exec.Command("tail", "-f", argument)
	cmd.Env = append(os.Environ(), variable)
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, variable, argument
}

func TestFind(t *testing.T) {
	cmd, variable, argument := start(t)
	want := []Process{{cmd.Process.Pid, "tail -f " + argument}}
	for name, tt := range map[string]struct {
		marks []string
		want  []Process
	}{
		"by a variable":          {[]string{variable}, want},
		"by an argument":         {[]string{argument}, want},
		"by one of two":          {[]string{"RALPH_PROCTEST=other", argument}, want},
		"by both, once":          {[]string{variable, argument}, want},
		"value goes on":          {[]string{strings.TrimSuffix(variable, "d")}, nil},
		"name begins before":     {[]string{strings.TrimPrefix(variable, "RALPH_")}, nil},
		"part of an argument":    {[]string{filepath.Dir(argument)}, nil},
		"variable without value": {[]string{"RALPH_PROCTEST"}, nil},
		"no mark":                {nil, nil},
	} {
		if got := Find(tt.marks...); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

// A process that becomes other programs is never out of sight.
func TestFindDuringExecs(t *testing.T) {
	folder := t.TempDir()
	script := filepath.Join(folder, "again")
	again := `[ "$2" -eq 0 ] && exec mkdir "$1/done"; exec sh "$0" "$1" $(($2 - 1))`
	must.OK(t, os.WriteFile(script, []byte(again), 0o600))
	cmd := exec.Command("sh", script, folder, "300")
	must.OK(t, cmd.Start())
	defer cmd.Wait()
	for lost := 0; ; {
		found := len(Find(script, folder+"/done")) > 0
		if _, err := os.Stat(folder + "/done"); err == nil {
			return
		}
		if !found {
			lost++
			t.Errorf("lost %d times", lost)
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
	Until(t, "what the killed test would leave is ended", func() bool {
		_, err := os.Stat(ended)
		return err == nil
	})
	CheckNone(t, time.Minute, variable)
}

func TestAtEndOfATest(t *testing.T) {
	ended := filepath.Join(t.TempDir(), "ended")
	t.Run("one", func(t *testing.T) { AtEnd(t, "mkdir", ended) })
	if _, err := os.Stat(ended); err != nil {
		t.Error(err)
	}
}
