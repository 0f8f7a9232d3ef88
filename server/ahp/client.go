package ahp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// What a client may leave unread before its connection is closed.
const (
	maxUnsent    = 8192 // messages
	writeTimeout = 30 * time.Second
)

// Codes of errors of the protocol.
const (
	codeSession  = -32001
	codeProvider = -32002
	codeExists   = -32003
	codeVersion  = -32005
	codeNotFound = -32008
	codeDenied   = -32009
)

// client is a window.
type client struct {
	*Host
	conn *websocket.Conn
	rpc  *rpc.Conn

	id       string // "" before it has said who it is; with channels guarded by the host's lock
	channels map[string]bool
	unsent   chan []byte
	gone     chan struct{}
}

// Write takes a message, which is sent by a goroutine of its own. Who reads too little is cut off.
func (c *client) Write(message []byte) (int, error) {
	select {
	case c.unsent <- message:
	default:
		go c.conn.CloseNow()
	}
	return len(message), nil
}

func (c *client) send() {
	for {
		select {
		case message := <-c.unsent:
			ctx, cancel := context.WithTimeout(c.ctx, writeTimeout)
			_ = c.conn.Write(ctx, websocket.MessageText, message) // that it is gone is noticed where it is read
			cancel()
		case <-c.gone:
			return
		}
	}
}

// params are those of the protocol's methods, as far as they are read.
type params struct {
	Channel              string
	ProtocolVersions     []string
	ClientID             string
	InitialSubscriptions []string
	Subscriptions        []string
	Provider             string
	WorkingDirectories   []string
	ClientSeq            int
	Action               json.RawMessage
	URI                  string
}

// methods are what a client may want once it has said who it is. One that returns an error hasn't
// answered. The lock is held.
var methods map[string]func(c *client, id json.RawMessage, p params) *rpc.Error

func init() { // as they and what they call name each other
	empty := func(result any) func(*client, json.RawMessage, params) *rpc.Error {
		return func(c *client, id json.RawMessage, _ params) *rpc.Error {
			c.rpc.Reply(id, result, nil)
			return nil
		}
	}
	methods = map[string]func(*client, json.RawMessage, params) *rpc.Error{
		"subscribe": (*client).subscribe,
		"unsubscribe": func(c *client, _ json.RawMessage, p params) *rpc.Error {
			delete(c.channels, p.Channel)
			return nil
		},
		"dispatchAction":                      (*client).dispatch,
		"listSessions":                        (*client).listSessions,
		"createSession":                       (*client).createSession,
		"disposeSession":                      (*client).disposeSession,
		"resourceRead":                        (*client).resourceRead,
		"resolveSessionConfig":                empty(object{"schema": object{"type": "object", "properties": object{}}, "values": object{}}),
		"sessionConfigCompletions":            empty(object{"items": []any{}}),
		"completions":                         empty(object{"items": []any{}}),
		"fetchTurns":                          empty(object{}),
		"authenticate":                        empty(object{}),
		"setClientManagedSettingsPermissions": empty(object{}),
	}
}

func (c *client) handle(method string, id, given json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var p params
	answer, isKnown := methods[method]
	var err *rpc.Error
	switch wrong := json.Unmarshal(given, &p); {
	case method == "ping":
		c.rpc.Reply(id, object{}, nil)
	case wrong != nil:
		err = rpc.Errorf(rpc.CodeParams, "the parameters can't be read: %v", wrong)
	case method == "initialize" || method == "reconnect":
		err = c.initialize(method, id, p)
	case c.id == "":
		err = rpc.Errorf(rpc.CodeInvalidRequest, "initialize comes first")
	case !isKnown:
		err = rpc.Errorf(rpc.CodeMethod, "%s isn't known here", method)
	default:
		err = answer(c, id, p)
	}
	if err != nil {
		c.rpc.Reply(id, nil, err)
	}
}

func (c *client) initialize(method string, id json.RawMessage, p params) *rpc.Error {
	switch {
	case c.id != "" || p.ClientID == "":
		return rpc.Errorf(rpc.CodeInvalidRequest, "a client says once who it is")
	case method == "initialize" && !slices.Contains(p.ProtocolVersions, protocolVersion):
		err := rpc.Errorf(codeVersion, "this host speaks version %s of the protocol", protocolVersion)
		err.Data = rpc.Raw(object{"supportedVersions": []string{protocolVersion}})
		return err
	}
	c.id = p.ClientID
	snapshots := []any{}
	for _, channel := range append(p.InitialSubscriptions, p.Subscriptions...) {
		if snapshot := c.snapshot(channel); snapshot != nil {
			c.channels[channel] = true
			snapshots = append(snapshots, snapshot)
		}
	}
	if method == "reconnect" {
		c.rpc.Reply(id, object{"type": "snapshot", "snapshots": snapshots}, nil)
		return nil
	}
	result := object{
		"protocolVersion": protocolVersion, "serverSeq": c.seq, "snapshots": snapshots,
		"serverInfo": object{"name": "ralph-lsp", "title": "Ralph loops", "version": c.Version},
	}
	if len(c.Folders) > 0 {
		result["defaultDirectory"] = uriOf(c.Folders[0])
	}
	c.rpc.Reply(id, result, nil)
	return nil
}

