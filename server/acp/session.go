package acp

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// session is one of the client's: a folder, and the loop in it that it is about.
type session struct {
	*Agent
	id     string
	folder string

	// Guarded by the agent's lock.
	loopID     string
	turn       json.RawMessage    // the session/prompt that waits for the loop's end; nil: none
	cancelled  bool               // by the client
	view       view               // what the client has seen of the loop
	begun      bool               // its loop has, so that it can be spoken to
	early      []func(*rpc.Error) // what was said before that
	config     map[string]string
	own        map[string][]choice // agents and hats of the folder, by the setting; agents once they are known
	title      string
	diffs      map[string]any // of open calls; only what the sidecar says touches it
	iterations int            // that were shown
	told       int            // messages of our own
	heard      time.Time      // when the client was told something last
}

// Meta is the _meta of what is about a session's loop.
type Meta struct {
	Ralph About `json:"ralph"`
}

// About is what a client may know of a session's loop besides.
type About struct {
	LoopID string `json:"loopId,omitempty"` // it has begun
	Ended  string `json:"ended,omitempty"`  // it is over, for this reason
	Live   *bool  `json:"live,omitempty"`   // somebody drives it; in the answer to session/load
}

type choice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// sessionPrefix begins the ids of sessions that had no loop when they were made. A session of a
// loop that is over has the loop's.
const sessionPrefix = "acp-"

func (a *Agent) newSession(id json.RawMessage, p params) *rpc.Error {
	s, err := a.addSession(sessionPrefix+strconv.FormatInt(time.Now().UnixMilli(), 36)+"-"+rand.Text()[:8], p.Cwd)
	if err != nil {
		return err
	}
	learn(s, wire.CommandHats, modeSetting, hatsOf, func() {
		about := s.opened()
		about["sessionId"] = s.id
		a.client.Reply(id, about, nil)
		s.introduce()
	})
	return nil
}

// addSession takes up a session in a folder.
func (a *Agent) addSession(id, folder string) (*session, *rpc.Error) {
	if !filepath.IsAbs(folder) {
		return nil, rpc.Errorf(rpc.CodeParams, "cwd has to be an absolute path, and is %q", folder)
	}
	a.mu.Lock()
	s := a.sessions[id]
	if s == nil {
		s = &session{Agent: a, id: id, folder: filepath.Clean(folder), config: map[string]string{}, own: map[string][]choice{}, diffs: map[string]any{}}
		a.sessions[id] = s
	} else if s.turn == nil { // it is opened again, and a turn under way goes on as it is
		s.view = view{}
	}
	a.mu.Unlock()
	a.sidecar.Open(wire.FileURI(s.folder))
	return s, nil
}

// introduce tells what a session can do, once the client knows it.
func (s *session) introduce() {
	commands := []any{}
	for _, c := range slashCommands {
		command := map[string]any{"name": c.name, "description": c.does}
		if c.hint != "" {
			command["input"] = map[string]any{"hint": c.hint}
		}
		commands = append(commands, command)
	}
	s.say(map[string]any{"sessionUpdate": "available_commands_update", "availableCommands": commands})
	learn(s, wire.CommandAgents, "backend", agentsOf, func() {
		s.say(map[string]any{"sessionUpdate": "config_option_update", "configOptions": s.opened()["configOptions"]})
	})
}

// learn asks for what the folder has to choose from for a setting.
func learn[A any](s *session, name, setting string, choices func(A) []choice, done func()) {
	rpc.Command(s.sidecar, name, wire.FolderParams{Folder: wire.FileURI(s.folder)}, func(found A, _ *rpc.Error) {
		s.mu.Lock()
		s.own[setting] = choices(found)
		s.mu.Unlock()
		done()
	})
}

func hatsOf(found answers.HatsResult) (choices []choice) {
	for _, h := range found.Hats {
		choices = append(choices, choice{h.Name, h.Name, h.Text})
	}
	return choices
}

func agentsOf(found answers.AgentsResult) (choices []choice) {
	for _, a := range found.Agents {
		if a.Installed {
			choices = append(choices, choice{a.Name, a.Name, a.Text})
		}
	}
	return choices
}

func (a *Agent) closeSession(s *session, id json.RawMessage, _ params) *rpc.Error {
	s.find(0, func(l wire.LoopStatus) {
		a.mu.Lock()
		delete(a.sessions, s.id)
		if l.Detached { // one without a window needs none
			delete(a.loops, l.LoopID)
		}
		a.mu.Unlock()
		if l.Detached {
			s.endTurn("cancelled")
		} else {
			s.interrupt()
		}
		a.client.Reply(id, map[string]any{}, nil)
	})
	return nil
}

