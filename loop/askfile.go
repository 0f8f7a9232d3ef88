package loop

import (
	"encoding/json"
	"slices"

	"ralph-lsp/internal/caller"
	"ralph-lsp/loop/ask"
	"ralph-lsp/loopstate"
)

// The state file has the questions that are open, for other processes to show, and takes
// answers of theirs.

// answerTo is an answer in the state file.
type answerTo struct {
	ID string `json:"id"`
	ask.Answer
}

// enterAsks puts the questions that are open into a state, and takes the answers and the rules.
func (p *progress) enterAsks(s *loopstate.State) (answers, rules []string) {
	s.Questions = nil
	for _, q := range p.desk.Questions() {
		s.Questions = append(s.Questions, q.ForFile())
	}
	answers, s.Answers = s.Answers, nil
	s.Allowed, rules = p.desk.Enter(s.Allowed)
	return answers, rules
}

// takeAnswers does what other processes have answered. It may come again: a question is
// answered once.
func (l *Loop) takeAnswers(texts []string) {
	if l.server != nil { // it is the way for who may, and the file is anybody's
		return
	}
	for _, text := range texts {
		var a answerTo
		if json.Unmarshal([]byte(text), &a) == nil {
			// Who wrote it has looked, and something may have been faster. What the file may say is
			// not answered there: the agent may have written both.
			_ = l.desk.Answer(a.ID, a.Answer, ask.Question.HoldsAgent)
		}
	}
}

// questionsIn are the questions that a state file has. Anybody may have written them.
func questionsIn(s loopstate.State) (all []ask.Question) {
	for _, text := range s.Questions {
		var q ask.Question
		if len(all) == ask.MaxQuestions || json.Unmarshal([]byte(text), &q) != nil || q.ID == "" {
			continue
		}
		all = append(all, q.Bounded())
	}
	return all
}

// answering is the edit that puts an answer into the state file.
func answering(q request) func(*loopstate.State) error {
	return func(s *loopstate.State) error {
		if err := caller.Self().May(q.Do, caller.Who{}, ""); err != nil {
			return err
		}
		all := questionsIn(*s)
		i := slices.IndexFunc(all, func(it ask.Question) bool { return it.ID == q.ID })
		if i < 0 || slices.ContainsFunc(s.Answers, func(text string) bool {
			var other answerTo
			return json.Unmarshal([]byte(text), &other) == nil && other.ID == q.ID
		}) {
			return ask.ErrNoQuestion
		}
		if err := all[i].Takes(q.Answer); err != nil {
			return err
		}
		s.Answers = append(s.Answers, ask.JSON(answerTo{q.ID, q.Answer}))
		return nil
	}
}

// forgetAsks takes out of a state file what was asked of a loop that goes on now: nobody waits
// for it. What a stranger's file allows counts for nothing.
func (c Config) forgetAsks(s *loopstate.State) {
	s.Questions, s.Answers = nil, nil
	if c.Stranger {
		s.Allowed = nil
	}
	if s.Permissions, s.AskTimeout = "", c.AskTimeout; c.Ask {
		s.Permissions = "ask"
	}
}

// waitingOf makes a status that of a loop that waits for its user, where its file says so.
func (s *Status) waitingOf(file loopstate.State) {
	s.Allowed, s.Questions = file.Allowed, questionsIn(file)
	if s.State == StateRunning && slices.ContainsFunc(s.Questions, ask.Question.HoldsAgent) {
		s.State = StateWaiting
	}
}
