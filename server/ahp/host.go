package ahp

import (
	"context"
	"crypto/subtle"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/service/chat"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

const (
	protocolVersion = "0.9.0"
	provider        = "ralph"
	rootChannel     = "ahp-root://"
	// window is where VS Code's pages come from. Its servers send no origin at all.
	windowOrigin = "vscode-file://vscode-app"
	maxClients   = 64
	// What connections may take before they are clients'.
	maxKnocking  = 64
	maxHead      = 16 << 10
	shakeTimeout = 10 * time.Second
)

type object = map[string]any

// Loops are what windows want of loops; *service.Window implements it.
type Loops interface {
	chat.Loops
	Agents(ctx context.Context, folder string) answers.AgentsResult
	Changes(ctx context.Context, p wire.ChangesParams) (answers.ChangesResult, error)
	File(ctx context.Context, p answers.FileParams) (answers.FileResult, error)
}

// Host serves windows on this machine.
type Host struct {
	// Version is this program's.
	Version string
	// Token is what a client has to know.
	Token string
	// Folders are those whose loops are listed.
	Folders []string
	Loops   Loops
	// Log takes what net/http says of connections; nil: the standard one.
	Log *log.Logger
	// Patience is how long a cancelled turn may have been cancelled for a message; 0: 100 ms.
	Patience time.Duration

	ctx context.Context // ends with the host

	mu       sync.Mutex
	seq      int // of the last action
	clients  map[*client]bool
	sessions map[string]*session // by their resources
	chats    map[string]*session // by those of their chats
	past     map[string]pastLoop // that were listed, by their resources
	models   []any
}

// Serve serves clients until the process that started this one closes its end, and what its clients have asked
// for is done. What becomes of the loops, whoever made Loops says.
func (h *Host) Serve(listener net.Listener, until io.Reader) {
	h.clients, h.sessions, h.chats, h.past = map[*client]bool{}, map[string]*session{}, map[string]*session{}, map[string]pastLoop{}
	h.models = []any{h.model("configured", "As configured")}
	var cancel context.CancelFunc
	h.ctx, cancel = context.WithCancel(context.Background())
	for _, folder := range h.Folders {
		go func() {
			h.Loops.Open(h.ctx, folder)
			h.learn(h.Loops.Agents(h.ctx, folder))
		}()
	}
	var knocking atomic.Int64
	web := &http.Server{
		Handler: http.HandlerFunc(h.admit), ReadTimeout: shakeTimeout, MaxHeaderBytes: maxHead, ErrorLog: h.Log,
		ConnState: func(conn net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				if knocking.Add(1) > maxKnocking {
					_ = conn.Close()
				}
			case http.StateHijacked, http.StateClosed:
				knocking.Add(-1)
			}
		},
	}
	web.SetKeepAlivesEnabled(false)
	go func() { _ = web.Serve(listener) }()
	_, _ = io.Copy(io.Discard, until)
	_ = web.Close()
	cancel()
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	for _, s := range sessions {
		s.loop.Wait()
	}
}

// allow says with which status of HTTP a client is refused. A page that a browser shows is, whatever
// name it has for this machine.
func (h *Host) allow(r *http.Request) int {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = r.Host
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

// admit makes a client of who may be one.
func (h *Host) admit(w http.ResponseWriter, r *http.Request) {
	if status := h.allow(r); status != 0 {
		w.WriteHeader(status)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // of its origin allow has decided
	if err == nil {
		go h.serveClient(ws) // net/http would hide a panic
	}
}

func (h *Host) serveClient(ws *websocket.Conn) {
	defer ws.CloseNow()
	ws.SetReadLimit(rpc.MaxMessage)
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
		return
	}
	go c.send()
	for {
		_, message, err := ws.Read(h.ctx)
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

func (h *Host) model(id, name string) object {
	return object{"id": id, "provider": provider, "name": name}
}

// learn takes which agents can run loops: they are the models.
func (h *Host) learn(found answers.AgentsResult) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.models = []any{h.model("configured", "As configured")}
	for _, a := range found.Agents {
		if a.Installed {
			h.models = append(h.models, h.model(a.Name, a.Name))
		}
	}
	h.act(rootChannel, object{"type": "root/agentsChanged", "agents": h.agents()})
}

func (h *Host) agents() []any {
	return []any{object{
		"provider": provider, "displayName": "Ralph loops", "description": "A coding agent again and again, until it is done", "models": h.models,
	}}
}

// pastLoop is a loop that has no session yet.
type pastLoop struct {
	folder, title, at string
	isLive            bool
}

// list finds the loops of all folders, and then calls done. The lock is held, and is held then.
func (h *Host) list(done func()) {
	folders := slices.Clone(h.Folders)
	go func() {
		found := map[string]pastLoop{}
		for _, folder := range folders {
			loops, _ := h.Loops.Known(folder, 50) // those that can't be listed are none
			for _, l := range loops {
				title := strings.Trim(l.Title+" · "+l.Text, " ·")
				found[provider+":/"+l.LoopID] = pastLoop{folder, title, l.StartedAt.UTC().Format(time.RFC3339), l.Live}
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		maps.Copy(h.past, found)
		done()
	}()
}

// know adds a folder to those whose loops are listed. The lock is held.
func (h *Host) know(folder string) {
	if folder = filepath.Clean(folder); !slices.Contains(h.Folders, folder) {
		h.Folders = append(h.Folders, folder)
	}
}

// uriOf is a folder as the protocol has it.
func uriOf(folder string) string { return string(wire.FileURI(folder)) }
