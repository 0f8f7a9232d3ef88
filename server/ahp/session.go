package ahp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/server/acp"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
)

// What a session's status consists of.
const (
	statusIdle    = 1
	statusError   = 2
	statusRunning = 8
	statusAsks    = 8 | 16
	statusRead    = 32
)

// session is a loop as windows show it, with one chat. All is guarded by the host's lock.
type session struct {
	*Host
	resource, chat string
	folder         string
	loopID         string // "": none has begun
	agentID        string // its name in the conversation with the agent; "" before the first turn
	title          string
	created, since string
	isRead, failed bool
	isListed       bool // windows were told of it: a turn began

	turns   []object
	turn    *turn // under way
	count   int   // of the turns that are ours
	calls   map[string]*call
	worked  map[string]work // in turns, by their ids
	isReady func()          // waits for the agent's settings
	reading []func()
	// isCancelled says that a turn was, and that it isn't known yet whether for a message.
	isCancelled bool
	unheard     []func() // what the agent says meanwhile

	steering *pending
	queued   []*pending
}

// pending is a message that its user has sent while a turn was under way.
type pending struct {
	ID      string  `json:"id"`
	Message message `json:"message"`
}

// message is one of a user, or a heading of ours, as all windows are shown it.
type message struct {
	json.RawMessage
}

// content is what we read of a message.
type content struct {
	Text        string
	Model       struct{ ID string }
	Attachments []struct{ Label, URI string }
}

func (m message) read() (c content) {
	_ = json.Unmarshal(m.RawMessage, &c)
	return c
}

func messageOf(kind, text string) message {
	return message{rpc.Raw(object{"text": text, "origin": object{"kind": kind}})}
}

// action is what clients do, as far as it is read.
type action struct {
	Type             string
	TurnID           string
	StartedAt        string
	Message          message
	ToolCallID       string
	Approved         bool
	SelectedOptionID string
	Kind             string
	ID               string
	IsRead           bool
}

const chatPrefix = "ahp-chat://default/"

// sessionOf is the session that a channel belongs to.
func sessionOf(channel string) string {
	if encoded, isChat := strings.CutPrefix(channel, chatPrefix); isChat {
		name, _ := base64.RawURLEncoding.DecodeString(encoded)
		return string(name)
	}
	resource, _, _ := strings.Cut(channel, changesetPart)
	return resource
}

func (h *Host) addSession(resource, folder string) *session {
	s := &session{Host: h, resource: resource, chat: chatPrefix + base64.RawURLEncoding.EncodeToString([]byte(resource)), folder: folder, title: "Ralph loop", created: now(), since: now(), calls: map[string]*call{}, worked: map[string]work{}}
	h.sessions[s.resource], h.chats[s.chat] = s, s
	return s
}

// isOf makes it the session of a loop that there was before.
func (s *session) isOf(l pastLoop, loopID string) {
	s.loopID, s.title, s.created, s.since, s.isRead, s.isListed = loopID, l.title, l.at, l.at, true, true
}

func (s *session) status() int {
	status := statusIdle
	switch {
	case s.turn != nil && s.turn.asks():
		status = statusAsks
	case s.turn != nil:
		status = statusRunning
	case s.failed:
		status = statusError
	}
	if s.isRead {
		status |= statusRead
	}
	return status
}

func (s *session) summary() object {
	return object{
		"resource": s.resource, "provider": provider, "title": s.title, "status": s.status(), "createdAt": s.created, "modifiedAt": s.since,
		"workingDirectory": uriOf(s.folder), "workingDirectories": []string{uriOf(s.folder)},
	}
}

func (s *session) chatSummary() object {
	return object{"resource": s.chat, "title": s.title, "status": s.status(), "modifiedAt": s.since}
}

func (s *session) state() any {
	state := s.summary()
	state["summary"], state["lifecycle"], state["activeClients"] = s.summary(), "ready", []any{}
	state["chats"], state["defaultChat"], state["changesets"] = []any{s.chatSummary()}, s.chat, s.changesets()
	return state
}

func (s *session) chatState() any {
	state := s.chatSummary()
	state["turns"] = append([]object{}, s.turns...)
	if s.turn != nil {
		state["activeTurn"] = s.turn.state()
	}
	if s.steering != nil {
		state["steeringMessage"] = s.steering
	}
	if len(s.queued) > 0 {
		state["queuedMessages"] = s.queued
	}
	return state
}

