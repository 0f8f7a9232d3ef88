//go:build e2e

package sidecar

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait.
const patience = 60 * time.Second

// editor is a client of the built sidecar, with the pipes in its hands.
type editor struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *os.File // the sidecar's stdout
	done  chan struct{}

	mu      sync.Mutex
	changed *sync.Cond
	next    int
	answers map[int]json.RawMessage
	notes   []note
	onNote  func(note) // instead of keeping it
}

type note struct {
	Method string
	Params json.RawMessage
	at     time.Time
}

// launch starts a sidecar for one folder. command is the sidecar, or a program
// that starts it; reads says whether the editor reads what it is told.
func launch(t *testing.T, command *exec.Cmd, updates bool, folders ...string) *editor {
	t.Helper()
	e := &editor{t: t, cmd: command, done: make(chan struct{}), answers: map[int]json.RawMessage{}}
	e.changed = sync.NewCond(&e.mu)
	var err error
	if e.stdin, err = command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout = w
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	e.out = r
	go func() {
		command.Wait()
		close(e.done)
	}()
	t.Cleanup(func() {
		e.stdin.Close()
		<-e.done
		r.Close()
	})
	go e.read(bufio.NewReader(r))
	var workspace []map[string]string
	for _, dir := range folders {
		workspace = append(workspace, map[string]string{"uri": "file://" + dir, "name": dir})
	}
	e.call("initialize", map[string]any{"processId": nil, "workspaceFolders": workspace, "capabilities": map[string]any{
		"window":       map[string]any{"workDoneProgress": true},
		"experimental": map[string]any{"ralph": map[string]any{"version": 1, "updates": updates}},
	}})
	e.send(map[string]any{"jsonrpc": "2.0", "method": "initialized", "params": map[string]any{}})
	return e
}

func (e *editor) read(r *bufio.Reader) {
	for {
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(header.Get("Content-Length"))
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(body, &m); err != nil {
			e.t.Errorf("the sidecar sent %.200q: %v", body, err)
			return
		}
		e.mu.Lock()
		onNote := e.onNote
		heard := note{m.Method, m.Params, time.Now()}
		switch {
		case m.Method == "":
			id, _ := strconv.Atoi(string(m.ID))
			e.answers[id] = m.Result
			if len(m.Error) > 0 {
				e.t.Errorf("error %s", m.Error)
			}
		case onNote == nil:
			e.notes = append(e.notes, heard)
		}
		e.changed.Broadcast()
		e.mu.Unlock()
		if m.Method != "" && len(m.ID) > 0 {
			e.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": nil})
		}
		if m.Method != "" && onNote != nil {
			onNote(heard)
		}
	}
}

func (e *editor) send(v any) {
	body, _ := json.Marshal(v)
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintf(e.stdin, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (e *editor) call(method string, params any) json.RawMessage {
	e.t.Helper()
	e.mu.Lock()
	e.next++
	id := e.next
	e.mu.Unlock()
	e.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	var answer json.RawMessage
	e.until("answer to "+method, func() (ok bool) { answer, ok = e.answers[id]; return ok })
	return answer
}

// start starts a loop of an agent that plays role and speaks pi's stream.
func (e *editor) start(dir, prompt string) {
	e.t.Helper()
	e.call("workspace/executeCommand", map[string]any{"command": "ralph.loop.start", "arguments": []any{map[string]any{
		"folder": "file://" + dir, "backend": os.Args[0], "text": prompt + " --backend-output pi-stream-json --completion-promise DONE",
	}}})
}

func (e *editor) until(what string, condition func() bool) {
	e.t.Helper()
	deadline := time.Now().Add(patience)
	timer := time.AfterFunc(patience, e.changed.Broadcast)
	defer timer.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for !condition() {
		if time.Now().After(deadline) {
			e.t.Fatalf("no %s within %v; heard %d notifications", what, patience, len(e.notes))
		}
		e.changed.Wait()
	}
}

// hears waits for a notification that contains text.
func (e *editor) hears(method, text string) {
	e.t.Helper()
	seen := 0
	e.until(method+" with "+text, func() bool {
		for ; seen < len(e.notes); seen++ {
			if n := e.notes[seen]; n.Method == method && strings.Contains(string(n.Params), text) {
				return true
			}
		}
		return false
	})
}
