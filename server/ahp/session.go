package ahp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/service/chat"
	"github.com/ralph-lsp/ralph-lsp/wire"
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
	host            *Host
	loop            *chat.Session
	resource, chat  string
	folder          string
	loopID          string // "": none has begun
	isKnown, isLive bool   // its loop's story is, or its loop ran here; the loop ran when it was listed
	title           string
	created, since  string
	isRead, failed  bool
	isListed        bool // windows were told of it: a turn began

	script  *transcript
	worked  map[string]work // in turns, by their ids
	reading []func()
	prompts int // that were sent
	shown   int // iterations
	words   int // messages of our own
	// isCancelled says that a turn was, and that it isn't known yet whether for a message.
	isCancelled bool
	unheard     []func() // what the loop says meanwhile

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
	s := &session{
		host: h, resource: resource, chat: chatPrefix + base64.RawURLEncoding.EncodeToString([]byte(resource)), folder: folder,
		title: "Ralph loop", created: now(), since: now(), worked: map[string]work{},
	}
	s.script = &transcript{show: s.show, changed: s.changed, calls: map[string]*call{}}
	s.loop = chat.NewSession(h.ctx, h.Loops, s, folder, "ralph-lsp ahp")
	h.sessions[s.resource], h.chats[s.chat] = s, s
	return s
}

// isOf makes it the session of a loop that there was before.
func (s *session) isOf(l pastLoop, loopID string) {
	s.loopID, s.title, s.created, s.since, s.isRead, s.isListed, s.isLive = loopID, l.title, l.at, l.at, true, true, l.isLive
}

