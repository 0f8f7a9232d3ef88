package ahp

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/accept"
	"github.com/ralph-lsp/ralph-lsp/server/acp"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/ahp/websocket"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	protocolVersion = "0.9.0"
	provider        = "ralph"
	rootChannel     = "ahp-root://"
	// window is where VS Code's pages come from. Its servers send no origin at all.
	windowOrigin = "vscode-file://vscode-app"
	maxClients   = 64
)

type object = map[string]any

// Host serves windows on this machine.
type Host struct {
	// Version is this program's.
	Version string
	// Token is what a client has to know.
	Token string
	// Folders are those whose loops are listed.
	Folders []string
	// Sidecar serves an editor until in ends, as LSP does. By then no agent of it is left.
	Sidecar func(in io.Reader, out io.Writer)
	// Patience is how long a cancelled turn may have been cancelled for a message; 0: 100 ms.
	Patience time.Duration

	agent *rpc.Conn

	mu       sync.Mutex
	seq      int // of the last action
	clients  map[*client]bool
	sessions map[string]*session // by their resources
	chats    map[string]*session // by those of their chats
	spoken   map[string]*session // by the agent's ids
	past     map[string]pastLoop // that were listed, by their resources
	models   []any
}

// Serve serves clients until the process that started this one closes its end, or a signal ends it.
func (h *Host) Serve(listener net.Listener, until io.Reader) error {
	h.clients, h.sessions, h.chats, h.spoken, h.past = map[*client]bool{}, map[string]*session{}, map[string]*session{}, map[string]*session{}, map[string]pastLoop{}
	h.models = []any{h.model("configured", "As configured")}
	toAgent := rpc.NewQueue()
	h.agent = rpc.New(rpc.WriteLine, nil, toAgent)
	h.agent.Handle = h.fromAgent
	agentEnds, starterEnds := make(chan error, 1), make(chan struct{})
	go func() {
		agent := acp.Agent{Version: h.Version, Sidecar: h.Sidecar, Native: true}
		agentEnds <- agent.Serve(toAgent, lines(h.agent.Take))
	}()
	h.agent.Request("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}}, func(json.RawMessage, *rpc.Error) {})
	for _, folder := range h.Folders {
		// The agent knows a folder then, and tells which agents there are: they are the models.
		h.agent.Request("session/new", object{"cwd": folder, "mcpServers": []any{}}, func(json.RawMessage, *rpc.Error) {})
	}
	go func() {
		_, _ = io.Copy(io.Discard, until)
		close(starterEnds)
	}()
	go accept.Serve(listener.Accept, 2*maxClients, h.serveClient)

	var err error
	select {
	case <-starterEnds:
		toAgent.Close()
		err = <-agentEnds
	case err = <-agentEnds:
		toAgent.Close()
	}
	_ = listener.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		c.conn.Close()
	}
	return err
}

// lines takes the lines that the agent says, in the goroutine in which it says them.
type lines func(line []byte)

func (l lines) Write(p []byte) (int, error) {
	l(bytes.TrimSpace(p))
	return len(p), nil
}

// allow says with which status of HTTP a client is refused. A page that a browser shows is, whatever
// name it has for this machine.
func (h *Host) allow(r websocket.Request) int {
	name, _, err := net.SplitHostPort(r.Header.Get("Host"))
	if err != nil {
		name = r.Header.Get("Host")
	}
	ip := net.ParseIP(name)
	if name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return 403
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != windowOrigin {
			return 403
		}
	}
	if h.Token == "" || subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("tkn")), []byte(h.Token)) != 1 {
		return 401
	}
	return 0
}

