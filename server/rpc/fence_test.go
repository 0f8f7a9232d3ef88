package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Each of these tests shows first what jsonrpc2 does by itself, so that it
// fails when the library no longer needs that part of the fence, and then what
// it does behind the fence.

// handled are the methods of the tests' server, by what they do: on the read loop,
// aside of it ("...Aside"), and as notifications ("...Note").
func handled(c func() *Conn) map[string]Method {
	methods := map[string]Method{}
	add := func(name string, work Work) {
		methods["test/"+name] = Method{read: reading(func(struct{}) (Work, error) { return work, nil })}
		methods["test/"+name+"Aside"] = Aside(func(struct{}) (Work, error) { return work, nil })
		methods["test/"+name+"Note"] = Method{read: reading(func(struct{}) (Work, error) { return work, nil }), notification: true}
	}
	add("panic", func(context.Context) (any, error) { panic("boom") })
	add("fail", func(context.Context) (any, error) { return nil, errors.New("something broke") })
	add("failWithData", func(context.Context) (any, error) {
		return nil, &Error{Code: CodeRequestFailed, Message: "no", Data: map[string]string{"reason": "untrusted"}}
	})
	add("derive", func(ctx context.Context) (any, error) {
		own, cancel := context.WithCancel(ctx)
		defer cancel()
		return "fine", own.Err()
	})
	add("wait", func(ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("ask", func(ctx context.Context) (any, error) {
		var chosen struct {
			Title string `json:"title"`
		}
		err := c().Request(ctx, "window/showMessageRequest", map[string]any{"type": 3, "message": "Well?"}, &chosen)
		return chosen.Title, err
	})
	methods["textDocument/didOpen"] = Notification(func(struct {
		TextDocument struct{} `json:"textDocument"`
	}) {
	})
	return methods
}

// serve starts a server that has no more than the fence. It ends with 1 when the
// client is gone.
func serve(t *testing.T) *lsptest.Speaker {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	exit, ended := make(chan int, 1), make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) })
	log := new(lsptest.LogBuffer)
	ctx, cancel := context.WithCancel(t.Context())
	var c *Conn
	c = New(ctx, inR, Options{
		Methods: handled(func() *Conn { return c }),
		Admit: func(name string, known bool) error {
			if !known {
				return Errorf(CodeMethodNotFound, "method not found: %s", name)
			}
			return nil
		},
		Listens: func(string) bool { return true },
		Ended:   func(error) { end() },
		Log:     slog.New(slog.NewTextHandler(log, nil)),
	})
	c.Serve(outW)
	go func() {
		<-ended
		cancel()
		closing, stop := context.WithTimeout(context.Background(), lsptest.Patience)
		defer stop()
		c.Close(closing)
		_, _ = inR.Close(), outW.Close()
		exit <- 1
	}()
	t.Cleanup(func() { _, _ = inW.Close(), outR.Close() })
	return lsptest.NewSpeaker(t, inW, outR, log, exit, nil)
}

func TestConversations(t *testing.T) {
	for _, c := range lsptest.ReadConversations(t, "testdata/conversations.txt") {
		t.Run(c.Title, func(t *testing.T) { serve(t).Play(c.Steps) })
	}
}

// bareServer is the library without the fence.
type bareServer struct {
	conn jsonrpc2.Conn
	to   io.Writer
	from *bufio.Reader
}

type pipes struct {
	io.Reader
	io.Writer
	close func()
}

func (p pipes) Close() error {
	p.close()
	return nil
}

func bare(t *testing.T, handler jsonrpc2.Handler) bareServer {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	closeAll := func() {
		_, _, _, _ = in.Close(), to.Close(), from.Close(), out.Close()
	}
	t.Cleanup(closeAll)
	s := bareServer{jsonrpc2.NewConn(jsonrpc2.NewStream(pipes{in, out, closeAll})), to, bufio.NewReader(from)}
	s.conn.Go(context.Background(), handler)
	return s
}

func (s bareServer) says(t *testing.T, raw string) {
	t.Helper()
	must.OK(t, must.Err(io.WriteString(s.to, raw)))
}

// answers returns the next message that the library sends.
func (s bareServer) answers(t *testing.T) string {
	t.Helper()
	body, err := lsptest.ReadFrame(s.from)
	must.OK(t, err)
	return string(body)
}

// ends wants that the message ends the connection.
func (s bareServer) ends(t *testing.T, raw string) {
	t.Helper()
	s.says(t, raw)
	select {
	case <-s.conn.Done():
	case <-time.After(lsptest.Patience):
		t.Error("the library survives it: the fence isn't needed any more")
	}
}

// fenced plays a conversation with a server behind the fence.
func fenced(t *testing.T, lines string) {
	t.Helper()
	var steps []lsptest.Step
	for line := range strings.Lines(lines) {
		if verb, rest, _ := strings.Cut(strings.TrimSpace(line), " "); verb != "" {
			steps = append(steps, lsptest.Step{Where: line, Verb: verb, Rest: rest})
		}
	}
	serve(t).Play(steps)
}

// protocolHandler is how the protocol package wants to be used.
func protocolHandler() jsonrpc2.Handler {
	return protocol.ServerHandler(protocol.UnimplementedServer{}, jsonrpc2.MethodNotFoundHandler)
}

func TestAnErrorOfANotificationEndsNothing(t *testing.T) {
	failing := func(context.Context, *jsonrpc2.Request) (any, error) { return nil, errors.New("no") }
	bare(t, failing).ends(t, framed(`{"jsonrpc":"2.0","method":"x"}`))
	fenced(t, `send {"method":"test/failNote"}
		quiet`)
}