func (s *session) status() int {
	status := statusIdle
	switch {
	case s.script.turn != nil && s.script.turn.asks():
		status = statusAsks
	case s.script.turn != nil:
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
	state["turns"] = append([]object{}, s.script.turns...)
	if s.script.turn != nil {
		state["activeTurn"] = s.script.turn.state()
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
	changes := object{"title": s.title, "status": s.status(), "modifiedAt": s.since}
	s.host.act(s.resource, object{"type": "session/chatUpdated", "chat": s.chat, "changes": changes})
	if !s.isListed {
		s.isListed = true
		s.host.tell(rootChannel, "root/sessionAdded", object{"channel": rootChannel, "summary": s.summary()})
		return
	}
	s.host.tell(rootChannel, "root/sessionSummaryChanged", object{"channel": rootChannel, "session": s.resource,
		"changes": changes})
}

// whenRead reads the loop of a session that this host hasn't seen run, and then calls done. It returns
// false when there is nothing to read.
func (s *session) whenRead(done func()) bool {
	if s.loopID == "" || s.isKnown && s.reading == nil {
		return false
	}
	s.reading = append(s.reading, done)
	if s.isKnown {
		return true
	}
	s.isKnown, s.script.isPast = true, true
	s.loop.TakeUp(s.loopID, s.isLive, true, func() {
		s.host.mu.Lock()
		defer s.host.mu.Unlock()
		if !s.isLive {
			s.script.endTurn("complete", nil)
		}
		all := s.reading
		s.reading, s.script.isPast = nil, false
		for _, done := range all {
			done()
		}
	})
	return true
}

// do does what a user did in the chat. It returns why it isn't done, and what follows when all have
// heard of it.
func (s *session) do(a action) (rejection string, after func()) {
	nothing := func() {}
	switch a.Type {
	case "chat/turnStarted":
		if s.script.turn != nil || s.isCancelled {
			return "a turn is under way", nothing
		}
		s.failed = false
		s.script.turn = newTurn(a.TurnID, cmp.Or(a.StartedAt, now()), a.Message)
		return "", func() { s.changed(); s.prompt() }
	case "chat/turnCancelled":
		if s.script.turn == nil || s.script.turn.id != a.TurnID {
			return "that turn is over", nothing
		}
		s.isCancelled = true
		s.script.keepTurn("cancelled", nil)
		return "", func() {
			s.changed()
			time.AfterFunc(cmp.Or(s.host.Patience, 100*time.Millisecond), s.decide)
		}
	case "chat/toolCallConfirmed":
		return s.script.confirm(a)
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
	case s.script.turn == nil:
		s.begin(p.Message, p)
		s.prompt()
	default:
		s.steer(p)
	}
}

// begin begins a turn of ours, which may be for a message that waited.
func (s *session) begin(m message, of *pending) {
	if of == nil {
		s.script.begin(m, "")
		return
	}
	if s.steering != nil && s.steering.ID == of.ID {
		s.steering = nil
	}
	s.queued = without(s.queued, of.ID)
	s.script.begin(m, of.ID)
}

// show does an action in the chat, unless nobody can have seen it yet.
func (s *session) show(action object) {
	if s.reading == nil {
		s.host.act(s.chat, action)
	}
}

// decide ends the loop whose turn was cancelled, unless that was for a message: a window that sends one
// while a question is open cancels the turn first.
func (s *session) decide() {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	p := s.steering
	if p == nil && len(s.queued) > 0 {
		p = s.queued[0]
	}
	s.isCancelled = false
	switch {
	case p == nil:
		s.loop.Interrupt()
		maps.DeleteFunc(s.script.calls, func(_ string, c *call) bool { return c.ask != nil && c.ask.id == "" }) // how to start
	default:
		s.begin(p.Message, p)
		s.script.turn.hasIteration = true
		s.steer(p)
		for _, c := range s.script.calls { // what is still to be answered
			if c.ask != nil {
				s.script.put(c)
			}
		}
	}
	unheard := s.unheard
	s.unheard = nil
	for _, hear := range unheard {
		hear()
	}
}

// hear hears what the loop says, once it is known what a cancelled turn was cancelled for.
func (s *session) hear(what func()) {
	if s.isCancelled {
		s.unheard = append(s.unheard, what)
		return
	}
	what()
}

// steer tells the agents of the loop something. A command is carried out beside them.
func (s *session) steer(p *pending) {
	text := p.Message.text()
	switch {
	case strings.HasPrefix(text, "/"):
		s.loop.Prompt(text, wire.StartParams{}, func(chat.Outcome) { s.locked(func() { s.isHeard(p) }) })
	case !s.loop.IsBusy():
		s.promptWith(text, wire.StartParams{})
		s.isHeard(p)
	default:
		s.loop.Steer(text, func(_ string, err error) { // it is heard when the agent has read it
			if err != nil {
				s.locked(func() {
					if s.script.turn == nil { // it is over meanwhile
						s.begin(p.Message, p)
					}
					s.promptWith(text, wire.StartParams{})
					s.isHeard(p)
				})
			}
		})
	}
}

// locked does something with the lock held.
func (s *session) locked(do func()) {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	do()
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

// text is a message as a person would type it: files are named.
func (m message) text() string {
	said := m.read()
	text := said.Text
	for i, a := range said.Attachments {
		if u, err := url.Parse(a.URI); err == nil && u.Scheme == "vscode-agent-host" { // a diff's, of that file
			a.URI = "file://" + u.EscapedPath()
		}
		if a.URI == "" {
			continue
		}
		path, err := wire.PathOf(a.URI)
		if err != nil {
			path = a.URI
		}
		if i == 0 {
			text += "\n\n"
		}
		text += " @" + path
	}
	return strings.TrimSpace(text)
}

// prompt starts what the message of the turn under way asks for: a loop, or a command.
func (s *session) prompt() {
	var p wire.StartParams
	if model := s.script.turn.message.read().Model.ID; model != "configured" {
		p.Backend = model
	}
	s.promptWith(s.script.turn.message.text(), p)
}

func (s *session) promptWith(text string, p wire.StartParams) {
	s.isKnown = true
	s.prompts++
	number := s.prompts
	s.loop.Prompt(text, p, func(o chat.Outcome) {
		s.locked(func() {
			s.hear(func() {
				if number == s.prompts { // else its loop's end was told, and another turn has begun
					s.answered(o)
				}
			})
		})
	})
}

// answered ends the turn whose loop, or command, is over.
func (s *session) answered(o chat.Outcome) {
	if o.Err != nil && !o.Cancelled {
		s.failed = true
		s.script.endTurn("error", object{"errorType": "ralph", "message": o.Err.Error()})
	}
	s.isOver()
}

// isOver ends the turn under way with its loop: what waited for that is heard, or never will be.
func (s *session) isOver() {
	s.script.endTurn("complete", nil)
	s.refreshAll()
	if s.steering != nil {
		s.isHeard(s.steering)
	}
	for _, p := range s.queued {
		s.isHeard(p)
	}
}
