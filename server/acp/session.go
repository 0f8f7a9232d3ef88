package acp

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/service/chat"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// session is one of the client's: a folder, and the loop in it that it is about. It is the face of that.
type session struct {
	agent  *Agent
	id     string
	folder string
	loop   *chat.Session

	mu         sync.Mutex
	view       view // what the client has seen of the loop
	config     map[string]string
	own        map[string][]choice // agents and hats of the folder, by the setting; agents once they are known
	title      string
	diffs      map[string]any             // of open calls
	asked      map[string]json.RawMessage // the client's requests, by the ids of the questions that they ask
	iterations int                        // that were shown
	told       int                        // messages of our own
	heard      time.Time                  // when the client was told something last
	beats      bool                       // it hears something now and then
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
	a.work.Go(func() {
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
	folder = filepath.Clean(folder)
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[id]
	if s == nil {
		s = &session{
			agent: a, id: id, folder: folder, config: map[string]string{}, own: map[string][]choice{},
			diffs: map[string]any{}, asked: map[string]json.RawMessage{},
		}
		s.loop = chat.NewSession(a.ctx, a.Loops, s, folder, "ralph-lsp acp")
		a.sessions[id] = s
		a.work.Go(func() { a.Loops.Open(a.ctx, folder) })
	}
	return s, nil
}

// introduce tells what a session can do, once the client knows it.
func (s *session) introduce() {
	commands := []any{}
	for _, c := range chat.Slashes {
		command := map[string]any{"name": c.Name, "description": c.Does}
		if c.Hint != "" {
			command["input"] = map[string]any{"hint": c.Hint}
		}
		commands = append(commands, command)
	}
	s.say(map[string]any{"sessionUpdate": "available_commands_update", "availableCommands": commands})
	found := agentsOf(s.agent.Loops.Agents(s.agent.ctx, s.folder))
	s.mu.Lock()
	s.own["backend"] = found
	s.mu.Unlock()
	s.say(map[string]any{"sessionUpdate": "config_option_update", "configOptions": s.settings()["configOptions"]})
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
	a.mu.Lock()
	delete(a.sessions, s.id)
	a.mu.Unlock()
	a.work.Add(1)
	s.loop.Close(func() {
		defer a.work.Done()
		a.client.Reply(id, map[string]any{}, nil)
	})
	return nil
}

// listSessions lists the loops of a folder, or of all that have sessions here.
func (a *Agent) listSessions(id json.RawMessage, p params) *rpc.Error {
	folders := map[string]bool{}
	if p.Cwd != "" {
		folders[filepath.Clean(p.Cwd)] = true
	} else {
		a.mu.Lock()
		for _, s := range a.sessions {
			folders[s.folder] = true
		}
		a.mu.Unlock()
	}
	a.work.Go(func() {
		sessions := []any{}
		for _, folder := range slices.Sorted(maps.Keys(folders)) {
			loops, err := a.Loops.Known(folder, 50)
			if err != nil && p.Cwd != "" {
				a.client.Reply(id, nil, errorOf(err))
				return
			}
			for _, l := range loops {
				sessions = append(sessions, map[string]any{
					"sessionId": l.LoopID, "cwd": folder, "title": strings.Trim(l.Title+" · "+l.Text, " ·"), "updatedAt": l.StartedAt,
				})
			}
		}
		a.client.Reply(id, map[string]any{"sessions": sessions}, nil)
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
	a.work.Go(func() {
		l := s.find(200)
		if l.LoopID == "" && !strings.HasPrefix(s.id, sessionPrefix) {
			a.mu.Lock()
			delete(a.sessions, s.id)
			a.mu.Unlock()
			a.client.Reply(id, nil, rpc.Errorf(rpc.CodeNotFound, "there is no loop %s in %s", s.id, s.folder))
			return
		}
		if replay { // it is told all that it has seen
			s.mu.Lock()
			s.view, s.title = view{}, ""
			s.mu.Unlock()
		}
		told := make(chan struct{})
		s.loop.TakeUp(cmp.Or(l.LoopID, s.loop.LoopID()), l.Live, replay, func() {
			defer close(told)
			a.client.Reply(id, s.opened(), nil)
		})
		<-told
		s.introduce()
	})
	return nil
}

// find finds the loop that a session is about: the one that it had, or is named after, else the last of its
// folder that began after it was made; the zero value is none.
func (s *session) find(amongPast int) wire.LoopStatus {
	own, since := s.loop.LoopID(), time.Time{}
	stamp, _, isNew := strings.Cut(strings.TrimPrefix(s.id, sessionPrefix), "-")
	if ms, err := strconv.ParseInt(stamp, 36, 64); err == nil {
		since = time.UnixMilli(ms)
	}
	isNew = isNew && strings.HasPrefix(s.id, sessionPrefix)
	loops, _ := s.agent.Loops.Known(s.folder, amongPast) // none can be found where they can't be listed
	for _, l := range loops {
		if l.LoopID == cmp.Or(own, s.id) || own == "" && isNew && l.StartedAt.Add(time.Second).After(since) {
			return l
		}
	}
	return wire.LoopStatus{}
}