func TestAPanicEndsNothing(t *testing.T) {
	panicking := func(context.Context, *jsonrpc2.Request) (any, error) { panic("boom") }
	bare(t, panicking).ends(t, framed(`{"jsonrpc":"2.0","method":"x"}`))
	fenced(t, `send {"method":"test/panicNote"}
		send {"id":2,"method":"test/panicAside"}
		expect {"id":2,"error":{"code":-32603}}
		quiet`)
}

func TestAnUnknownNotificationEndsNothing(t *testing.T) {
	bare(t, protocolHandler()).ends(t, framed(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":5}}`))
	fenced(t, `send {"method":"no/such"}
		send {"method":"textDocument/didOpen","params":{"textDocument":5}}
		quiet`)
}

func TestACancelOfNullEndsNothing(t *testing.T) {
	bare(t, protocolHandler()).ends(t, framed(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}`))
	fenced(t, `send {"method":"$/cancelRequest","params":{"id":null}}
		quiet`)
}

func TestInvalidJSONEndsNothing(t *testing.T) {
	bare(t, jsonrpc2.MethodNotFoundHandler).ends(t, framed(`{"jsonrpc":`))
	fenced(t, `frame "{\"jsonrpc\":"
		expect {"id":null,"error":{"code":-32700}}
		quiet`)
}

func TestAPlainErrorHasACode(t *testing.T) {
	s := bare(t, func(context.Context, *jsonrpc2.Request) (any, error) { return nil, errors.New("no") })
	s.says(t, framed(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
	if answer := s.answers(t); !strings.Contains(answer, `"code":0`) {
		t.Errorf("the library gives it one itself: %s", answer)
	}
	fenced(t, `send {"id":2,"method":"test/fail"}
		expect {"id":2,"error":{"code":-32603,"message":"something broke"}}`)
}

// soon is how long a test waits to see that something does not happen.
const soon = 50 * time.Millisecond

func TestAQuestionOnTheReadLoopIsRefused(t *testing.T) {
	asked := make(chan error, 1)
	var s bareServer
	ready := make(chan struct{})
	s = bare(t, func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
		<-ready
		_, err := s.conn.Call(jsonrpc2.DetachContext(ctx), "ask", nil, nil)
		asked <- err
		return nil, err
	})
	close(ready)
	s.says(t, framed(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
	s.answers(t)
	go func() { _, _ = io.WriteString(s.to, framed(`{"jsonrpc":"2.0","id":1,"result":1}`)) }()
	select {
	case <-asked:
		t.Error("the library reads the answer: the fence isn't needed any more")
	case <-time.After(soon):
	}
	fenced(t, `send {"id":2,"method":"test/ask"}
		expect {"id":2,"error":{"code":-32603}}
		quiet`)
}

func TestAClientThatDoesNotReadBlocksNobody(t *testing.T) {
	s := bare(t, jsonrpc2.MethodNotFoundHandler)
	written := make(chan error, 1)
	go func() { written <- s.conn.Notify(context.Background(), "x", 1) }()
	select {
	case <-written:
		t.Error("the library doesn't wait: the fence isn't needed any more")
	case <-time.After(soon):
	}

	in, to := io.Pipe()
	from, out := io.Pipe()
	t.Cleanup(func() { _, _ = to.Close(), from.Close() })
	c := New(t.Context(), in, Options{Methods: map[string]Method{}, Ended: func(error) {}, Log: slog.New(slog.DiscardHandler)})
	c.Serve(out)
	for range 1000 {
		c.Notify("x", 1) // hangs when it blocks
		c.NotifyLatest("k", "y", 1)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	c.Close(over) // hangs when it waits for the client
}

// crashEnv makes a process of the test binary whose handlers derive contexts.
const crashEnv = "RALPH_TEST_DERIVES"

func TestMain(m *testing.M) {
	if os.Getenv(crashEnv) != "" {
		deriveWithoutFence()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// deriveWithoutFence derives contexts with the bare library.
func deriveWithoutFence() {
	in, to := io.Pipe()
	from, out := io.Pipe()
	server := jsonrpc2.NewConn(jsonrpc2.NewStream(pipes{in, out, func() {}}))
	server.Go(context.Background(), func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
		own, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return 1, own.Err()
	})
	c := jsonrpc2.NewConn(jsonrpc2.NewStream(pipes{from, to, func() {}}))
	c.Go(context.Background(), jsonrpc2.MethodNotFoundHandler)
	for range derivations {
		if _, err := c.Call(context.Background(), "x", nil, nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

const derivations = 20000

func TestAHandlerMayDeriveAContext(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"=1")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("the library survives it: the fence isn't needed any more\n%.500s", out)
	}
	fenced(t, strings.Repeat(`send {"id":2,"method":"test/derive"}
		expect {"id":2,"result":"fine"}
		send {"id":3,"method":"test/deriveAside"}
		expect {"id":3,"result":"fine"}
		send {"method":"test/deriveNote"}
		`, 2000))
}

func TestErrorsArePlain(t *testing.T) {
	for _, text := range []string{"\x1b[31mred", "bell\a", "\u202eright to left", "zero\u200bwidth"} {
		if got := toWire(Errorf(1, "%s", text)).Message; got != stream.Sanitize(text) || got == text {
			t.Errorf("%q is said as %q", text, got)
		}
	}
}
