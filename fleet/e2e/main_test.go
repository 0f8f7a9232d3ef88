//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// roleEnv names what the test binary plays instead of testing, and logEnv the file in
// which an agent says what it does.
const (
	roleEnv = "RALPH_FLEET_ROLE"
	logEnv  = "RALPH_FLEET_LOG"
)

// programs is the folder with the programs under test, built once.
var programs string

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "agent":
		if filepath.Base(os.Args[0]) == "claude" {
			asks()
		} else {
			agent()
		}
		os.Exit(0)
	case "deaf":
		deaf()
	case "setup":
		setup()
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	proctest.HeedSignals()
	remove, err := testhome.Use()
	if err != nil {
		panic(err)
	}
	defer remove()
	if programs, err = os.MkdirTemp("", "ralph-fleet-programs-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(programs)
	for _, program := range []string{"cmd/ralph-lsp", "fleet/cmd/ralph-fleet"} {
		if _, err := agents.Build(programs, program); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// agent does what its prompt says: runs=N it promises in the N-th run, nap=D it works so
// long, until=FILE it works until the test has made that, enough=FILE it promises only when the
// test has made that, usd=X it says as pi does that it has cost so much, limited=N its provider refuses that run, hang=N it hangs in that run, the first time, detach it leaves a tool that is deaf, commit it commits, told it says what it was told.
func agent() {
	data, _ := io.ReadAll(os.Stdin)
	prompt := string(data)
	wish := func(key string) string {
		for word := range strings.FieldsSeq(prompt) {
			if value, ok := strings.CutPrefix(word, key+"="); ok {
				return value
			}
		}
		return ""
	}
	isThere := func(key string) bool { // the file that the wish names, beside the log; none is there
		_, err := os.Stat(filepath.Join(filepath.Dir(os.Getenv(logEnv)), wish(key)))
		return err == nil
	}
	n := 1
	if text, err := os.ReadFile("count"); err == nil {
		n, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		n++
	}
	note := func(what string) { noteLine("%s %s %d\n", what, wish("name"), n) }
	note("begin")
	if os.Getenv("RALPH_TOKEN") != "" {
		note("knows the token")
	}
	if strings.Contains(prompt, "detach") {
		detach()
		note("detached")
	}
	if did, _ := os.ReadFile(os.Getenv(logEnv)); wish("hang") == strconv.Itoa(n) && !strings.Contains(string(did), "hung") {
		note("hung")
		time.Sleep(time.Hour)
	}
	nap, _ := time.ParseDuration(wish("nap"))
	time.Sleep(nap)
	for begun := time.Now(); !isThere("until"); proctest.Pause(begun) {
	}
	for range strings.Count(prompt, "the magic word") {
		note("told")
	}
	os.WriteFile("count", []byte(strconv.Itoa(n)+"\n"), 0o600)
	os.WriteFile("ignored", []byte("x"), 0o600)
	if plan, err := os.ReadFile("PLAN.md"); err == nil {
		os.WriteFile("PLAN.md", []byte(strings.Replace(string(plan), "- [ ] ", "- [x] ", 1)), 0o600)
	}
	if strings.Contains(prompt, "commit") {
		exec.Command("git", "add", "count").Run()
		exec.Command("git", "-c", "user.name=Agent", "-c", "user.email=a@x", "commit", "-q", "-m", "run "+strconv.Itoa(n)).Run()
	}
	note("end")
	isDone := n >= atoi(wish("runs")) && isThere("enough")
	if usd := wish("usd"); usd != "" {
		saysAsPi(isDone, usd, wish("limited") == strconv.Itoa(n))
		return
	}
	if isDone {
		fmt.Println("<promise>DONE</promise>")
		return
	}
	fmt.Println("run", n)
}

func noteLine(format string, args ...any) {
	f, err := os.OpenFile(os.Getenv(logEnv), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintf(f, format, args...)
}

// detach leaves a tool that is deaf, in a session of its own.
func detach() {
	tool := exec.Command(os.Args[0])
	tool.Env = append(os.Environ(), roleEnv+"=deaf")
	tool.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := tool.Start(); err != nil {
		panic(err)
	}
}

// setup prepares a checkout: the first time it leaves a tool and hangs.
func setup() {
	if did, _ := os.ReadFile(os.Getenv(logEnv)); strings.Contains(string(did), "setup hangs") {
		return
	}
	detach()
	noteLine("setup hangs\n")
	time.Sleep(time.Hour)
}

// saysAsPi prints a run as pi does, with what it has cost; or the provider refuses it.
func saysAsPi(isDone bool, usd string, isLimited bool) {
	text, stop := "more to do", `"stopReason":"stop"`
	if isDone {
		text = "<promise>DONE</promise>"
	}
	if isLimited {
		usd, stop = "0", `"stopReason":"error","errorMessage":"429 {\"error\":{\"type\":\"rate_limit_error\"}}"`
	}
	fmt.Println(`{"type":"session","version":3,"id":"s"}`)
	fmt.Printf(`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":%q}],"usage":{"input":1,"output":1,"totalTokens":2,"cost":{"total":%s}},%s}}`+"\n", text, usd, stop)
	fmt.Println(`{"type":"agent_settled"}`)
}

// asks wants to push, as claude does that asks its user, and ends when it was told.
func asks() {
	lines := bufio.NewScanner(os.Stdin)
	if !lines.Scan() {
		return // it is only asked for its version
	}
	fmt.Println(`{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}`)
	detach()
	noteLine("asks\n")
	fmt.Println(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"git push"},"tool_use_id":"t1"}}`)
	if !lines.Scan() {
		return
	}
	told := "no"
	if strings.Contains(lines.Text(), `"behavior":"allow"`) {
		told = "yes"
	}
	noteLine("told %s\n", told)
	os.WriteFile("count", []byte(told+"\n"), 0o600)
	fmt.Println(`{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","total_cost_usd":0.01,"result":"Well."}`)
}

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func deaf() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	time.Sleep(time.Hour)
}