// changed tells all windows how the session stands.
func (s *session) changed() {
	if s.reading != nil {
		return
	}
	s.since = now()
	s.act(s.resource, object{"type": "session/chatUpdated", "chat": s.chat, "changes": object{"title": s.title, "status": s.status(), "modifiedAt": s.since}})
	if !s.isListed {
		s.isListed = true
		s.tell(rootChannel, "root/sessionAdded", object{"channel": rootChannel, "summary": s.summary()})
		return
	}
	s.tell(rootChannel, "root/sessionSummaryChanged", object{"channel": rootChannel, "session": s.resource,
		"changes": object{"title": s.title, "status": s.status(), "modifiedAt": s.since}})
}

// whenRead reads the loop of a session that this host hasn't seen run, and then calls done. It returns
// false when there is nothing to read.
func (s *session) whenRead(done func()) bool {
	if s.loopID == "" || s.agentID != "" && s.reading == nil {
		return false
	}
	s.reading = append(s.reading, done)
	if s.agentID != "" {
		return true
	}
	s.isNamed(s.loopID)
	s.demand("session/load", object{"sessionId": s.loopID, "cwd": s.folder, "mcpServers": []any{}}, func(result json.RawMessage, _ *rpc.Error) {
		var found struct {
			Meta acp.Meta `json:"_meta"`
		}
		if _ = json.Unmarshal(result, &found); found.Meta.Ralph.Live == nil || !*found.Meta.Ralph.Live {
			s.endTurn("complete", nil)
		}
		all := s.reading
		s.reading = nil
		for _, done := range all {
			done()
		}
	})
	return true
}

// isNamed notes the agent's name for the session.
func (s *session) isNamed(id string) { s.agentID, s.spoken[id] = id, s }

// do does what a user did in the chat. It returns why it isn't done, and what follows when all have
// heard of it.
func (s *session) do(a action) (rejection string, after func()) {
	nothing := func() {}
	switch a.Type {
	case "chat/turnStarted":
		if s.turn != nil || s.isCancelled {
			return "a turn is under way", nothing
		}
		s.failed = false
		s.turn = newTurn(a.TurnID, cmp.Or(a.StartedAt, now()), a.Message)
		return "", func() { s.changed(); s.prompt() }
	case "chat/turnCancelled":
		if s.turn == nil || s.turn.id != a.TurnID {
			return "that turn is over", nothing
		}
		s.isCancelled = true
		s.keepTurn("cancelled", nil)
		return "", func() {
			s.changed()
			time.AfterFunc(cmp.Or(s.Patience, 100*time.Millisecond), s.decide)
		}
	case "chat/toolCallConfirmed":
		return s.confirm(a)
	case "chat/pendingMessageSet":
		p := &pending{a.ID, a.Message}
		if a.Kind == "steering" {
			s.steering = p
		} else {
			s.queued = append(without(s.queued, p.ID), p)
		}
		return "", func() { s.hearPending(p) }
	case "chat/pendingMessageRemoved":
		if s.steering != nil && s.steering.ID == a.ID {
			s.steering = nil
		}
		s.queued = without(s.queued, a.ID)
		return "", nothing
	case "chat/queuedMessagesReordered", "chat/draftChanged":
		return "", nothing
	}
	return "a loop can't do that", nothing
}

func without(all []*pending, id string) (rest []*pending) {
	for _, p := range all {
		if p.ID != id {
			rest = append(rest, p)
		}
	}
	return rest
}

// hearPending tells the loop what its user said while a turn is under way, and begins one where none is.
func (s *session) hearPending(p *pending) {
	switch {
	case s.isCancelled: // decide knows what for
	case s.turn == nil:
		s.begin(p.Message, p)
		s.prompt()
	default:
		s.steer(p)
	}
}

// begin begins a turn of ours.
func (s *session) begin(m message, of *pending) {
	s.count++
	s.turn = newTurn("ralph-"+strconv.Itoa(s.count), now(), m)
	started := object{"type": "chat/turnStarted", "turnId": s.turn.id, "startedAt": s.turn.since, "message": m}
	if of != nil {
		started["queuedMessageId"] = of.ID
		if s.steering != nil && s.steering.ID == of.ID {
			s.steering = nil
		}
		s.queued = without(s.queued, of.ID)
	}
	s.show(started)
	s.changed()
}

// show does an action in the chat, unless nobody can have seen it yet.
func (s *session) show(action object) {
	if s.reading == nil {
		s.act(s.chat, action)
	}
}

