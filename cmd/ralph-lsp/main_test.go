package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The test binary is the program itself, and an agent that does as it is told.
func TestMain(m *testing.M) {
	testscript.Main(withHome{m}, map[string]func(){"ralph-lsp": main, client.Program: main, "fake-agent": fakeAgent})
}

// withHome runs the tests with a folder of their own for the user's configuration.
type withHome struct{ *testing.M }

func (m withHome) Run() int {
	proctest.HeedSignals()
	remove, err := testhome.Use()
	insist(err)
	defer remove()
	return m.M.Run()
}

// fakeAgent is an agent without a structured stream. It obeys its arguments in
// their order.
func fakeAgent() {
	for _, arg := range os.Args[1:] {
		verb, rest, _ := strings.Cut(arg, "=")
		switch verb {
		case "say": // print text
			fmt.Println(rest)
		case "keep": // append the prompt to a file
			prompt, err := io.ReadAll(os.Stdin)
			if err == nil {
				err = appendFile(rest, string(prompt))
			}
			insist(err)
		case "count": // append a letter to a file; at the second time, promise (a third short run would be paced)
			insist(appendFile(rest, "x"))
			runs, err := os.ReadFile(rest)
			insist(err)
			if len(runs) >= 2 {
				fmt.Println("<promise>DONE</promise>")
			}
		case "hang": // say so in a file, then work for ever
			insist(appendFile(rest, "here"))
			fmt.Println("working")
			time.Sleep(time.Hour)
		case "write": // NAME=TEXT
			name, text, _ := strings.Cut(rest, "=")
			insist(os.WriteFile(name, []byte(text+"\n"), 0o600))
		case "rotate": // give a file another name, once
			_ = os.Rename(rest, rest+".1")
		case "hide": // remove a file
			insist(os.Remove(rest))
		case "touch": // make a file
			insist(appendFile(rest, ""))
		case "wait": // until a file is there
			for begun := time.Now(); time.Since(begun) < proctest.Patience; proctest.Pause(begun) {
				if _, err := os.Stat(rest); err == nil {
					break
				}
			}
		case "flood": // print for as long as someone reads
			for {
				if _, err := fmt.Println(strings.Repeat("flood ", 20)); err != nil {
					os.Exit(1)
				}
			}
		case "fail":
			fmt.Fprintln(os.Stderr, rest)
			os.Exit(3)
		}
	}
}

func appendFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return cmpError(err, f.Close())
}

func cmpError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

func insist(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake-agent:", err)
		os.Exit(4)
	}
}

// The scripts in testdata/cli use the program as a user does.
func TestCommandLine(t *testing.T) {
	scripts, err := filepath.Glob("../../testdata/cli/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts in testdata/cli (%v)", err)
	}
	agent, err := exec.LookPath("fake-agent")
	must.OK(t, err)
	program, err := exec.LookPath("ralph-lsp")
	must.OK(t, err)
	testdata, err := filepath.Abs("../../testdata")
	must.OK(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/cli",
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name == "walls" {
				return walltest.Had()
			}
			return false, fmt.Errorf("there is no condition %s", name)
		},
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("AGENT", agent)
			env.Setenv("RALPH", program) // for scripts that change the PATH
			env.Setenv("TESTDATA", testdata)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each process takes a second to end
			env.Setenv("TMPDIR", env.WorkDir+"/.tmp")
			env.Setenv("HOME", env.WorkDir+"/.home")
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/.config")
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/.cache") // clean --all takes away what is in it
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/.state")
			env.Setenv("PI_CODING_AGENT_DIR", env.WorkDir+"/.pi-agent") // where loops are kept
			if err := os.Mkdir(env.WorkDir+"/.home", 0o700); err != nil {
				return err
			}
			return testhome.Offered(env.WorkDir + "/.config")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"subst":     substitute,
			"waitfile":  waitFile,
			"oneline":   oneLineError,
			"noprocess": noProcess,
			"exits":     exits,
		},
	})
}

// deadline bounds what the scripts wait for.
const deadline = proctest.Patience

// substitute FROM TO copies a file with the script's variables in it.
func substitute(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: subst FROM TO")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// waitFile FILE [TEXT] waits until the file is there and holds the text.
func waitFile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: waitfile FILE [TEXT]")
	}
	name, text := ts.MkAbs(args[0]), strings.Join(args[1:], " ")
	for begun := time.Now(); ; proctest.Pause(begun) { // another process writes it
		if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), text) {
			return
		}
		if time.Since(begun) > deadline {
			ts.Fatalf("not within %s: file %s %s", deadline, name, text)
		}
	}
}

// oneLineError checks that the last command said one line on stderr, in our form.
func oneLineError(ts *testscript.TestScript, _ bool, _ []string) {
	text := ts.ReadFile("stderr")
	if !strings.HasPrefix(text, "ralph-lsp: ") || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("stderr is not one line of ours: %q", text)
	}
}

// noProcess checks that no process of this script is left behind.
func noProcess(ts *testscript.TestScript, _ bool, _ []string) {
	if left := proctest.AwaitNone(deadline, "WORK="+ts.Getenv("WORK")); len(left) > 0 {
		ts.Fatalf("left after %s: %v", deadline, left)
	}
}

// exits CODE PROGRAM ARGS... runs a program and checks its exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}
