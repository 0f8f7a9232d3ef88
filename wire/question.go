package wire

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// MethodPermission asks a client that said so what the agent of a loop waits to be
// told. It is withdrawn when no answer is needed any more.
const MethodPermission = "ralph/permission"

// The kinds of updates about questions.
const (
	KindQuestion = "_ralph/question"
	KindAnswer   = "_ralph/answer"
)

// Question is what the agent of a loop waits to be told: the params of MethodPermission,
// an update, which names no loop and offers nothing, and a part of the status.
type Question struct {
	SessionUpdate string `json:"sessionUpdate,omitempty"` // KindQuestion
	LoopID        string `json:"loopId,omitempty"`
	Folder        string `json:"folder,omitempty"` // file URI
	ask.Question
	Notice
}

// PermissionResult is the answer to MethodPermission; null leaves the question open.
type PermissionResult struct {
	Answer string `json:"answer"` // deny, once, loop, value
	Text   string `json:"text,omitempty"`
}

// AnswerParams is the argument of ralph.loop.answer. Without an ID it is about the question
// that has waited longest, and without an Answer the client is asked again.
type AnswerParams struct {
	LoopParams
	ID     string `json:"id,omitempty"`
	Answer string `json:"answer,omitempty"` // deny, once, loop or value
	Text   string `json:"text,omitempty"`   // of deny why, which the agent reads; of value the value
}

// AnswerResult says what came of an answer.
type AnswerResult struct {
	Text  string `json:"text"`
	Class Class  `json:"class"`
}

// AllowedRule is what the user allowed for the whole loop.
type AllowedRule struct {
	Rule   string    `json:"rule"`
	Text   string    `json:"text"`
	Offers []Command `json:"offers"`
}

// QuestionOf returns the wire's form of a question of a loop in a folder.
func QuestionOf(q ask.Question, loopID, folder string) Question {
	out := projectQuestion(q)
	out.LoopID, out.Folder = loopID, FileURI(folder)
	offer := func(title, answer, text string) {
		out.Offers = append(out.Offers, Command{title, CommandAnswer, []any{AnswerParams{LoopParams{loopID, out.Folder}, q.ID, answer, text}}})
	}
	switch q.Kind {
	case ask.Confirm:
		offer("No", ask.Deny, "")
		offer("Yes", ask.Once, "")
	case ask.Select:
		offer("None of These", ask.Deny, "")
		for _, option := range q.Options {
			offer(OneLine(option), ask.Value, option)
		}
	case ask.Input:
		offer("Give No Answer", ask.Deny, "")
	case ask.Limits:
		offer("Keep the Limits", ask.Deny, "")
		offer("Let It Count", ask.Once, "")
	default:
		offer("Deny", ask.Deny, "")
		offer("Allow Once", ask.Once, "")
		if q.Rule != "" {
			offer("Allow "+OneLine(q.Rule)+" in This Loop", ask.ForLoop, "")
		}
	}
	return out
}

// projectQuestion is the question as clients get it: plain texts, without the fields that only the engine needs.
func projectQuestion(q ask.Question) Question {
	said := Notice{Text: AsksText(q), Class: ClassWarning}
	for _, text := range []*string{&q.ID, &q.Kind, &q.Tool, &q.CallID, &q.Detail, &q.Rule} {
		*text = stream.Sanitize(*text)
	}
	q.Agent, q.Title, q.Placeholder, q.At = Sentence(q.Agent), OneLine(q.Title), OneLine(q.Placeholder), history.TimeOf(q.At)
	q.Options = slices.Clone(q.Options)
	for i, option := range q.Options {
		q.Options[i] = stream.Sanitize(option)
	}
	return Question{Question: q, Notice: said}
}

// AsksText says what an agent asks: "asks: Bash rm -rf build".
func AsksText(q ask.Question) string {
	if q.Kind == ask.Limits { // no agent asks
		return "what binds the loop was changed: " + OneLine(q.Title)
	}
	asks := "asks: " + OneLine(q.Title)
	if q.Agent != "" {
		asks = Sentence(q.Agent) + " " + asks
	}
	return asks
}

// HowToAnswer tells a user whose editor has no way to ask.
const HowToAnswer = "It waits: answer with the command ralph.loop.answer, or in a terminal with: ralph-lsp answer"

// AskedInFull is all that a user has to read before an answer, in several lines.
func AskedInFull(q Question) string {
	text := q.Text
	if detail, _, _ := format.Excerpt(strings.TrimSpace(q.Detail), maxAsked); detail != "" && !strings.HasSuffix(q.Title, detail) {
		text += "\n" + detail
	}
	if q.Kind == ask.Input {
		text += "\n" + HowToAnswer
	}
	return text
}

// maxAsked is how much of a question's detail a message has room for, in bytes.
const maxAsked = 2 << 10

// questionsText is the oldest question, and how many others wait; "" for none.
func questionsText(questions []Question, deadline time.Time) string {
	if len(questions) == 0 {
		return ""
	}
	more, until := "", endsText(deadline)
	if n := len(questions) - 1; n > 0 {
		more = format.Counted(n, "more question")
	}
	if slices.ContainsFunc(questions, func(q Question) bool { return !q.Until.IsZero() }) {
		until = at("denied", deadline)
	}
	return JoinFacts(questions[0].Text, more, until)
}

// questionsOf returns a loop's questions.
func questionsOf(s loop.Status) []Question {
	var questions []Question
	for _, q := range s.Questions {
		questions = append(questions, QuestionOf(q, s.LoopID, s.Folder))
	}
	return questions
}

func noticeOfAnswer(e loop.Answered) Notice {
	said := Info(AnsweredText(e.Question, e.Answer()))
	if e.Kind == ask.Deny {
		said.Class = ClassWarning
	}
	return said
}

// AnsweredText says what came of a question: "denied: Bash rm -rf build: not that folder".
func AnsweredText(q ask.Question, a ask.Answer) string {
	title := OneLine(q.Title)
	said := ""
	if a.Text != "" {
		said = ": " + Sentence(a.Text)
	}
	switch a.Kind {
	case ask.Deny:
		return denied(q.Kind) + ": " + title + said
	case ask.Once:
		switch q.Kind {
		case ask.Confirm:
			return "answered yes: " + title
		case ask.Limits:
			return "it counts now: " + title
		}
		return "allowed once: " + title
	case ask.ForLoop:
		return fmt.Sprintf("allowed: %s; from now on in this loop: %s", title, OneLine(q.Rule))
	case ask.Value:
		return "answered: " + title + said
	}
	return "needs no answer any more: " + title
}

func denied(kind string) string {
	switch kind {
	case ask.Confirm:
		return "answered no"
	case ask.Select, ask.Input:
		return "not answered"
	case ask.Limits:
		return "the limits stay"
	}
	return "denied"
}

// DisallowedText answers who took back what a loop may do.
func DisallowedText(rules []string) string {
	return "the agent asks again before: " + Sentence(strings.Join(rules, ", "))
}

// allowedOf are the rules of a loop, each with its way back.
func allowedOf(s loop.Status) []AllowedRule {
	var rules []AllowedRule
	for _, rule := range s.Allowed {
		back := ChangeParams{LoopParams: LoopParams{s.LoopID, FileURI(s.Folder)}, Disallow: []string{rule}}
		rules = append(rules, AllowedRule{stream.Sanitize(rule), OneLine(rule), []Command{{"Take Back", CommandUpdate, []any{back}}}})
	}
	return rules
}
