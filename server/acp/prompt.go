package acp

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// slashCommands are what a prompt may begin with, besides what a loop is to do.
var slashCommands = []struct {
	name, does, hint string
	command          string // of docs/PROTOCOL.md; "" starts a loop
	key              string // of its argument, which has what is typed behind it
}{
	{name: "ralph-loop", does: "Start a loop", hint: "PROMPT [--max-iterations N] [--max-cost USD] [--completion-promise TEXT] [--verify COMMAND]"},
	{name: "cancel-ralph", does: "End the loop, for good", command: wire.CommandCancel},
	{name: "ralph-help", does: "Explain Ralph loops", command: wire.CommandHelp},
	{name: "ralph-status", does: "Say how the loop stands", command: wire.CommandStatus},
	{name: "ralph-steer", does: "Tell the agents of the loop something", hint: "[--once] WORDS", command: wire.CommandSteer, key: "text"},
	{name: "ralph-answer", does: "Ask again what the agent waits to be told", command: wire.CommandAnswer},
	{name: "ralph-update", does: "Change the limits of the loop", hint: "LIMITS, such as 80, $5, 2h", command: wire.CommandUpdate, key: "text"},
	{name: "ralph-pause", does: "Pause the loop behind its iteration", command: wire.CommandPause},
	{name: "ralph-resume", does: "Go on with the loop", hint: "[LIMITS, such as 80, $5, 2h]", command: wire.CommandResume, key: "text"},
	{name: "ralph-next", does: "End the iteration, and begin the next one", command: wire.CommandNext},
	{name: "ralph-detach", does: "Let the loop go on alone, without this window", command: wire.CommandDetach},
	{name: "ralph-changes", does: "Say what the loop has changed", command: wire.CommandChanges},
	{name: "ralph-undo", does: "Take back what it changed since an iteration", hint: "ITERATION", command: wire.CommandUndo, key: "since"},
	{name: "ralph-redo", does: "Take the undo back", command: wire.CommandRedo},
	{name: "ralph-land", does: "Merge the work of a loop's worktree", hint: "[BRANCH] [--squash]", command: wire.CommandLand, key: "text"},
}

// block is a part of a prompt.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	URI      string `json:"uri"`
	Resource struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource"`
}

// textOf is a prompt as a person would type it: files are named, and what the client sends of them
// stands below.
func textOf(blocks []block) string {
	var said, attached []string
	for i, b := range blocks {
		switch b.Type {
		case "text":
			if i > 0 && blocks[i-1].Type == "text" { // some send a prompt that was stopped again, before the next one
				said = append(said, "\n\n")
			}
			said = append(said, b.Text)
		case "resource_link":
			said = append(said, "@"+pathOf(b.URI))
		case "resource":
			said = append(said, "@"+pathOf(b.Resource.URI))
			if b.Resource.Text != "" {
				attached = append(attached, pathOf(b.Resource.URI)+":\n```\n"+strings.TrimRight(b.Resource.Text, "\n")+"\n```")
			}
		}
	}
	text := strings.TrimSpace(strings.Join(said, ""))
	if len(attached) > 0 {
		text += "\n\n" + strings.Join(attached, "\n\n")
	}
	return text
}

// pathOf is the path of a file URI; any other URI stays as it is.
func pathOf(uri string) string {
	path, err := wire.PathOf(uri)
	if err != nil {
		return uri
	}
	return path
}

// prompt is a turn: a whole loop. While one runs it is a word to its agent.
func (a *Agent) prompt(s *session, id json.RawMessage, p params) *rpc.Error {
	text := textOf(p.Prompt)
	word, rest, _ := strings.Cut(text, " ")
	for _, c := range slashCommands {
		if c.command != "" && "/"+c.name == word {
			argument := map[string]any{"folder": wire.FileURI(s.folder)}
			if rest = strings.TrimSpace(rest); rest != "" && c.key != "" {
				setArgument(argument, c.key, rest)
			}
			s.slash(id, c.command, argument)
			return nil
		}
	}
	switch isTurn := s.take(id); {
	case isTurn:
	case word == "/ralph-loop":
		s.answerBeside(id, "The loop of this session still runs: it can be told something, or ended with /cancel-ralph.", nil)
		return nil
	default:
		s.steer(text, func(said string, err *rpc.Error) { s.answerBeside(id, said, err) })
		return nil
	}
	begin := func() {
		argument := map[string]any{"folder": wire.FileURI(s.folder), "text": text}
		a.mu.Lock()
		for key, value := range s.config {
			setArgument(argument, key, value)
		}
		a.mu.Unlock()
		s.start(wire.CommandStart, argument)
	}
	a.mu.Lock()
	hadLoop := s.loopID != ""
	a.mu.Unlock()
	if !hadLoop || strings.HasPrefix(text, "/") {
		begin()
		return nil
	}
	s.find(0, func(l wire.LoopStatus) {
		if !l.Live {
			begin()
			return
		}
		s.hold(l.LoopID)
		s.steer(text, func(said string, err *rpc.Error) {
			if err != nil {
				said = err.Message
			}
			s.tell(said)
		})
	})
	return nil
}

// take makes a prompt the session's turn, if it has none.
func (s *session) take(id json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		return false
	}
	s.turn, s.cancelled, s.begun = id, false, false
	return true
}

