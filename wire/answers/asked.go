package answers

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// AskedLines are what an agent asks, for a terminal: all of the command or the diff, but for
// what is behind a number of lines (0: all), which more says how to see; and the choices.
func AskedLines(q ask.Question, limit int, more string) []string {
	lines := []string{wire.AsksText(q) + " [" + wire.OneLine(q.ID) + "]"}
	detail := strings.Split(strings.TrimRight(stream.Sanitize(q.Detail), "\n"), "\n")
	if len(detail) == 1 && (detail[0] == "" || strings.HasSuffix(q.Title, detail[0])) {
		detail = nil
	}
	for i, line := range detail {
		if limit > 0 && i == limit {
			lines = append(lines, fmt.Sprintf("  ... %d more lines, see %s", len(detail)-i, more))
			break
		}
		lines = append(lines, "  "+line)
	}
	for i, option := range q.Options {
		lines = append(lines, fmt.Sprintf("  %d: %s", i+1, wire.OneLine(option)))
	}
	return lines
}

// AnswersTo says how a question can be answered at a terminal, the safe way first.
func AnswersTo(q ask.Question) string {
	switch {
	case q.Kind == ask.Select:
		return "deny, or a number"
	case q.Kind == ask.Input:
		return "deny, or a text"
	case q.Kind == ask.Limits:
		return "deny, once"
	case q.Rule != "":
		return "deny [words for the agent], once, loop (" + wire.OneLine(q.Rule) + ")"
	}
	return "deny [words for the agent], once"
}

// ReadAnswer reads what a person types as the answer to one of the questions that are open:
// its id, unless there is only one, and the answer. usage is a command line that answers, up
// to the id.
func ReadAnswer(open []ask.Question, words []string, usage, by string) (q ask.Question, a ask.Answer, err error) {
	i := slices.IndexFunc(open, func(q ask.Question) bool { return q.ID == words[0] })
	switch {
	case i >= 0:
		words = words[1:]
	case len(open) == 0:
		return q, a, ask.ErrNoQuestion
	case len(open) > 1:
		return q, a, fmt.Errorf("%d questions are open: say which one is meant, as in %s %s deny", len(open), usage, open[0].ID)
	default:
		i = 0
	}
	q = open[i]
	a, err = answerIn(q, words)
	a.By = by
	return q, a, err
}

// answerIn reads an answer to a question.
func answerIn(q ask.Question, words []string) (a ask.Answer, err error) {
	a = ask.Answer{Kind: ask.Value, Text: strings.Join(words, " ")}
	if len(words) == 0 {
		return a, errors.New("the answer is missing: " + AnswersTo(q))
	}
	first := strings.ToLower(words[0])
	isOneOf := func(all ...string) bool { return slices.Contains(all, first) }
	isYesNo := q.Kind == ask.Permission || q.Kind == ask.Confirm || q.Kind == ask.Limits
	switch {
	case first == ask.Deny, isYesNo && isOneOf("d", "n", "no"):
		a.Kind, a.Text = ask.Deny, strings.Join(words[1:], " ")
	case isYesNo && len(words) == 1 && isOneOf(ask.Once, "o", "y", "yes"):
		a.Kind, a.Text = ask.Once, ""
	case isYesNo && len(words) == 1 && isOneOf(ask.ForLoop, "l"):
		a.Kind, a.Text = ask.ForLoop, ""
	case isYesNo:
		return a, fmt.Errorf("%q is no answer: %s", strings.Join(words, " "), AnswersTo(q))
	case q.Kind == ask.Select:
		if n, err := strconv.Atoi(a.Text); err == nil && n >= 1 && n <= len(q.Options) && !slices.Contains(q.Options, a.Text) {
			a.Text = q.Options[n-1]
		}
	}
	return a, nil
}
