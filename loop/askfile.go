package loop

import (
	"encoding/json"
	"slices"

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
			_ = l.Answer(a.ID, a.Answer) // who wrote it has looked, and something may have been faster
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

// AnswerFolder is Loop.Answer for the loop of another process.
func AnswerFolder(folder, id string, a Answer) error {
	return changeFolder(folder, "", func(s *loopstate.State) error {
		all := questionsIn(*s)
		i := slices.IndexFunc(all, func(q Question) bool { return q.ID == id })
		if i < 0 || slices.ContainsFunc(s.Answers, func(text string) bool {
			var other answerTo
			return json.Unmarshal([]byte(text), &other) == nil && other.ID == id
		}) {
			return ErrNoQuestion
		}
		if err := all[i].takes(a); err != nil {
			return err
		}
		s.Answers = append(s.Answers, jsonText(answerTo{id, a}))
		return nil
	})
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
	s.Allowed = file.Allowed
	if s.State != StateRunning {
		return
	}
	if s.Questions = questionsIn(file); len(s.Questions) > 0 {
		s.State = StateWaiting
	}
}
