package loop

import (
	"bytes"
	"encoding/json"
	"slices"

	"ralph-lsp/loopstate"
	"ralph-lsp/stream"
)

// The state file has the questions that are open, for other processes to show, and takes
// answers of theirs.

// maxFileDetail is how much of a question's detail the file has, in bytes.
const maxFileDetail = 16 << 10

// answerTo is an answer in the state file.
type answerTo struct {
	ID string `json:"id"`
	Answer
}

// jsonText is a value as JSON that people can read.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts can always be encoded
	return string(bytes.TrimSpace(b.Bytes()))
}

// enterAsks puts the questions that are open into a state, and takes the answers and the rules.
func (p *progress) enterAsks(s *loopstate.State) (answers, rules []string) {
	s.Questions = nil
	for _, q := range p.asks.open {
		it := q.Question
		it.Detail = cutTo(it.Detail, maxFileDetail)
		s.Questions = append(s.Questions, jsonText(it))
	}
	answers, s.Answers = s.Answers, nil
	s.Allowed = p.granted(s.Allowed)
	for _, rule := range p.asks.allowed {
		if !slices.Contains(s.Allowed, rule) {
			s.Allowed = append(s.Allowed, rule)
		}
	}
	return answers, slices.Clone(p.asks.allowed)
}

// granted are those rules of a state file that the user's answers have put there. The user may
// take out any; what is new there may be from the agent, and counts for nothing.
func (p *progress) granted(rules []string) []string {
	return slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return !slices.Contains(p.known.Allowed, rule) })
}

// wroteRules takes note that they stand in the file.
func (p *progress) wroteRules(s loopstate.State, written []string) {
	p.known.Allowed = s.Allowed
	p.asks.allowed = slices.DeleteFunc(p.asks.allowed, func(rule string) bool { return slices.Contains(written, rule) })
}

// takeAnswers does what other processes have answered. It may come again: a question is
// answered once.
func (l *Loop) takeAnswers(texts []string) {
	for _, text := range texts {
		var a answerTo
		if json.Unmarshal([]byte(text), &a) == nil {
			_ = l.Answer(a.ID, a.Answer) // who wrote it has looked, and something may have been faster
		}
	}
}

// questionsIn are the questions that a state file has. Anybody may have written them.
func questionsIn(s loopstate.State) (all []Question) {
	for _, text := range s.Questions {
		var q Question
		if len(all) == MaxQuestions || json.Unmarshal([]byte(text), &q) != nil || q.ID == "" {
			continue
		}
		q.Title, q.Detail = stream.Line(q.Title, maxTitle), cutTo(stream.Plain(q.Detail), MaxDetail)
		all = append(all, q)
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

// withoutDenied are denials without those that the user has meant.
func (l *Loop) withoutDenied(denials []stream.Denial) (left []stream.Denial) {
	l.look(func(p *progress) {
		for _, d := range denials {
			if d.ID == "" || !slices.Contains(p.asks.denied, d.ID) {
				left = append(left, d)
			}
		}
	})
	return left
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
