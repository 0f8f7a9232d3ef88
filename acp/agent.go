package acp

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// protocolVersion is the only one that is spoken: whoever asks for a newer one is answered with it.
const protocolVersion = 1

// Agent is an agent for one client.
type Agent struct {
	// Version is this program's.
	Version string
	// Sidecar serves an editor until in ends, as LSP does. By then no agent of it is left.
	Sidecar func(in io.Reader, out io.Writer)
	// Heartbeat is how long a client may hear nothing while a loop runs; 0: 25 s.
	Heartbeat time.Duration

	client  *conn
	sidecar *conn

	mu       sync.Mutex
	sessions map[string]*session // by their ids
	loops    map[string]*session // by the ids of their loops
	folders  map[string]bool     // that the sidecar knows
	hasForms bool                // the client's user can fill in a form

	asked map[string]json.RawMessage // questions that the client has: its request's id by the sidecar's
}

// Serve serves a client until it goes away: then its loops end as they do with an editor, and
// Serve returns.
func (a *Agent) Serve(in io.Reader, out io.Writer) error {
	a.sessions, a.loops, a.folders, a.asked = map[string]*session{}, map[string]*session{}, map[string]bool{}, map[string]json.RawMessage{}
	fromUs, toSidecar := io.Pipe()
	a.client = newConn(writeLine, in, out)
	a.client.handle = a.fromClient
	commands := make(chan []byte, 1024)
	go func() {
		for c := range commands {
			_, _ = toSidecar.Write(c) // one that has ended reads no more
		}
		_ = toSidecar.Close() // as an editor that goes away
	}()
	a.sidecar = newConn(writeFrame, nil, queue(commands))
	a.sidecar.handle = a.fromSidecar

	sidecarEnds, clientEnds := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(sidecarEnds)
		a.Sidecar(fromUs, &heard{take: a.sidecar.take})
		_ = fromUs.Close()
	}()
	a.begin()
	go func() { clientEnds <- a.client.serve() }()
	var err error
	select {
	case err = <-clientEnds:
	case <-sidecarEnds: // a signal has ended it
	}
	a.sidecar.mu.Lock()
	a.sidecar.out = io.Discard
	a.sidecar.mu.Unlock()
	close(commands)
	<-sidecarEnds
	return err
}

// queue takes what is said to the sidecar, so that who hears it never waits for it to listen.
type queue chan []byte

func (q queue) Write(p []byte) (int, error) {
	q <- bytes.Clone(p)
	return len(p), nil
}

// begin makes us an editor of the sidecar's that shows all, and asks its user itself.
func (a *Agent) begin() {
	a.sidecar.request("initialize", map[string]any{
		"processId": nil, "rootUri": nil, "workspaceFolders": []any{},
		"clientInfo": map[string]any{"name": "ralph-lsp acp", "version": a.Version},
		"capabilities": map[string]any{
			"workspace":    map[string]any{"workspaceFolders": true},
			"experimental": map[string]any{"ralph": map[string]any{"version": 2, "updates": true, "thinking": true, "permissions": true}},
		},
	}, func(json.RawMessage, *rpcError) { a.sidecar.notify("initialized", map[string]any{}) })
}

// open has the sidecar know a folder.
func (a *Agent) open(folder string) {
	a.mu.Lock()
	isKnown := a.folders[folder]
	a.folders[folder] = true
	a.mu.Unlock()
	if !isKnown {
		a.sidecar.notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{
			"added": []any{map[string]any{"uri": wire.FileURI(folder), "name": filepath.Base(folder)}}, "removed": []any{},
		}})
	}
}

// command has the sidecar carry out a command of docs/PROTOCOL.md.
func (a *Agent) command(name string, argument any, answered func(json.RawMessage, *rpcError)) {
	a.sidecar.request("workspace/executeCommand", map[string]any{"command": name, "arguments": []any{argument}}, answered)
}

// fromClient answers what the client wants.
func (a *Agent) fromClient(method string, id, params json.RawMessage) {
	answer, ok := answers[method]
	switch {
	case ok:
		if err := answer(a, id, params); err != nil {
			a.client.reply(id, nil, err)
		}
	case id != nil:
		a.client.reply(id, nil, errorf(codeMethod, "%s isn't known here", method))
	}
}

// answers are the methods of the protocol. One that returns an error hasn't answered yet.
var answers map[string]func(a *Agent, id, params json.RawMessage) *rpcError

func init() { // as they and what they call name each other
	answers = map[string]func(a *Agent, id, params json.RawMessage) *rpcError{
		"initialize":                (*Agent).initialize,
		"authenticate":              (*Agent).authenticate,
		"session/new":               (*Agent).newSession,
		"session/load":              (*Agent).loadSession,
		"session/resume":            (*Agent).resumeSession,
		"session/list":              (*Agent).listSessions,
		"session/close":             (*Agent).closeSession,
		"session/prompt":            (*Agent).prompt,
		"session/cancel":            (*Agent).cancel,
		"session/set_mode":          (*Agent).setMode,
		"session/set_config_option": (*Agent).setConfig,
		"_session/steering":         (*Agent).steering,
	}
}

func (a *Agent) initialize(id, params json.RawMessage) *rpcError {
	var p struct {
		ClientCapabilities struct {
			Auth        struct{ Terminal bool }
			Elicitation struct{ Form *struct{} }
		}
	}
	_ = json.Unmarshal(params, &p) // of another version, perhaps
	a.mu.Lock()
	a.hasForms = p.ClientCapabilities.Elicitation.Form != nil
	a.mu.Unlock()
	doctor := map[string]any{"id": "doctor", "name": "Look at which agents there are", "description": "ralph-lsp doctor says what is missing. A loop has no login of its own."}
	if p.ClientCapabilities.Auth.Terminal {
		doctor["type"], doctor["args"] = "terminal", []string{"doctor"}
	}
	a.client.reply(id, map[string]any{
		"protocolVersion": protocolVersion,
		"agentInfo":       map[string]any{"name": "ralph-lsp", "title": "Ralph loops", "version": a.Version},
		"authMethods":     []any{doctor},
		"agentCapabilities": map[string]any{
			"loadSession":         true,
			"promptCapabilities":  map[string]any{"embeddedContext": true},
			"sessionCapabilities": map[string]any{"list": map[string]any{}, "resume": map[string]any{}, "close": map[string]any{}},
			"_meta":               map[string]any{"steering": map[string]any{"supported": true}},
		},
		"_meta": map[string]any{"steering": map[string]any{"supported": true}},
	}, nil)
	return nil
}

func (a *Agent) authenticate(id, _ json.RawMessage) *rpcError {
	a.client.reply(id, map[string]any{}, nil)
	return nil
}

// read reads parameters. A key that isn't known may be one of a later version.
func read(params json.RawMessage, into any) *rpcError {
	if err := json.Unmarshal(params, into); err != nil {
		return errorf(codeParams, "the parameters can't be read: %v", err)
	}
	return nil
}

// fromSidecar takes what an editor is told and asked.
func (a *Agent) fromSidecar(method string, id, params json.RawMessage) {
	switch method {
	case "ralph/update":
		a.update(params)
	case "ralph/status":
		a.status(params)
	case "ralph/permission":
		a.ask(id, params)
	case "$/cancelRequest":
		a.withdraw(params)
	case "window/showMessage":
		a.message(params)
	default:
		if id != nil {
			a.sidecar.reply(id, nil, errorf(codeMethod, "%s isn't known here", method))
		}
	}
}
