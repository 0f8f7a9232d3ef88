package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// visit is a server in a synctest bubble.
type visit struct {
	t    *testing.T
	to   *io.PipeWriter
	code int
	done chan struct{}
}

func startVisit(t *testing.T, out io.Writer, opts Options) *visit {
	in, to := io.Pipe()
	v := &visit{t: t, to: to, done: make(chan struct{})}
	go func() {
		defer close(v.done)
		v.code = Run(t.Context(), in, out, opts)
		_ = in.Close()
	}()
	return v
}

func (v *visit) says(messages ...string) {
	v.t.Helper()
	for _, m := range messages {
		must.OK(v.t, must.Err(v.to.Write(lsptest.Frame(`{"jsonrpc":"2.0",`+m[1:]))))
	}
	synctest.Wait()
}

func (v *visit) ended() bool {
	synctest.Wait()
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

const (
	sayInitialize = `{"id":1,"method":"initialize","params":{"capabilities":{}}}`
	sayShutdown   = `{"id":2,"method":"shutdown"}`
)

func TestShutdownWithoutExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := startVisit(t, io.Discard, Options{})
		v.says(sayInitialize, sayShutdown)
		time.Sleep(exitPatience - time.Millisecond)
		if v.ended() {
			t.Fatal("it ended too soon")
		}
		time.Sleep(time.Millisecond)
		if !v.ended() || v.code != 0 {
			t.Errorf("ended: %v, exit code %d; want the end with 0", v.ended(), v.code)
		}
	})
}

// A client that reads late has all the time that no loop needs for its end.
func TestTheLastAnswerIsReadLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, theirs := io.Pipe()
		v := startVisit(t, theirs, Options{Log: slog.New(slog.DiscardHandler)})
		v.says(sayInitialize, sayShutdown, `{"method":"exit"}`)
		go func() {
			<-v.done
			_ = theirs.Close() // as the end of a process does
		}()
		time.Sleep(endPatience - time.Millisecond)
		all, err := io.ReadAll(said)
		if err != nil || !strings.Contains(string(all), `"id":2,"result":null`) {
			t.Errorf("it says %q (%v)", all, err)
		}
	})
}

func init() {
	// client is a process whose server talks with somebody else: with whoever
	// started the client.
	roles["client"] = func() {
		server := exec.Command(os.Args[0])
		server.Env = append(os.Environ(), roleEnv+"=server")
		server.Stdin, server.Stdout, server.Stderr = os.Stdin, os.Stdout, os.Stderr
		fmt.Println(server.Run())
	}
	roles["server"] = func() {
		parentPoll = time.Millisecond
		parent, _ := strconv.Atoi(os.Getenv("PARENT")) // none is 0
		fmt.Fprintln(os.Stderr, "exit code", Run(context.Background(), os.Stdin, os.Stdout, Options{Parent: parent}))
	}
}

func TestTheClientsProcessDies(t *testing.T) {
	for name, tt := range map[string]struct{ env, initialize string }{
		"named by initialize":       {"PARENT=", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":%d,"capabilities":{}}}`},
		"named by the command line": {"PARENT=asked", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":1,"capabilities":{"x":%d}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			// The shell's process id is known before it becomes the client.
			client := exec.Command("sh", "-c", `PARENT=${PARENT:+$$} exec "$0"`, os.Args[0])
			client.Env = append(os.Environ(), roleEnv+"=client", tt.env)
			to, err := client.StdinPipe()
			must.OK(t, err)
			said, theirs, err := os.Pipe()
			must.OK(t, err)
			defer said.Close()
			ended, itsEnd, err := os.Pipe()
			must.OK(t, err)
			defer ended.Close()
			client.Stdout, client.Stderr = theirs, itsEnd
			err = client.Start()
			theirs.Close()
			itsEnd.Close()
			must.OK(t, err)
			defer to.Close()
			must.OK(t, must.Err(to.Write(lsptest.Frame(fmt.Sprintf(tt.initialize, client.Process.Pid)))))
			if _, err := said.Read(make([]byte, 1)); err != nil { // the answer: it is there before its client dies
				t.Fatal(err)
			}
			_ = client.Process.Kill()
			_ = client.Wait() // killed: an error
			go func() { _, _ = io.Copy(io.Discard, said) }()
			_ = ended.SetReadDeadline(time.Now().Add(patience))
			how, err := io.ReadAll(ended)
			if err != nil || !strings.Contains(string(how), "exit code 1") {
				t.Errorf("it ends with %q, %v", how, err)
			}
		})
	}
}