// snapshot is what there is in a channel; nil for none.
func (c *client) snapshot(channel string) any {
	var state any
	if s := c.sessions[channel]; s != nil {
		state = s.state()
	} else if s := c.chats[channel]; s != nil {
		state = s.chatState()
	} else if s := c.sessions[sessionOf(channel)]; s != nil { // a changeset
		status := "ready"
		if s.refresh(channel) { // who has asked hears of it behind the answer
			status = "computing"
		}
		state = object{"status": status, "files": []any{}}
	} else if channel == rootChannel {
		state = object{"agents": c.agents(), "activeSessions": len(c.sessions)}
	}
	if state == nil {
		return nil
	}
	return object{"resource": channel, "state": state, "fromSeq": c.seq}
}

// subscribe shows a client what is in a channel, and from then on what happens there. A loop of the
// past is read first.
func (c *client) subscribe(id json.RawMessage, p params) *rpc.Error {
	show := func() {
		snapshot := c.snapshot(p.Channel)
		if snapshot == nil {
			c.rpc.Reply(id, nil, rpc.Errorf(codeNotFound, "there is no %s", p.Channel))
			return
		}
		c.channels[p.Channel] = true
		c.rpc.Reply(id, object{"snapshot": snapshot}, nil)
	}
	resource := sessionOf(p.Channel)
	if s := c.sessions[resource]; s != nil || !strings.HasPrefix(resource, provider+":/") {
		if s == nil || !s.whenRead(show) {
			show()
		}
		return nil
	}
	c.list(func() {
		loopID := strings.TrimPrefix(resource, provider+":/")
		if l, isThere := c.past[resource]; isThere && !c.hasLoop(loopID) {
			c.addSession(resource, l.folder).isOf(l, loopID)
		}
		if s := c.sessions[resource]; s == nil || !s.whenRead(show) {
			show()
		}
	})
	return nil
}

func (h *Host) hasLoop(id string) bool {
	for _, s := range h.sessions {
		if s.loopID == id {
			return true
		}
	}
	return false
}

func (c *client) listSessions(id json.RawMessage, _ params) *rpc.Error {
	c.list(func() {
		items, shown := []any{}, map[string]bool{}
		for _, s := range c.sessions {
			if s.isListed {
				shown[provider+":/"+s.loopID], shown[s.resource] = true, true
				items = append(items, s.summary())
			}
		}
		for resource, l := range c.past {
			if !shown[resource] {
				items = append(items, object{
					"resource": resource, "provider": provider, "title": l.title, "status": statusIdle | statusRead,
					"createdAt": l.at, "modifiedAt": l.at,
					"workingDirectory": uriOf(l.folder), "workingDirectories": []string{uriOf(l.folder)},
				})
			}
		}
		c.rpc.Reply(id, object{"items": items}, nil)
	})
	return nil
}

// createSession makes room for a loop. It comes with each choice of a harness, and starts nothing.
func (c *client) createSession(id json.RawMessage, p params) *rpc.Error {
	folder := ""
	if len(p.WorkingDirectories) > 0 {
		path, err := wire.PathOf(p.WorkingDirectories[0])
		if err != nil {
			return rpc.Errorf(rpc.CodeParams, "a loop can't work in %s", p.WorkingDirectories[0])
		}
		folder = path
	} else if len(c.Folders) > 0 {
		folder = c.Folders[0]
	}
	switch {
	case p.Provider != "" && p.Provider != provider:
		return rpc.Errorf(codeProvider, "there is no %s here", p.Provider)
	case !strings.HasPrefix(p.Channel, provider+":/") || folder == "":
		return rpc.Errorf(rpc.CodeParams, "a session needs a name and a folder")
	case c.sessions[p.Channel] != nil:
		return rpc.Errorf(codeExists, "there is a session %s", p.Channel)
	}
	c.addSession(p.Channel, folder)
	c.know(folder)
	c.rpc.Reply(id, nil, nil)
	c.act(p.Channel, object{"type": "session/ready"})
	return nil
}

// disposeSession forgets a session, but for one whose loop runs: windows come and go.
func (c *client) disposeSession(id json.RawMessage, p params) *rpc.Error {
	s := c.sessions[p.Channel]
	if s == nil {
		return rpc.Errorf(codeSession, "there is no session %s", p.Channel)
	}
	c.rpc.Reply(id, nil, nil)
	if s.script.turn != nil || s.isCancelled {
		return nil
	}
	delete(c.sessions, s.resource)
	delete(c.chats, s.chat)
	c.tell(rootChannel, "root/sessionRemoved", object{"channel": rootChannel, "session": s.resource})
	return nil
}

// dispatch does what a client's user has done.
func (c *client) dispatch(_ json.RawMessage, p params) *rpc.Error {
	var a action
	if err := json.Unmarshal(p.Action, &a); err != nil {
		return rpc.Errorf(rpc.CodeParams, "the action can't be read: %v", err)
	}
	origin := object{"clientId": c.id, "clientSeq": p.ClientSeq}
	rejection := ""
	after := func() {}
	if s := c.chats[p.Channel]; s != nil && strings.HasPrefix(a.Type, "chat/") {
		rejection, after = s.do(a)
	} else if s := c.sessions[p.Channel]; s != nil && a.Type == "session/isReadChanged" {
		s.isRead = a.IsRead
	}
	c.echo(p.Channel, p.Action, origin, rejection)
	after()
	return nil
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }
