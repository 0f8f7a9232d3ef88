package acp

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
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
	// Native is for a client that shows iterations as turns of their own, and loops of the past as if
	// they ran: it is told each as it was, and not how it can speak to a loop.
	Native bool
	// Heartbeat is how long a client may hear nothing while a loop runs; 0: 25 s.
	Heartbeat time.Duration

	client  *rpc.Conn
	sidecar *rpc.Sidecar

	mu       sync.Mutex
	sessions map[string]*session        // by their ids
	loops    map[string]*session        // by the ids of their loops
	standing map[string]wire.LoopStatus // of all loops, by their ids
	hasForms bool                       // the client's user can fill in a form

	asked map[string]json.RawMessage // questions that the client has: its request's id by the sidecar's
}

// Serve serves a client until it goes away: then its loops end as they do with an editor, and
// Serve returns. The agent is an editor that shows all, and asks its user itself.
func (a *Agent) Serve(in io.Reader, out io.Writer) error {
	a.sessions, a.loops, a.asked = map[string]*session{}, map[string]*session{}, map[string]json.RawMessage{}
	a.client = rpc.New(rpc.WriteLine, in, out)
	a.client.Handle = a.fromClient
	a.sidecar = rpc.NewSidecar(a.fromSidecar)
	return a.sidecar.Serve(a.client, a.Sidecar, rpc.Editor{
		Name: "ralph-lsp acp", Version: a.Version,
		Ralph: map[string]any{"version": 2, "updates": true, "thinking": true, "permissions": true},
	})
}

// params are those of the protocol's methods, as far as they are read. A key that isn't known may be one
// of a later version.
type params struct {
	ClientCapabilities struct {
		Auth        struct{ Terminal bool }
		Elicitation struct{ Form *struct{} }
	}
	SessionID string
	Cwd       string
	Prompt    []block
	ModeID    string
	ConfigID  string
	Value     string

	raw json.RawMessage // all of them
}

// fromClient answers what the client wants.
func (a *Agent) fromClient(method string, id, given json.RawMessage) {
	answer, ok := methods[method]
	if !ok {
		a.client.Reply(id, nil, rpc.Errorf(rpc.CodeMethod, "%s isn't known here", method))
		return
	}
	p := params{raw: given}
	err := json.Unmarshal(given, &p)
	if err != nil && method != "initialize" && method != "authenticate" { // whose may be of another version
		a.client.Reply(id, nil, rpc.Errorf(rpc.CodeParams, "the parameters can't be read: %v", err))
		return
	}
	if err := answer(a, id, p); err != nil {
		a.client.Reply(id, nil, err)
	}
}

// An answering is a method of the protocol. One that returns an error hasn't answered yet.
type answering func(a *Agent, id json.RawMessage, p params) *rpc.Error

var methods map[string]answering

func init() { // as they and what they call name each other
	methods = map[string]answering{
		"initialize":                (*Agent).initialize,
		"authenticate":              (*Agent).authenticate,
		"session/new":               (*Agent).newSession,
		"session/load":              func(a *Agent, id json.RawMessage, p params) *rpc.Error { return a.takeUp(id, p, true) },
		"session/resume":            func(a *Agent, id json.RawMessage, p params) *rpc.Error { return a.takeUp(id, p, false) },
		"session/list":              (*Agent).listSessions,
		"session/close":             ofSession((*Agent).closeSession),
		"session/prompt":            ofSession((*Agent).prompt),
		"session/cancel":            ofSession((*Agent).cancel),
		"session/set_mode":          ofSession((*Agent).setMode),
		"session/set_config_option": ofSession((*Agent).setConfig),
		"_session/steering":         ofSession((*Agent).steering),
		"_ralph/changes":            passedOn(wire.CommandChanges),
		"_ralph/file":               passedOn(wire.CommandFile),
	}
}

// passedOn is one of the sidecar's commands, with the argument that it has there.
func passedOn(command string) answering {
	return func(a *Agent, id json.RawMessage, p params) *rpc.Error {
		rpc.Command(a.sidecar, command, p.raw, func(result json.RawMessage, err *rpc.Error) { a.client.Reply(id, result, err) })
		return nil
	}
}

// ofSession is a method about a session that is there.
func ofSession(answer func(a *Agent, s *session, id json.RawMessage, p params) *rpc.Error) answering {
	return func(a *Agent, id json.RawMessage, p params) *rpc.Error {
		a.mu.Lock()
		s := a.sessions[p.SessionID]
		a.mu.Unlock()
		if s == nil {
			return rpc.Errorf(rpc.CodeNotFound, "there is no session %q", p.SessionID)
		}
		return answer(a, s, id, p)
	}
}

func (a *Agent) initialize(id json.RawMessage, p params) *rpc.Error {
	a.mu.Lock()
	a.hasForms = p.ClientCapabilities.Elicitation.Form != nil
	a.mu.Unlock()
	doctor := map[string]any{"id": "doctor", "name": "Look at which agents there are", "description": "ralph-lsp doctor says what is missing. A loop has no login of its own."}
	if p.ClientCapabilities.Auth.Terminal {
		doctor["type"], doctor["args"] = "terminal", []string{"doctor"}
	}
	a.client.Reply(id, map[string]any{
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

func (a *Agent) authenticate(id json.RawMessage, _ params) *rpc.Error {
	a.client.Reply(id, map[string]any{}, nil)
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
			a.sidecar.Reply(id, nil, rpc.Errorf(rpc.CodeMethod, "%s isn't known here", method))
		}
	}
}
