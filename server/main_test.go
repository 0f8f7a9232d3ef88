package server

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// roleEnv names what the test binary plays when it is started as another program.
const roleEnv = "RALPH_TEST_ROLE"

// roles are the programs that the test binary plays: agents that print text.
var roles = map[string]func(){
	// promises reads its prompt and makes the promise in the second run.
	"promises": func() {
		io.Copy(io.Discard, os.Stdin)
		if os.Getenv("RALPH_ITERATION") == "2" {
			fmt.Println("<promise>DONE</promise>")
			return
		}
		fmt.Println("not yet")
	},
	// insists makes the promise in each run.
	"insists": func() {
		io.Copy(io.Discard, os.Stdin)
		fmt.Println("<promise>DONE</promise>")
	},
	// never says something and works on.
	"never": func() {
		io.Copy(io.Discard, os.Stdin)
		fmt.Println("working")
		time.Sleep(time.Hour)
	},
	// deaf works on when it is asked to stop.
	"deaf": func() {
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
		io.Copy(io.Discard, os.Stdin)
		fmt.Println("working")
		time.Sleep(time.Hour)
	},
	// fails does nothing and says so.
	"fails": func() {
		io.Copy(io.Discard, os.Stdin)
		fmt.Println("no")
		os.Exit(3)
	},
	// waits works until there is a file "go" in its folder.
	"waits": func() {
		io.Copy(io.Discard, os.Stdin)
		fmt.Println("working")
		for {
			if _, err := os.Stat("go"); err == nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	},
	// asks wants to push, in claude's words, and leaves in its folder what it is told.
	"asks": func() {
		lines := bufio.NewScanner(os.Stdin)
		if lines.Scan() { // else it is only asked for its version, wherever
			if err := os.WriteFile("pid", []byte(fmt.Sprint(os.Getpid())), 0o600); err != nil {
				panic(err)
			}
		}
		fmt.Println(`{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}`)
		fmt.Println(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"git push"},"tool_use_id":"t1"}}`)
		if !lines.Scan() {
			return
		}
		if err := os.WriteFile("told", lines.Bytes(), 0o600); err != nil {
			panic(err)
		}
		fmt.Println(`{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","total_cost_usd":0.01,"result":"Well."}`)
	},
	// writes adds a line to log.txt and makes a file of its own.
	"writes": writes,
	// writesAndInsists does so, and makes the promise.
	"writesAndInsists": func() {
		writes()
		fmt.Println("<promise>DONE</promise>")
	},
	// commits commits a file of its own, and makes the promise.
	"commits": func() {
		io.Copy(io.Discard, os.Stdin)
		if err := os.WriteFile("a.txt", []byte("a\n"), 0o600); err != nil {
			panic(err)
		}
		for _, args := range [][]string{{"add", "a.txt"}, {"-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", "Add a"}} {
			if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
				panic(string(out))
			}
		}
		fmt.Println("<promise>DONE</promise>")
	},
	// writesOnce does so, and works on in its second iteration.
	"writesOnce": func() {
		if os.Getenv("RALPH_ITERATION") == "2" {
			time.Sleep(time.Hour)
		}
		writes()
	},
	// costs spends half a dollar, in pi's words, and works on.
	"costs": func() {
		io.Copy(io.Discard, os.Stdin)
		fmt.Println(`{"type":"turn_end","message":{"role":"assistant","content":[],"provider":"p","model":"m","stopReason":"toolUse","usage":{"input":1,"output":1,"cost":{"total":0.5}}}}`)
		time.Sleep(time.Hour)
	},
	// counts has a tool print 50,000 lines, in pi's words.
	"counts": func() {
		io.Copy(io.Discard, os.Stdin)
		var lines strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&lines, "line %d\\n", i+1)
		}
		fmt.Println(`{"type":"tool_execution_start","toolCallId":"t1","toolName":"bash","args":{"command":"count"}}`)
		fmt.Println(`{"type":"tool_execution_end","toolCallId":"t1","isError":false,"result":{"content":[{"type":"text","text":"` + lines.String() + `"}]}}`)
	},
	// echoes prints its prompt, without what the loop adds.
	"echoes": func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "You work in a Ralph loop") {
			fmt.Println(lines.Text())
		}
	},
}

func writes() {
	io.Copy(io.Discard, os.Stdin)
	n := os.Getenv("RALPH_ITERATION")
	old, _ := os.ReadFile("log.txt")
	for name, text := range map[string]string{"log.txt": string(old) + "line " + n + "\n", n + ".txt": n + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
}

func TestMain(m *testing.M) {
	if role := filepath.Base(os.Args[0]); roles[role] != nil && os.Getenv(roleEnv) == "" {
		os.Setenv(roleEnv, role)
	}
	_ = flag.Set("test.parallel", "8") // loops are waited for more than they compute
	testhome.Main(m, roleEnv, roles)
}

// agentThat returns a name of the test binary by which it plays the role, as an agent.
func agentThat(t *testing.T, role string) string {
	t.Helper()
	program := filepath.Join(os.Getenv("HOME"), role)
	if err := os.Symlink(os.Args[0], program); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return program
}
