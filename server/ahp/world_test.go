package ahp

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/looptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// patience bounds every wait: only what hangs takes longer.
const patience = proctest.Patience

const token = "0123456789abcdef"

// world is a host, and loops that the test plays.
type world struct {
	t       *testing.T
	host    *Host
	address string
	stop    func()
	ended   chan struct{}
	loops   *looptest.Loops
}

// begin begins one.
func begin(t *testing.T, loops *looptest.Loops) *world {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	starter, closing := io.Pipe()
	loops.Found.Agents = []answers.AgentInfo{{Name: "pi", Text: "pi 0.80", Installed: true}, {Name: "claude", Text: "no"}}
	w := &world{t: t, address: listener.Addr().String(), ended: make(chan struct{}), loops: loops}
	w.stop = sync.OnceFunc(func() { _ = closing.Close() })
	w.host = &Host{Version: "test", Token: token, Folders: []string{"/w/app"}, Patience: 100 * time.Millisecond, Loops: loops}
	go func() {
		defer close(w.ended)
		w.host.Serve(listener, starter)
	}()
	t.Cleanup(func() {
		w.stop()
		receive(t, w.ended)
	})
	return w
}

func (w *world) commanded(command, argument string) {
	w.t.Helper()
	if asked := receive(w.t, w.loops.Asked); !strings.HasPrefix(asked, command+" ") || !strings.Contains(asked, argument) {
		w.t.Fatalf("it commands %s, not %s %s", asked, command, argument)
	}
}

// quiet fails when a command was given meanwhile.
func (w *world) quiet(after *window) {
	w.t.Helper()
	after.ask("ping", `{}`)
	if len(w.loops.Asked) > 0 {
		w.t.Fatalf("it commands %s", <-w.loops.Asked)
	}
}

// happens tells what happened to the loop.
func (w *world) happens(updates ...string) { w.loops.Loop("ralph-a").Tell(updates...) }

func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatal("nothing comes")
	}
	return v
}

// window is a client.
type window struct {
	*world
	rpc      *rpc.Conn
	heard    chan rpc.Message
	answered chan rpc.Message
	seq      int
	last     int // serverSeq
}

// open opens a connection with a request's head, of which some lines are others.
func (w *world) connect(lines ...string) (*wsClient, error) {
	return dial(w.address, "/?tkn="+token, lines...)
}

// window opens one that has said who it is.
func (w *world) window(id string) *window {
	w.t.Helper()
	ws, err := w.connect("Host: " + w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	v := &window{world: w, heard: make(chan rpc.Message, 1000), answered: make(chan rpc.Message, 100)}
	v.rpc = rpc.New(func(_ io.Writer, m []byte) error { return ws.send(m) }, nil, io.Discard)
	v.rpc.Handle = func(method string, _, params json.RawMessage) {
		checkSent(w.t, method, params)
		v.heard <- rpc.Message{Method: method, Params: params}
	}
	go func() {
		defer close(v.heard)
		for {
			m, err := ws.receive()
			if err != nil {
				return
			}
			v.rpc.Take(m)
		}
	}()
	w.t.Cleanup(ws.close)
	v.ask("initialize", fmt.Sprintf(`{"channel":"ahp-root://","protocolVersions":["1.0.0","0.9.0"],"clientId":%q,"initialSubscriptions":["ahp-root://"]}`, id))
	return v
}

// ask asks the host something, and returns its answer.
func (v *window) ask(method, params string) rpc.Message {
	v.t.Helper()
	v.rpc.Request(method, json.RawMessage(params), func(result json.RawMessage, err *rpc.Error) {
		if err == nil {
			checkAnswer(v.t, method, result)
		}
		v.answered <- rpc.Message{Result: result, Error: err}
	})
	return receive(v.t, v.answered)
}

func (v *window) do(channel, action string) {
	v.seq++
	v.rpc.Notify("dispatchAction", json.RawMessage(fmt.Sprintf(`{"channel":%q,"clientSeq":%d,"action":%s}`, channel, v.seq, action)))
}

// hears returns the next action in a chat, and fails at another one.
func (v *window) hears(kind string) string {
	v.t.Helper()
	for {
		m := receive(v.t, v.heard)
		var p struct {
			Channel   string
			ServerSeq int
			Action    json.RawMessage
		}
		_ = json.Unmarshal(m.Params, &p)
		if m.Method != "action" || p.Channel != chatA {
			continue
		}
		if p.ServerSeq <= v.last {
			v.t.Errorf("%d comes behind %d", p.ServerSeq, v.last)
		}
		v.last = p.ServerSeq
		if !strings.Contains(string(p.Action), `"type":"`+kind+`"`) {
			v.t.Fatalf("%s comes, not %s", m.Params, kind)
		}
		return string(m.Params)
	}
}

const (
	sessionA = "ralph:/a"
	chatA    = "ahp-chat://default/cmFscGg6L2E"
	begun    = `{"sessionUpdate":"_ralph/iteration","phase":"begin","iteration":1,"maxIterations":5,"text":"iteration 1 of 5"}`
	second   = `{"sessionUpdate":"_ralph/iteration","phase":"begin","iteration":2,"maxIterations":5,"text":"iteration 2 of 5"}`
	over     = `{"sessionUpdate":"_ralph/end","stopReason":"promise","text":"done: DONE after 2 iterations"}`
	calling  = `{"sessionUpdate":"tool_call","toolCallId":"c1","name":"bash","title":"go test ./...","kind":"execute","status":"in_progress","rawInput":{"command":"go test ./..."}}`
	called   = `{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed","content":[{"type":"content","content":{"type":"text","text":"FAIL"}}]}`
)

func turnStarted(id, text string) string {
	return fmt.Sprintf(`{"type":"chat/turnStarted","turnId":%q,"startedAt":"2026-11-23T09:33:08.594Z","message":{"text":%q,"origin":{"kind":"user"},"model":{"id":"configured"},"_meta":{"kept":1}}}`, id, text)
}

// running is a window in which a loop is under way, in its first iteration.
func running(t *testing.T) (*world, *window) {
	t.Helper()
	loops := looptest.New()
	loops.Begins, loops.Texts["ralph.loop.steer"] = []string{begun}, "the next run is told"
	w := begin(t, loops)
	v := w.window("one")
	v.ask("createSession", `{"channel":"ralph:/a","provider":"ralph","workingDirectories":["file:///w/app"]}`)
	v.ask("subscribe", `{"channel":"ralph:/a"}`)
	v.ask("subscribe", `{"channel":"`+chatA+`"}`)
	w.quiet(v) // a session is no start
	v.do(chatA, turnStarted("t1", "Mend it --max-iterations 5"))
	w.commanded("ralph.loop.start", `"text":"Mend it --max-iterations 5"`)
	if got := v.hears("chat/turnStarted"); !strings.Contains(got, `"_meta":{"kept":1}`) || !strings.Contains(got, `"origin":{"clientId":"one","clientSeq":1}`) {
		t.Error(got)
	}
	if got := v.hears("chat/responsePart"); !strings.Contains(got, "**iteration 1 of 5**") {
		t.Error(got)
	}
	return w, v
}
