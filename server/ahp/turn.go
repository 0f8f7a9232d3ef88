package ahp

import (
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/service/chat"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Begun implements chat.Face.
func (s *session) Begun(loopID string) { s.hears(func() { s.loopID = loopID }) }

// hears has the session hear something of its loop, once it may.
func (s *session) hears(what func()) { s.locked(func() { s.hear(what) }) }

// Stands implements chat.Face.
func (s *session) Stands(now wire.LoopStatus) {
	s.hears(func() {
		if title := "Ralph " + now.Text; now.Text != "" && title != s.title {
			s.title = title
			s.host.act(s.resource, object{"type": "session/titleChanged", "title": s.title})
			s.changed()
		}
	})
}

// Tell implements chat.Face: it says a line of the loop's own, as a message of its own.
func (s *session) Tell(text string) { s.hears(func() { s.saysItself(text) }) }

func (s *session) saysItself(text string) {
	if text = strings.TrimSpace(text); text != "" {
		s.words++
		s.script.say("markdown", "ralph-"+strconv.Itoa(s.words), "\n"+text+"\n\n")
	}
}

// Ended implements chat.Face.
func (s *session) Ended(now wire.LoopStatus, _ loop.StopReason) {
	s.hears(func() {
		s.saysItself(chat.ReceiptText(now))
		s.isOver()
	})
}

// Show implements chat.Face: it makes the session's turns of its loop's updates.
func (s *session) Show(u wire.Update, _ []byte, isReplay bool) {
	s.hears(func() { s.update(u, isReplay) })
}

func (s *session) update(u wire.Update, isReplay bool) {
	switch u := u.(type) {
	case wire.UserChunk: // its windows have said the guidance; what is read begins with the loop's prompt
		switch {
		case !isReplay:
		case s.script.turn == nil:
			s.begin(messageOf("user", u.Content.Text), nil)
		default:
			s.script.say("markdown", "", "> "+strings.ReplaceAll(strings.TrimSpace(u.Content.Text), "\n", "\n> ")+"\n\n")
		}
	case wire.Chunk:
		switch {
		case u.ParentToolCallID != "":
		case u.SessionUpdate == wire.KindThoughtChunk:
			s.script.say("reasoning", "thought-"+s.idOf(u.MessageID), u.Content.Text)
		default:
			s.script.say("markdown", s.idOf(u.MessageID), u.Content.Text)
		}
	case wire.ToolCall:
		s.script.showCall(doing{
			id: s.idOf(u.ToolCallID), name: u.Name, kind: string(u.Kind), status: u.Status, title: &u.Title, input: u.RawInput, isFirst: true,
		})
	case wire.ToolCallUpdate:
		if u.Status != wire.StatusInProgress {
			s.script.showCall(doing{id: s.idOf(u.ToolCallID), status: u.Status, text: u.Output()})
		}
	case wire.UsageUpdate:
	case wire.Iteration:
		s.shown++
		s.iterate(u.Iteration, u.Text)
	case wire.SteeringMessage:
		if u.State == loop.SteeringDelivered && s.steering != nil {
			s.isHeard(s.steering)
		}
		s.saysItself(wire.NoticeIn(u).Text)
	default:
		s.saysItself(wire.NoticeIn(u).Text)
	}
}

// idOf tells the messages and calls of an iteration from those of others, as many agents count anew.
func (s *session) idOf(id string) string { return strconv.Itoa(s.shown) + "." + id }

// iterate begins the turn of an iteration: finished steps of one turn collapse into a line. The first
// is that of its user's message.
func (s *session) iterate(iteration int, heading string) {
	if s.script.turn == nil || s.script.turn.hasIteration {
		s.script.endTurn("complete", nil)
		s.refreshAll()
		if len(s.queued) > 0 {
			s.begin(s.queued[0].Message, s.queued[0])
		} else {
			s.begin(messageOf("systemNotification", heading), nil)
		}
	}
	s.worked[s.script.turn.id] = work{s.loopID, iteration}
	if s.script.turn.hasIteration = true; s.script.turn.message.read().Text != heading {
		s.script.say("markdown", "", "**"+heading+"**\n\n")
	}
}

// Ask implements chat.Face. What has no two answers stays open: it can be answered in a terminal.
func (s *session) Ask(q wire.Question) {
	answers := chat.AnswersTo(q)
	if len(answers) < 2 {
		s.Tell(q.Title + "\n\nAnswer it in a terminal: `ralph-lsp answer`")
		return
	}
	asked := &question{id: q.ID, title: q.Title, isAlone: q.CallID == ""}
	for i, a := range answers {
		kind := "approve"
		if a.Kind == ask.Deny {
			kind = "deny"
		}
		asked.options = append(asked.options, object{"id": strconv.Itoa(i), "label": a.Title, "kind": kind})
	}
	asked.answer = func(i int) {
		said := ask.Answer{Kind: ask.Deny}
		if i >= 0 {
			said = answers[i].Answer
		}
		s.loop.Answer(q.ID, said)
	}
	s.hears(func() {
		about := doing{id: "question-" + q.ID, kind: "other"}
		if q.CallID != "" {
			about = doing{id: s.idOf(q.CallID), name: q.Tool}
		}
		s.script.puts(about, asked, q.Detail)
	})
}

// Instead implements chat.Face.
func (s *session) Instead(r chat.Refused, answer func(yes bool)) {
	s.hears(func() {
		s.words++
		asked := &question{title: r.Question, isAlone: true, answer: func(i int) { answer(i == 1) }}
		asked.options = []object{{"id": "0", "label": "Leave it", "kind": "deny"}, {"id": "1", "label": r.Title, "kind": "approve"}}
		s.script.puts(doing{id: "start-" + strconv.Itoa(s.words), kind: "other"}, asked, r.Why)
	})
}

// Withdraw implements chat.Face.
func (s *session) Withdraw(questionID string) {
	s.hears(func() { s.script.withdraw(questionID) })
}
