//go:build e2e

package sidecar

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// roleEnv names what the test binary plays instead of testing.
const roleEnv = "RALPH_SIDECAR_ROLE"

// sidecar is the program under test, built once by TestMain.
var sidecar string

var roles = map[string]func(){
	// an agent with a tool that detaches itself and is deaf to SIGTERM
	"stubborn": func() {
		io.Copy(io.Discard, os.Stdin)
		tool := exec.Command(os.Args[0])
		tool.Env = append(os.Environ(), roleEnv+"=deaf")
		tool.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := tool.Start(); err != nil {
			panic(err)
		}
		fmt.Println(`{"type":"tool_execution_start","toolCallId":"t1","toolName":"bash","args":{"command":"serve"}}`)
		time.Sleep(time.Hour)
	},
	"deaf": func() {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		time.Sleep(time.Hour)
	},
	// a driver starts the sidecar on its own stdin and stdout, and is its parent
	"parent": func() {
		cmd := exec.Command(os.Getenv("RALPH_SIDECAR"), "--stdio", "--clientProcessId", strconv.Itoa(os.Getpid()))
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), roleEnv+"=stubborn") // for the sidecar's agents
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		cmd.Wait()
	},
	"flood":  flood,
	"slowly": speakSlowly,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		roles[role]()
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	proctest.HeedSignals()
	dir, err := os.MkdirTemp("", "ralph-sidecar-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	remove, err := testhome.Use() // for the sidecar and its loops
	if err != nil {
		panic(err)
	}
	defer remove()
	if sidecar, err = agents.BuildRalph(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// speakSlowly says ten lines a second, as a working agent does.
func speakSlowly() {
	io.Copy(io.Discard, os.Stdin)
	fmt.Println(`{"type":"message_start","message":{"role":"assistant","content":[]}}`)
	for i := 0; ; i++ {
		fmt.Printf(`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"line %d at %d\n"}}`+"\n", i, time.Now().UnixNano())
		time.Sleep(100 * time.Millisecond)
	}
}

// A flood, here and in testdata/flood.mjs: pieces of text, which an environment variable says,
// and 1000 tool calls. A test's are more than a sidecar may keep (maxMemory).
const (
	floodTools = 1000
	floodText  = "some words "
	floodEnv   = "RALPH_SIDECAR_FLOOD"
	testFlood  = 250_000
	benchFlood = 1_000_000
)

// flood prints events of pi's as fast as they are taken, and tells in a file how long it took.
func flood() {
	size, err := strconv.Atoi(os.Getenv(floodEnv))
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, os.Stdin)
	const usage = `"usage":{"input":1000,"output":200,"cacheRead":5000,"cacheWrite":300,"totalTokens":6500,"cost":{"input":0.003,"output":0.003,"cacheRead":0.0015,"cacheWrite":0.001125,"total":0.008624999999999999},"cacheWrite1h":0}`
	w := bufio.NewWriterSize(os.Stdout, 64<<10)
	begin := time.Now()
	fmt.Fprintln(w, `{"type":"session","version":3,"id":"01a1f8b0","timestamp":"2026-11-20T11:21:28.003Z","cwd":"/"}`)
	fmt.Fprintln(w, `{"type":"message_start","message":{"role":"assistant","content":[]}}`)
	line := []byte(`{"type":"message_update",` + usage + `,"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"` + floodText + `"}}` + "\n")
	for i := range size {
		if i%(size/floodTools) == 0 {
			fmt.Fprintf(w, `{"type":"tool_execution_start","toolCallId":"t%d","toolName":"bash","args":{"command":"go test"}}`+"\n", i)
			fmt.Fprintf(w, `{"type":"tool_execution_end","toolCallId":"t%d","toolName":"bash","result":{"content":[{"type":"text","text":"ok"}]},"isError":false}`+"\n", i)
		}
		w.Write(line)
	}
	fmt.Fprintln(w, `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"<promise>DONE</promise>"}],"stopReason":"stop"}}`)
	fmt.Fprintln(w, `{"type":"agent_settled"}`)
	w.Flush()
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	processor := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	os.WriteFile("flood-took", []byte(time.Since(begin).String()+" "+processor.String()), 0o600)
}
