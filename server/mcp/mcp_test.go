package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// patience bounds every wait: only what hangs takes longer.
const patience = proctest.Patience

// talk is a server between a client and tools that the test plays.
type talk struct {
	t       *testing.T
	toUs    io.Writer
	said    chan string
	asked   chan string // of the tools
	results map[string]string
	state   string // of the question that a call has ended with
}

// Call implements Tools.
func (k *talk) Call(_ context.Context, p answers.ToolParams) (result answers.ToolResult, err error) {
	err = k.answer(wire.CommandTool, p, &result)
	return result, err
}

// Agreed implements Tools.
func (k *talk) Agreed(_ context.Context, offer wire.Command) (reply answers.Reply, err error) {
	err = k.answer(offer.Command, offer.Arguments[0], &reply)
	return reply, err
}

// answer notes what is asked, and answers as the conversation says.
func (k *talk) answer(command string, argument, into any) error {
	about, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	k.asked <- command + " " + string(about)
	if why, failed := strings.CutPrefix(k.results[command], "!"); failed {
		return errors.New(why)
	}
	return json.Unmarshal([]byte(k.results[command]), into)
}

func receive(t *testing.T, from chan string) string {
	t.Helper()
	select {
	case s := <-from:
		return s
	case <-time.After(patience):
		t.Fatal("nothing comes")
		return ""
	}
}

func begin(t *testing.T) *talk {
	k := &talk{t: t, said: make(chan string, 100), asked: make(chan string, 100), results: map[string]string{}}
	fromClient, toUs := io.Pipe()
	k.toUs = toUs
	s := Server{Version: "1.2.3", Folder: "file:///w/app", Tools: k}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(fromClient, lines(k.said)) }()
	t.Cleanup(func() {
		_ = toUs.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return k
}

type lines chan string

func (l lines) Write(p []byte) (int, error) { l <- strings.TrimSpace(string(p)); return len(p), nil }

// A conversation is a file: what the client says (>), what it hears (<), what the tools are asked (?) and
// what their commands result in (=). STATE is that of the last question.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.talk")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".talk"), func(t *testing.T) {
			content := must.Read(t, file)
			k := begin(t)
			for line := range strings.Lines(string(content)) {
				if kind, rest, _ := strings.Cut(strings.TrimSpace(line), " "); kind != "" && kind != "#" {
					k.play(kind, rest)
				}
			}
			if len(k.said)+len(k.asked) > 0 {
				t.Errorf("more comes: %d lines, %d commands", len(k.said), len(k.asked))
			}
		})
	}
}

func (k *talk) play(kind, line string) {
	k.t.Helper()
	switch kind {
	case ">":
		must.OK(k.t, must.Err(io.WriteString(k.toUs, strings.ReplaceAll(line, "STATE", k.state)+"\n")))
	case "<":
		said := receive(k.t, k.said)
		var m struct{ Result struct{ RequestState string } }
		_ = json.Unmarshal([]byte(said), &m)
		if k.state = m.Result.RequestState; k.state != "" {
			said = strings.ReplaceAll(said, k.state, "STATE")
		}
		k.same(said, line)
	case "?":
		name, argument, _ := strings.Cut(receive(k.t, k.asked), " ")
		want, about, _ := strings.Cut(line, " ")
		if name != want {
			k.t.Fatalf("%s %s, not %s", name, argument, line)
		}
		k.same(argument, about)
	case "=":
		command, result, _ := strings.Cut(line, " ")
		k.results[command] = result
	default:
		k.t.Fatalf("%s %s", kind, line)
	}
}

func (k *talk) same(got, want string) {
	k.t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		k.t.Fatalf("%s: %v", want, err)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil || !cmp.Equal(g, w) {
		k.t.Fatalf("%s (%v)\nnot\n%s\n%s", got, err, want, cmp.Diff(w, g))
	}
}

// Whatever a client says, the conversation goes on, and no start comes of it.
func FuzzAClientsLines(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.talk")
	for _, file := range files {
		content, _ := os.ReadFile(file)
		for line := range strings.Lines(string(content)) {
			if said, ok := strings.CutPrefix(strings.TrimSpace(line), "> "); ok {
				f.Add(said)
			}
		}
	}
	for _, line := range []string{`[]`, `{`, `null`, `{"id":{},"method":"tools/call"}`, `{"id":1,"result":7}`, `{"id":2,"method":"tools/call","params":[]}`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var out bytes.Buffer
		tools := &talk{t: t, asked: make(chan string, 100), results: map[string]string{wire.CommandTool: "{}"}}
		s := Server{Folder: "file:///w/app", Tools: tools}
		must.OK(t, s.Serve(strings.NewReader(line+"\n"+`{"id":"last","method":"nope"}`+"\n"), &out))
		isAnswered := false
		for said := range strings.Lines(out.String()) {
			var m rpc.Message
			if err := json.Unmarshal([]byte(said), &m); err != nil {
				t.Fatalf("it says %q: %v", said, err)
			}
			isAnswered = isAnswered || string(m.ID) == `"last"`
		}
		close(tools.asked)
		for asked := range tools.asked {
			isAnswered = isAnswered && strings.HasPrefix(asked, wire.CommandTool)
		}
		if !isAnswered {
			t.Errorf("%q is the last word, or does something: %s", line, out.String())
		}
	})
}
