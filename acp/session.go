package acp

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// session is one of the client's: a folder, and the loop in it that it is about.
type session struct {
	*Agent
	id     string
	folder string

	// Guarded by the agent's lock.
	loopID    string
	turn      json.RawMessage // the session/prompt that waits for the loop's end; nil: none
	cancelled bool            // by the client
	view      view            // what the client has seen of the loop
	config    map[string]string
	agents    []choice // that a loop can be started with, once they are known
	title     string
	told      int       // messages of our own
	heard     time.Time // when the client was told something last
}

type choice struct {
	Value string `json:"value"`
	Name  string `json:"name"`
}

// sessionPrefix begins the ids of sessions that had no loop when they were made. A session of a
// loop that is over has the loop's.
const sessionPrefix = "acp-"

func (a *Agent) newSession(id, params json.RawMessage) *rpcError {
	s, err := a.addSession(sessionPrefix+strconv.FormatInt(time.Now().UnixMilli(), 36)+"-"+rand.Text()[:8], params)
	if err != nil {
		return err
	}
	a.client.reply(id, map[string]any{"sessionId": s.id, "configOptions": s.options()}, nil)
	s.introduce()
	return nil
}

// addSession takes up a session in the folder of its parameters.
func (a *Agent) addSession(id string, params json.RawMessage) (*session, *rpcError) {
	var p struct {
		Cwd string `json:"cwd"`
	}
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(p.Cwd) {
		return nil, errorf(codeParams, "cwd has to be an absolute path, and is %q", p.Cwd)
	}
	a.mu.Lock()
	s := a.sessions[id]
	if s == nil {
		s = &session{Agent: a, id: id, folder: filepath.Clean(p.Cwd), config: map[string]string{}}
		a.sessions[id] = s
	} else if s.turn == nil { // it is opened again, and a turn under way goes on as it is
		s.view = view{}
	}
	a.mu.Unlock()
	a.open(s.folder)
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
	s.command("ralph.agents.list", map[string]any{"folder": uriOf(s.folder)}, func(result json.RawMessage, err *rpcError) {
		var found struct {
			Agents []struct {
				Name      string
				Installed bool
			} `json:"agents"`
		}
		if err != nil || json.Unmarshal(result, &found) != nil {
			return
		}
		s.mu.Lock()
		s.agents = nil
		for _, agent := range found.Agents {
			if agent.Installed {
				s.agents = append(s.agents, choice{agent.Name, agent.Name})
			}
		}
		options := s.options()
		s.mu.Unlock()
		s.say(map[string]any{"sessionUpdate": "config_option_update", "configOptions": options})
	})
}

// sessionOf is the session that parameters name.
func (a *Agent) sessionOf(params json.RawMessage) (*session, *rpcError) {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	if err := read(params, &p); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[p.SessionID]; s != nil {
		return s, nil
	}
	return nil, errorf(codeNotFound, "there is no session %q", p.SessionID)
}

func (a *Agent) closeSession(id, params json.RawMessage) *rpcError {
	s, err := a.sessionOf(params)
	if err != nil {
		return err
	}
	s.interrupt()
	a.mu.Lock()
	delete(a.sessions, s.id)
	a.mu.Unlock()
	a.client.reply(id, map[string]any{}, nil)
	return nil
}

// listSessions lists the loops of a folder that are over, or of all that have sessions here.
func (a *Agent) listSessions(id, params json.RawMessage) *rpcError {
	var p struct {
		Cwd string `json:"cwd"`
	}
	if err := read(params, &p); err != nil {
		return err
	}
	argument := map[string]any{"limit": 50}
	if p.Cwd != "" {
		a.open(filepath.Clean(p.Cwd))
		argument["folder"] = uriOf(filepath.Clean(p.Cwd))
	}
	a.command("ralph.loop.history", argument, func(result json.RawMessage, err *rpcError) {
		var found struct {
			Loops []struct{ LoopID, Title, Text, StartedAt, Folder string } `json:"loops"`
		}
		sessions := []any{}
		if err == nil && json.Unmarshal(result, &found) == nil {
			for _, l := range found.Loops {
				sessions = append(sessions, map[string]any{
					"sessionId": l.LoopID, "cwd": cmp.Or(p.Cwd, pathOf(l.Folder)), "title": strings.Trim(l.Title+" · "+l.Text, " ·"), "updatedAt": l.StartedAt,
				})
			}
		}
		a.client.reply(id, map[string]any{"sessions": sessions}, err)
	})
	return nil
}

func (a *Agent) loadSession(id, params json.RawMessage) *rpcError { return a.takeUp(id, params, true) }

func (a *Agent) resumeSession(id, params json.RawMessage) *rpcError {
	return a.takeUp(id, params, false)
}

// takeUp goes on with a session of another process, or of a loop that this client never knew.
// Its loop is the one it is named after, else the one that is in its folder.
func (a *Agent) takeUp(id, params json.RawMessage, replay bool) *rpcError {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	if err := read(params, &p); err != nil {
		return err
	}
	s, err := a.addSession(p.SessionID, params)
	if err != nil {
		return err
	}
	s.find(func(loopID string) {
		if loopID == "" && !strings.HasPrefix(s.id, sessionPrefix) {
			a.mu.Lock()
			delete(a.sessions, s.id)
			a.mu.Unlock()
			a.client.reply(id, nil, errorf(codeNotFound, "there is no loop %s in %s", s.id, s.folder))
			return
		}
		done := func() {
			a.mu.Lock()
			options := s.options()
			a.mu.Unlock()
			a.client.reply(id, map[string]any{"configOptions": options}, nil)
			s.introduce()
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
			s.toEnd(map[string]any{"loopId": loopID}, done)
			return
		}
		s.readOn(true, done)
	})
	return nil
}

// find finds the loop that a session is about: the one it is named after, else the last of its
// folder that began after it was made; "" is none.
func (s *session) find(found func(loopID string)) {
	var since time.Time
	if stamp, _, ok := strings.Cut(strings.TrimPrefix(s.id, sessionPrefix), "-"); ok {
		if ms, err := strconv.ParseInt(stamp, 36, 64); err == nil {
			since = time.UnixMilli(ms)
		}
	}
	among := func(result json.RawMessage) string {
		var p struct {
			Loops []struct {
				LoopID    string    `json:"loopId"`
				StartedAt time.Time `json:"startedAt"`
			} `json:"loops"`
		}
		_ = json.Unmarshal(result, &p)
		for _, l := range p.Loops {
			if l.LoopID == s.id || strings.HasPrefix(s.id, sessionPrefix) && l.StartedAt.Add(time.Second).After(since) {
				return l.LoopID
			}
		}
		return ""
	}
	folder := map[string]any{"folder": uriOf(s.folder)}
	s.command("ralph.loop.status", folder, func(result json.RawMessage, _ *rpcError) {
		if id := among(result); id != "" {
			found(id)
			return
		}
		s.command("ralph.loop.history", map[string]any{"folder": folder["folder"], "limit": 200}, func(result json.RawMessage, _ *rpcError) {
			found(among(result))
		})
	})
}
