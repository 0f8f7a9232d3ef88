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

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
)

// patience bounds every wait: only what hangs takes longer.
const patience = proctest.Patience

const token = "0123456789abcdef"

// world is a host, and a sidecar that the test plays.
type world struct {
	t       *testing.T
	host    *Host
	address string
	stop    func()
	ended   chan error

	sidecar *rpc.Conn
	mu      sync.Mutex
	results map[string]string
	asked   chan rpc.Message // commands of the sidecar
}

// begin begins one, with what the sidecar's commands result in: JSON, or an error after a "!".
func begin(t *testing.T, results map[string]string) *world {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	starter, closing := io.Pipe()
	w := &world{t: t, address: listener.Addr().String(), ended: make(chan error, 1), results: results, asked: make(chan rpc.Message, 100)}
	w.stop = sync.OnceFunc(func() { _ = closing.Close() })
	isUp := make(chan struct{})
	w.host = &Host{Version: "test", Token: token, Folders: []string{"/w/app"}, Patience: 100 * time.Millisecond, Sidecar: func(in io.Reader, out io.Writer) {
		says := rpc.NewQueue()
		defer says.Close()
		go func() { _, _ = io.Copy(out, says) }()
		w.sidecar = rpc.New(rpc.WriteFrame, nil, says)
		w.sidecar.Handle = w.command
		close(isUp)
		_, _ = io.Copy(&rpc.Heard{Take: w.sidecar.Take}, in)
	}}
	go func() { w.ended <- w.host.Serve(listener, starter) }()
	<-isUp
	t.Cleanup(func() {
		w.stop()
		if err := receive(t, w.ended); err != nil {
			t.Error(err)
		}
	})
	return w
}

// command is what the sidecar does when an editor commands something.
func (w *world) command(method string, id, params json.RawMessage) {
	if method != "workspace/executeCommand" {
		w.sidecar.Reply(id, object{}, nil)
		return
	}
	var p struct {
		Command   string
		Arguments []json.RawMessage
	}
	_ = json.Unmarshal(params, &p)
	w.mu.Lock()
	result := w.results[p.Command]
	w.mu.Unlock()
	switch p.Command {
	case "ralph.agents.list":
		result = `{"agents":[{"name":"pi","text":"pi 0.80","installed":true},{"name":"claude","text":"no","installed":false}]}`
	case "ralph.hats", "ralph.loop.status", "ralph.loop.history", "ralph.loop.read", "ralph.loop.outline":
	default:
		w.asked <- rpc.Message{Method: p.Command, Params: p.Arguments[0]}
	}
	if result, failed := strings.CutPrefix(result, "!"); failed {
		var err rpc.Error
		_ = json.Unmarshal([]byte(result), &err)
		w.sidecar.Reply(id, nil, &err)
		return
	}
	if result == "" {
		result = "{}"
	}
	w.sidecar.Reply(id, json.RawMessage(result), nil)
}

// set has a command result in something else from now on.
func (w *world) set(command, result string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.results[command] = result
}

func (w *world) commanded(command, argument string) {
	w.t.Helper()
	m := receive(w.t, w.asked)
	if m.Method != command || !strings.Contains(string(m.Params), argument) {
		w.t.Fatalf("it commands %s %s, not %s %s", m.Method, m.Params, command, argument)
	}
}

// quiet fails when a command was given meanwhile.
func (w *world) quiet(after *window) {
	w.t.Helper()
	after.ask("ping", `{}`)
	select {
	case m := <-w.asked:
		w.t.Fatalf("it commands %s %s", m.Method, m.Params)
	default:
	}
}

// happens tells what happened to the loop.
func (w *world) happens(after, cursor string, updates ...string) {
	w.sidecar.Notify("ralph/update", json.RawMessage(fmt.Sprintf(`{"loopId":"ralph-a","after":%q,"cursor":%q,"updates":[%s]}`, after, cursor, strings.Join(updates, ","))))
}

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
	whole    = `{"loops":[{"loopId":"ralph-a","last":{"rows":[{"label":"Result","text":"done"}],"commands":[]}}]}`
)

func turnStarted(id, text string) string {
	return fmt.Sprintf(`{"type":"chat/turnStarted","turnId":%q,"startedAt":"2026-11-23T09:33:08.594Z","message":{"text":%q,"origin":{"kind":"user"},"model":{"id":"configured"},"_meta":{"kept":1}}}`, id, text)
}

// running is a window in which a loop is under way, in its first iteration.
func running(t *testing.T) (*world, *window) {
	t.Helper()
	w := begin(t, map[string]string{
		"ralph.loop.start": `{"loopId":"ralph-a","state":"starting"}`, "ralph.loop.read": `{"updates":[` + begun + `],"cursor":"c1"}`,
		"ralph.loop.status": whole, "ralph.loop.steer": `{"text":"the next run is told"}`,
	})
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