// decide ends the loop whose turn was cancelled, unless that was for a message: a window that sends one
// while a question is open cancels the turn first.
func (s *session) decide() {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.steering
	if p == nil && len(s.queued) > 0 {
		p = s.queued[0]
	}
	s.isCancelled = false
	switch {
	case p == nil:
		s.agent.Notify("session/cancel", object{"sessionId": s.agentID})
	case s.agentID == "": // nothing has begun
		s.begin(p.Message, p)
		s.prompt()
	default:
		s.begin(p.Message, p)
		s.turn.hasIteration = true
		s.steer(p)
		for _, c := range s.calls { // what is still to be answered
			if c.ask != nil {
				s.put(c)
			}
		}
	}
	unheard := s.unheard
	s.unheard = nil
	for _, hear := range unheard {
		hear()
	}
}

// hear hears what the agent says, once it is known what a cancelled turn was cancelled for.
func (s *session) hear(what func()) {
	if s.isCancelled {
		s.unheard = append(s.unheard, what)
		return
	}
	what()
}

// steer tells the agents of the loop something. A command is carried out beside them.
func (s *session) steer(p *pending) {
	if strings.HasPrefix(p.Message.read().Text, "/") {
		s.request("session/prompt", p.Message, func(json.RawMessage, *rpc.Error) { s.isHeard(p) })
		return
	}
	s.request("_session/steering", p.Message, func(result json.RawMessage, _ *rpc.Error) {
		var said struct{ Outcome string }
		if _ = json.Unmarshal(result, &said); said.Outcome != "injected" { // else it is heard when the agent has read it
			s.request("session/prompt", p.Message, s.answered)
			s.isHeard(p)
		}
	})
}

// isHeard takes a message off the list of those that wait.
func (s *session) isHeard(p *pending) {
	kind := "queued"
	if s.steering == p {
		kind, s.steering = "steering", nil
	}
	s.queued = without(s.queued, p.ID)
	s.show(object{"type": "chat/pendingMessageRemoved", "kind": kind, "id": p.ID})
}

// request has the agent do something with a message. What comes of it is told with the lock held.
func (s *session) request(method string, m message, answered func(json.RawMessage, *rpc.Error)) {
	said := m.read()
	blocks := []any{object{"type": "text", "text": said.Text}}
	for _, a := range said.Attachments {
		if u, err := url.Parse(a.URI); err == nil && u.Scheme == "vscode-agent-host" { // a diff's, of that file
			a.URI = "file://" + u.EscapedPath()
		}
		if a.URI != "" {
			blocks = append(blocks, object{"type": "text", "text": " "}, object{"type": "resource_link", "uri": a.URI, "name": a.Label})
		}
	}
	s.demand(method, object{"sessionId": s.agentID, "prompt": blocks}, answered)
}

// demand is a request to the agent, which is answered with the lock held.
func (s *session) demand(method string, params any, answered func(json.RawMessage, *rpc.Error)) {
	s.agent.Request(method, params, func(result json.RawMessage, err *rpc.Error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		answered(result, err)
	})
}

// prompt starts what the message of the turn under way asks for: a loop, or a command.
func (s *session) prompt() {
	t := s.turn
	begin := func(_ json.RawMessage, err *rpc.Error) {
		switch {
		case err != nil:
			s.answered(nil, err)
		case s.turn == t: // else it was cancelled before anything began
			s.request("session/prompt", t.message, s.answered)
		}
	}
	choose := func() {
		if model := t.message.read().Model.ID; model != "" {
			s.demand("session/set_config_option", object{"sessionId": s.agentID, "configId": "backend", "value": model}, begin)
			return
		}
		begin(nil, nil)
	}
	if s.agentID != "" {
		choose()
		return
	}
	s.isReady = choose // once the agent knows which agents there are
	s.demand("session/new", object{"cwd": s.folder, "mcpServers": []any{}}, func(result json.RawMessage, err *rpc.Error) {
		var made struct{ SessionID string }
		if _ = json.Unmarshal(result, &made); err != nil {
			s.answered(nil, err)
			return
		}
		s.isNamed(made.SessionID)
	})
}

// answered ends the turn whose loop, or command, is over.
func (s *session) answered(_ json.RawMessage, err *rpc.Error) {
	s.hear(func() {
		if err != nil {
			s.failed = true
			s.endTurn("error", object{"errorType": "ralph", "message": err.Message})
		}
		s.isOver()
	})
}

// isOver ends the turn under way with its loop: what waited for that is heard, or never will be.
func (s *session) isOver() {
	s.endTurn("complete", nil)
	s.refreshAll()
	if s.steering != nil {
		s.isHeard(s.steering)
	}
	for _, p := range s.queued {
		s.isHeard(p)
	}
}