// start has the sidecar start or continue a loop, and holds the turn until it is over. What one
// that is continued did before is known, or was shown when the session was loaded.
func (s *session) start(name string, argument any) {
	if name != wire.CommandResume {
		s.begin(name, argument)
		return
	}
	var of wire.LoopParams
	_ = json.Unmarshal(rpc.Raw(argument), &of)
	s.toEnd(of, func() { s.begin(name, argument) })
}

func (s *session) begin(name string, argument any) {
	rpc.Command(s.sidecar, name, argument, func(begun answers.Reply, err *rpc.Error) {
		if err != nil {
			s.refused(err)
			return
		}
		for _, w := range begun.Warnings {
			s.tell(w)
		}
		if begun.LoopID == "" || begun.Command != "" { // it was a command
			s.tell(begun.Words())
			s.sayEarly(rpc.Errorf(rpc.CodeInternal, "no loop has begun"))
			s.endTurn("end_turn")
			return
		}
		if name != wire.CommandResume {
			s.mu.Lock()
			s.view = view{}
			s.mu.Unlock()
		}
		s.hold(begun.LoopID)
	})
}

// hold shows what a loop does until it ends, which ends the turn.
func (s *session) hold(loopID string) {
	s.mu.Lock()
	s.loopID, s.begun = loopID, true
	s.loops[loopID] = s
	isCancelled, turn, standing := s.cancelled, string(s.turn), s.standing
	s.mu.Unlock()
	if s.say(map[string]any{"sessionUpdate": "session_info_update", "_meta": Meta{About{LoopID: loopID}}}); !s.Native {
		s.tell("This turn lasts as long as the loop. To speak to it meanwhile, write here, or run `ralph-lsp steer \"...\"` in a terminal.")
	}
	s.entitle(standing)
	s.catchUp() // what was told before this
	go s.beat(turn)
	s.sayEarly(nil)
	if isCancelled {
		s.interrupt()
	}
}

// sayEarly says what was said before the loop began, or says why it didn't.
func (s *session) sayEarly(err *rpc.Error) {
	s.mu.Lock()
	early := s.early
	s.early = nil
	s.mu.Unlock()
	for _, say := range early {
		say(err)
	}
}

// slash carries out a command beside the loop. One that continues it is a turn.
func (s *session) slash(id json.RawMessage, name string, argument map[string]any) {
	if name == wire.CommandHelp {
		delete(argument, "folder")
	}
	if name == wire.CommandResume && s.take(id) {
		s.start(name, argument)
		return
	}
	rpc.Command(s.sidecar, name, argument, func(said answers.Reply, err *rpc.Error) {
		s.answerBeside(id, cmp.Or(said.Words(), said.State), err)
	})
}

// steer tells the agents of the loop something, once it has begun.
func (s *session) steer(text string, done func(said string, err *rpc.Error)) {
	say := func(err *rpc.Error) {
		if err != nil {
			done("", err)
			return
		}
		s.mu.Lock()
		argument := wire.SteerParams{LoopParams: wire.LoopParams{LoopID: s.loopID}, Text: text}
		s.mu.Unlock()
		rpc.Command(s.sidecar, wire.CommandSteer, argument, func(said wire.SteerResult, err *rpc.Error) { done(said.Text, err) })
	}
	s.mu.Lock()
	isEarly := !s.begun
	if isEarly {
		s.early = append(s.early, say)
	}
	s.mu.Unlock()
	if !isEarly {
		say(nil)
	}
}

// steering is what some clients say in place of a second prompt.
func (a *Agent) steering(s *session, id json.RawMessage, p params) *rpc.Error {
	text := textOf(p.Prompt)
	a.mu.Lock()
	isRunning := s.turn != nil
	a.mu.Unlock()
	if !isRunning {
		a.client.Reply(id, map[string]any{"outcome": "promptRequired"}, nil)
		return nil
	}
	s.steer(text, func(_ string, err *rpc.Error) {
		outcome := "injected"
		if err != nil {
			outcome = "failed"
		}
		a.client.Reply(id, map[string]any{"outcome": outcome}, nil)
	})
	return nil
}

// answerBeside ends a turn that isn't the loop's.
func (s *session) answerBeside(id json.RawMessage, said string, err *rpc.Error) {
	if err != nil {
		said = err.Message
	}
	s.tell(said)
	s.client.Reply(id, map[string]any{"stopReason": "end_turn"}, nil)
}

// cancel is the client's stop, which some send when a turn takes them too long: the loop is
// interrupted, and can go on.
func (a *Agent) cancel(s *session, _ json.RawMessage, _ params) *rpc.Error {
	a.mu.Lock()
	s.cancelled = true
	a.mu.Unlock()
	s.interrupt()
	return nil
}

// interrupt ends the session's loop so that it can go on.
func (s *session) interrupt() {
	s.mu.Lock()
	loopID, isRunning := s.loopID, s.turn != nil && s.begun
	s.mu.Unlock()
	if isRunning {
		rpc.Command(s.sidecar, wire.CommandCancel, wire.CancelParams{LoopParams: wire.LoopParams{LoopID: loopID}, When: wire.WhenInterrupt}, func(_ struct{}, err *rpc.Error) {
			if err != nil {
				s.tell(err.Message)
			}
		})
	}
}

// endTurn answers the prompt that waits for the loop's end.
func (s *session) endTurn(reason string) {
	s.mu.Lock()
	id := s.turn
	s.turn = nil
	if s.cancelled {
		reason = "cancelled"
	}
	s.mu.Unlock()
	if id != nil {
		s.client.Reply(id, map[string]any{"stopReason": reason}, nil)
	}
}