// What is watched must be an ancestor: another process with the number of the
// client's isn't the client, which is on another machine.
func TestAStrangersProcessIsNotWatched(t *testing.T) {
	for name, options := range map[string]func(pid int) Options{
		"named by initialize":       func(int) Options { return Options{} },
		"named by the command line": func(pid int) Options { return Options{Parent: pid} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stranger := exec.Command("cat")
				must.OK(t, must.Err(stranger.StdinPipe()))
				must.OK(t, stranger.Start())
				v := startVisit(t, io.Discard, options(stranger.Process.Pid))
				v.says(fmt.Sprintf(`{"id":1,"method":"initialize","params":{"processId":%d,"capabilities":{}}}`, stranger.Process.Pid))
				_ = stranger.Process.Kill()
				_ = stranger.Wait() // killed: an error
				time.Sleep(time.Hour)
				if v.ended() {
					t.Error("it ended")
				}
				v.says(`{"method":"exit"}`)
				<-v.done
			})
		})
	}
}

func TestWhoIsAnAncestor(t *testing.T) {
	child := exec.Command("cat")
	must.OK(t, must.Err(child.StdinPipe()))
	must.OK(t, child.Start())
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait() // killed: an error
	}()
	for name, tt := range map[string]struct {
		pid  int
		want bool
	}{
		"the parent":             {os.Getppid(), true},
		"the parent's parent":    {reaper.Parent(os.Getppid()), true},
		"this process":           {os.Getpid(), false},
		"a child":                {child.Process.Pid, false},
		"nobody":                 {0, false},
		"nobody, not even close": {-1, false},
	} {
		if got := isAncestor(tt.pid); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if got := reaper.Parent(child.Process.Pid); got != os.Getpid() {
		t.Errorf("the parent of a child: %d", got)
	}
}

func TestClientLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var also bytes.Buffer
		s := newServer(t.Context(), strings.NewReader(""), Options{Log: slog.New(slog.NewTextHandler(&also, nil))})
		defer s.stopLoops()
		s.log.Info("too early")
		s.phase.Store(int32(initialized))
		s.log.Debug("a detail")
		s.log.With("folder", "/w").Warn("careful", "n", 1, rpc.StackKey, "a lot")
		for i := range 2 * logRate {
			s.log.Info(fmt.Sprint("message ", i))
		}
		time.Sleep(time.Second)
		s.log.Error("broken")
		var out bytes.Buffer
		s.Serve(&out)
		s.Close(t.Context())
		var got []string
		for in := bufio.NewReader(&out); ; {
			body, err := lsptest.ReadFrame(in)
			if err != nil {
				break
			}
			got = append(got, string(body))
		}
		want := []string{`{"jsonrpc":"2.0","method":"window/logMessage","params":{"message":"careful folder=/w n=1","type":2}}`}
		for i := range logRate - 1 {
			want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","method":"window/logMessage","params":{"message":"message %d","type":3}}`, i))
		}
		want = append(want, `{"jsonrpc":"2.0","method":"window/logMessage","params":{"message":"broken (11 messages before this one were too many)","type":1}}`)
		if !slices.Equal(got, want) {
			t.Errorf("the client's log:\n%q\nwant\n%q", got, want)
		}
		for _, text := range []string{"too early", "a lot", "message 19", "broken"} {
			if !strings.Contains(also.String(), text) {
				t.Errorf("the other log lacks %q:\n%s", text, also.String())
			}
		}
	})
}