func (h *Host) serveClient(conn net.Conn) {
	ws, err := websocket.Accept(conn, rpc.MaxMessage, h.allow)
	if err != nil {
		_ = conn.Close()
		return
	}
	c := &client{Host: h, conn: ws, channels: map[string]bool{}, unsent: make(chan []byte, maxUnsent), gone: make(chan struct{})}
	c.rpc = rpc.New(func(w io.Writer, message []byte) error { _, err := w.Write(message); return err }, nil, c)
	c.rpc.Handle = c.handle
	h.mu.Lock()
	isWelcome := len(h.clients) < maxClients
	if isWelcome {
		h.clients[c] = true
	}
	h.mu.Unlock()
	if !isWelcome {
		ws.Close()
		return
	}
	go c.send()
	for {
		message, err := ws.Read()
		if err != nil {
			break
		}
		c.rpc.Take(message)
	}
	h.mu.Lock()
	delete(h.clients, c)
	h.mu.Unlock()
	close(c.gone)
}

// act has all clients of a channel do an action. The lock is held.
func (h *Host) act(channel string, action object) { h.echo(channel, action, nil, "") }

// echo does an action, or says why that of its origin isn't done.
func (h *Host) echo(channel string, action any, origin any, rejection string) {
	h.seq++
	envelope := object{"channel": channel, "action": action, "serverSeq": h.seq}
	if origin != nil {
		envelope["origin"] = origin
	}
	if rejection != "" {
		envelope["rejectionReason"] = rejection
	}
	h.tell(channel, "action", envelope)
}

// tell tells the clients of a channel something. The lock is held.
func (h *Host) tell(channel, method string, params object) {
	for c := range h.clients {
		if c.channels[channel] {
			c.rpc.Notify(method, params)
		}
	}
}

// fromAgent takes what the agent of all sessions says and asks.
func (h *Host) fromAgent(method string, id, params json.RawMessage) {
	var p told
	if json.Unmarshal(params, &p) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.spoken[p.SessionID]
	switch {
	case method == "$/cancel_request":
		for _, s := range h.sessions {
			s.withdraw(string(p.RequestID))
		}
	case s == nil && p.Update.Kind == "config_option_update":
		h.learn(p.Update.ConfigOptions)
	case s == nil && id != nil:
		h.agent.Reply(id, object{"outcome": object{"outcome": "cancelled"}}, nil)
	case s == nil:
	case method == "session/request_permission":
		s.hear(func() { s.ask(id, p) })
	case method == "session/update":
		s.hear(func() { s.update(p.Update) })
	}
}

func (h *Host) model(id, name string) object {
	return object{"id": id, "provider": provider, "name": name}
}

// learn takes which agents can run loops.
func (h *Host) learn(options []option) {
	for _, o := range options {
		if o.ID != "backend" {
			continue
		}
		h.models = nil
		for _, choice := range o.Options {
			h.models = append(h.models, h.model(choice.Value, choice.Name))
		}
		h.act(rootChannel, object{"type": "root/agentsChanged", "agents": h.agents()})
	}
}

func (h *Host) agents() []any {
	return []any{object{"provider": provider, "displayName": "Ralph loops", "description": "A coding agent again and again, until it is done", "models": h.models}}
}

// pastLoop is a loop that has no session yet.
type pastLoop struct {
	folder, title, at string
}

// list finds the loops of all folders, and then calls done. The lock is held, and is held then.
func (h *Host) list(done func()) {
	type listed struct {
		Sessions []struct{ SessionID, Cwd, Title, UpdatedAt string }
	}
	waits := len(h.Folders)
	if waits == 0 {
		done()
	}
	for _, folder := range h.Folders {
		h.agent.Request("session/list", object{"cwd": folder}, func(result json.RawMessage, _ *rpc.Error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			var found listed
			_ = json.Unmarshal(result, &found)
			for _, l := range found.Sessions {
				h.past[provider+":/"+l.SessionID] = pastLoop{l.Cwd, l.Title, l.UpdatedAt}
			}
			if waits--; waits == 0 {
				done()
			}
		})
	}
}

// know adds a folder to those whose loops are listed. The lock is held.
func (h *Host) know(folder string) {
	if folder = filepath.Clean(folder); !slices.Contains(h.Folders, folder) {
		h.Folders = append(h.Folders, folder)
	}
}

// uriOf is a folder as the protocol has it.
func uriOf(folder string) string { return string(wire.FileURI(folder)) }