// loopsOf finds the loops of a folder, of all that are known for "": those that are there, then so many of those that are over.
func (a *Agent) loopsOf(folder string, past int, found func([]wire.LoopStatus, *rpc.Error)) {
	argument := map[string]any{}
	if folder != "" {
		a.sidecar.Open(wire.FileURI(folder))
		argument["folder"] = wire.FileURI(folder)
	}
	rpc.Command(a.sidecar, wire.CommandStatus, argument, func(there wire.StatusResult, _ *rpc.Error) {
		if past == 0 {
			found(there.Loops, nil)
			return
		}
		argument["limit"] = past
		rpc.Command(a.sidecar, wire.CommandHistory, argument, func(over answers.HistoryResult, err *rpc.Error) {
			for _, l := range over.Loops {
				if !slices.ContainsFunc(there.Loops, func(t wire.LoopStatus) bool { return t.LoopID == l.LoopID }) {
					there.Loops = append(there.Loops, wire.LoopStatus{LoopID: l.LoopID, Title: l.Title, Summary: wire.Summary{Text: l.Text}, Times: loop.Times{StartedAt: l.StartedAt}})
				}
			}
			found(there.Loops, err)
		})
	})
}

// listSessions lists the loops of a folder, or of all that have sessions here.
func (a *Agent) listSessions(id json.RawMessage, p params) *rpc.Error {
	folder := ""
	if p.Cwd != "" {
		folder = filepath.Clean(p.Cwd)
	}
	a.loopsOf(folder, 50, func(loops []wire.LoopStatus, err *rpc.Error) {
		sessions := []any{}
		for _, l := range loops {
			sessions = append(sessions, map[string]any{
				"sessionId": l.LoopID, "cwd": cmp.Or(folder, pathOf(l.Folder)), "title": strings.Trim(l.Title+" · "+l.Text, " ·"), "updatedAt": l.StartedAt,
			})
		}
		a.client.Reply(id, map[string]any{"sessions": sessions}, err)
	})
	return nil
}

// takeUp goes on with a session of another process, or of a loop that this client never knew.
// Its loop is the one it is named after, else the one that is in its folder.
func (a *Agent) takeUp(id json.RawMessage, p params, replay bool) *rpc.Error {
	s, err := a.addSession(p.SessionID, p.Cwd)
	if err != nil {
		return err
	}
	s.find(200, func(l wire.LoopStatus) {
		loopID := l.LoopID
		if loopID == "" && !strings.HasPrefix(s.id, sessionPrefix) {
			a.mu.Lock()
			delete(a.sessions, s.id)
			a.mu.Unlock()
			a.client.Reply(id, nil, rpc.Errorf(rpc.CodeNotFound, "there is no loop %s in %s", s.id, s.folder))
			return
		}
		done := func() {
			learn(s, wire.CommandHats, modeSetting, hatsOf, func() {
				about := s.opened()
				about["_meta"] = Meta{About{Live: &l.Live}}
				a.client.Reply(id, about, nil)
				s.introduce()
				if l.Live {
					s.entitle(map[string]wire.LoopStatus{loopID: {Summary: wire.Summary{Text: l.Text}}})
					// what its agent has asked meanwhile
					rpc.Command(a.sidecar, wire.CommandAnswer, wire.LoopParams{LoopID: loopID}, func(struct{}, *rpc.Error) {})
				}
			})
		}
		a.mu.Lock()
		loopID = cmp.Or(loopID, s.loopID) // the one that runs here
		if s.loopID = loopID; loopID != "" {
			a.loops[loopID] = s
		}
		s.view.isReading = loopID != "" && replay
		a.mu.Unlock()
		switch {
		case loopID == "":
			done()
			return
		case !replay: // the client knows what it did
			s.toEnd(wire.LoopParams{LoopID: loopID}, done)
			return
		}
		s.readOn(true, done)
	})
	return nil
}

// find finds the loop that a session is about: the one that it had, or is named after, else the last of its
// folder that began after it was made; the zero value is none.
func (s *session) find(amongPast int, found func(wire.LoopStatus)) {
	s.mu.Lock()
	own := s.loopID
	s.mu.Unlock()
	since := time.Time{}
	stamp, _, isNew := strings.Cut(strings.TrimPrefix(s.id, sessionPrefix), "-")
	if ms, err := strconv.ParseInt(stamp, 36, 64); err == nil {
		since = time.UnixMilli(ms)
	}
	isNew = isNew && strings.HasPrefix(s.id, sessionPrefix)
	s.loopsOf(s.folder, amongPast, func(loops []wire.LoopStatus, _ *rpc.Error) {
		for _, l := range loops {
			if l.LoopID == cmp.Or(own, s.id) || own == "" && isNew && l.StartedAt.Add(time.Second).After(since) {
				found(l)
				return
			}
		}
		found(wire.LoopStatus{})
	})
}