func TestWhatAClientTellsOfItself(t *testing.T) {
	tests := []struct {
		name, params string
		want         client.Info
		folders      []string
	}{
		{"nothing", `{"capabilities":{}}`, client.Info{}, nil},
		{"all", `{"clientInfo":{"name":"ed"},"workspaceFolders":[{"uri":"file:///w/a%20b","name":"a"},{"uri":"untitled:x","name":"x"}],"rootUri":"file:///old",
			"capabilities":{"general":{"positionEncodings":["utf-8"]},"window":{"workDoneProgress":true},"textDocument":{"diagnostic":{}},
			"workspace":{"applyEdit":true,"codeLens":{"refreshSupport":true},"diagnostics":{"refreshSupport":true},"didChangeWatchedFiles":{"dynamicRegistration":true}},
			"experimental":{"ralph":{"version":2,"updates":true,"thinking":true,"minUpdateIntervalMs":200}}}}`,
			client.Info{Name: "ed", OptedIn: true, Updates: true, Thinking: true, MinUpdateInterval: 200 * time.Millisecond, WorkDoneProgress: true,
				PullDiagnostics: true, CodeLensRefresh: true, DiagnosticRefresh: true, UTF8: true}, []string{"/w/a b"}},
		{"another version of our protocol", `{"capabilities":{"experimental":{"ralph":{"version":3,"updates":true}}}}`, client.Info{}, nil},
		{"an earlier one", `{"capabilities":{"experimental":{"ralph":{"version":1,"updates":true}}}}`, client.Info{}, nil},
		{"an interval of no use", `{"capabilities":{"experimental":{"ralph":{"version":2,"minUpdateIntervalMs":-5}}}}`, client.Info{OptedIn: true}, nil},
		{"an old client's folder", `{"rootUri":"file:///w","capabilities":{}}`, client.Info{}, []string{"/w"}},
		{"a very old client's folder", `{"rootUri":null,"rootPath":"/w","capabilities":{}}`, client.Info{}, []string{"/w"}},
		{"no folder is open", `{"workspaceFolders":null,"rootUri":null,"capabilities":{}}`, client.Info{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p client.Params
			must.OK(t, json.Unmarshal([]byte(tt.params), &p))
			if got := p.Info(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("client %+v, want %+v", got, tt.want)
			}
			if got := p.Folders(); !slices.Equal(got, tt.folders) {
				t.Errorf("folders %q, want %q", got, tt.folders)
			}
		})
	}
}

// Whatever message comes, the next one is answered.
func FuzzDispatch(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":5,"method":"workspace/executeCommand","params":{"command":"ralph.loop.status","arguments":[{}]}}`,
		`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{"added":[{"uri":"file:///no/such","name":"x"}],"removed":[]}}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `[]`, `{`,
		`{"jsonrpc":"2.0","method":"window/workDoneProgress/cancel","params":{"token":"ralph/x"}}`, `{"jsonrpc":"2.0","id":"s","method":"initialize"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !harmless(body) {
			return
		}
		c := startInside(t, Options{})
		c.Play([]lsptest.Step{
			{Where: "handshake", Verb: "send", Rest: sayInitialize},
			{Where: "handshake", Verb: "expect", Rest: `{"id":1,"result":"*"}`},
			{Where: "handshake", Verb: "frame", Rest: fmt.Sprintf("%q", "{}")}, // so that a lost answer would show
			{Where: "handshake", Verb: "expect", Rest: `{"id":null}`},
		})
		c.Write(lsptest.Frame(string(body)))
		c.Write(lsptest.Frame(`{"jsonrpc":"2.0","id":"the last","method":"ping"}`))
		c.Drain(`"the last"`)
		c.Play([]lsptest.Step{{Where: "end", Verb: "close", Rest: "stdin"}, {Where: "end", Verb: "exit", Rest: "1"}})
	})
}

// harmless says whether a message neither ends the visit nor touches folders
// or processes.
func harmless(body []byte) bool {
	var m struct {
		Method string
		Params struct{ Command string }
	}
	_ = json.Unmarshal(body, &m) // what can't be read does nothing
	switch {
	case m.Method == "shutdown", m.Method == "exit":
		return false
	case caller.Knows(m.Params.Command):
		return slices.Contains([]string{wire.CommandStatus, wire.CommandRead, wire.CommandHelp}, m.Params.Command)
	}
	return true
}
