package acp

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/service/chat"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// protocolVersion is the only one that is spoken: whoever asks for a newer one is answered with it.
const protocolVersion = 1

// Loops are what an agent's client wants of loops; *service.Window implements it.
type Loops interface {
	chat.Loops
	Hats(folder string) answers.HatsResult
	Agents(ctx context.Context, folder string) answers.AgentsResult
}

// Agent is an agent for one client.
type Agent struct {
	// Version is this program's.
	Version string
	Loops   Loops
	// Heartbeat is how long a client may hear nothing while a loop runs; 0: 25 s.
	Heartbeat time.Duration

	client *rpc.Conn
	ctx    context.Context // ends with the client
	work   sync.WaitGroup  // what requests wait for

	mu       sync.Mutex
	sessions map[string]*session // by their ids
	hasForms bool                // the client's user can fill in a form
}

// Serve serves a client until it goes away, and what it has asked for is done. What becomes of its loops, whoever made Loops says.
func (a *Agent) Serve(in io.Reader, out io.Writer) error {
	var cancel context.CancelFunc
	a.ctx, cancel = context.WithCancel(context.Background())
	a.sessions = map[string]*session{}
	a.client = rpc.New(rpc.WriteLine, in, out)
	a.client.Handle = a.fromClient
	err := a.client.Serve()
	cancel()
	a.work.Wait()
	for _, s := range a.sessions {
		s.loop.Wait()
	}
	a.client.Close()
	return err
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
}

// fromClient answers what the client wants.
func (a *Agent) fromClient(method string, id, given json.RawMessage) {
	answer, ok := methods[method]
	if !ok {
		a.client.Reply(id, nil, rpc.Errorf(rpc.CodeMethod, "%s isn't known here", method))
		return
	}
	var p params
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
	doctor := map[string]any{
		"id": "doctor", "name": "Look at which agents there are",
		"description": "ralph-lsp doctor says what is missing. A loop has no login of its own.",
	}
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
