package terminal

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// lookAgain is how often it is looked whether something is asked, or typed.
const lookAgain = 100 * time.Millisecond

// TooSoon is for how long after a question appears nothing that is typed answers it: it was
// meant for another one.
const TooSoon = 500 * time.Millisecond

// Asker is a loop whose agents ask.
type Asker interface {
	Status() loop.Status
	Answer(id string, a ask.Answer) error
}

// AnswerHere takes answers from the terminal that the loop runs in, until over is closed. It
// reads only while something is asked and the terminal is this job's.
func AnswerHere(tty *os.File, l Asker, over <-chan struct{}, note func(string)) {
	in := bufio.NewReader(tty)
	var last string // the question that is answered now
	var since time.Time
	back, unwatch := goesOn()
	defer unwatch()
	var isBack bool // what is asked may have left the screen
	var shown time.Time
	for {
		open := l.Status().Questions
		select {
		case <-back:
			isBack = time.Since(shown) > TooSoon // of a job behind the shell, bg and fg both tell so
		default:
		}
		if isBack && len(open) > 0 && (job{tty}).foreground() {
			for _, line := range (Config{Answer: AnswerCommand, Answers: true}).ask(open[0]) {
				note(line)
			}
			isBack, shown = false, time.Now()
		}
		if len(open) > 0 && open[0].ID != last {
			last, since = open[0].ID, time.Now()
		}
		select {
		case <-over:
			return
		default:
		}
		if len(open) == 0 || in.Buffered() == 0 && !(job{tty}).hasTyped(lookAgain) {
			select {
			case <-over:
				return
			case <-time.After(lookAgain):
			}
			continue
		}
		line, err := in.ReadString('\n')
		if err != nil { // Ctrl-D, or the terminal is gone
			time.Sleep(lookAgain)
			continue
		}
		if said := answerLine(l, last, line, time.Since(since) < TooSoon); said != "" {
			note(said)
		}
	}
}

// answerLine answers the oldest question with a line. It returns what the user is to be told: an
// empty line is no answer.
func answerLine(l Asker, id, line string, isEarly bool) string {
	open := l.Status().Questions
	words := strings.Fields(line)
	switch {
	case len(open) == 0:
		return ""
	case len(words) == 0:
		return answers.AnswersTo(open[0]) + "?"
	case isEarly, open[0].ID != id:
		return "that came before the question was there to be read: " + answers.AnswersTo(open[0]) + "?"
	}
	q, a, err := answers.ReadAnswer(open[:1], words, "ralph-lsp answer", ByTerminal)
	if err == nil {
		err = l.Answer(q.ID, a)
	}
	if err != nil && !errors.Is(err, ask.ErrNoQuestion) || errors.As(err, new(*ask.AnswerError)) {
		return err.Error()
	}
	return ""
}

// hasTyped waits until this job's user has typed a line, for so long at most. What is typed
// once the job is behind the shell, even if only since the wait began, is the shell's: to read
// it would stop this process, and what fg finds then is a read that waits.
func (j job) hasTyped(wait time.Duration) bool {
	return j.foreground() && isTyped(j.tty, wait) && j.foreground()
}

// ByTerminal is who answers here.
const ByTerminal = "terminal"

// maxAskLines is how many lines of a question are shown while a loop runs.
const maxAskLines = 40

// AnswerCommand is the command that answers the loops of this machine.
const AnswerCommand = "ralph-lsp answer"

// AnswerIn is the command line that answers the loop in a folder, up to the question.
func AnswerIn(folder string) string { return AnswerCommand + wire.InFolder(folder) }

// PrintQuestions shows what is open, and how a command answers it.
func PrintQuestions(out io.Writer, open []ask.Question, command string) {
	for _, q := range open {
		for _, line := range append(answers.AskedLines(q, 0, ""), howToAnswer(q, command)) {
			fmt.Fprintln(out, line)
		}
	}
}

// howToAnswer is the command line that answers a question.
func howToAnswer(q ask.Question, command string) string {
	return fmt.Sprintf("  answer: %s %s ... (%s)", command, Line(q.ID), answers.AnswersTo(q))
}

// ask tells a user of a question, and how to answer: right here, or in another terminal. A loop
// of the past has no command, and nobody answers.
func (c Config) ask(q ask.Question) []string {
	lines := answers.AskedLines(q, maxAskLines, cmp.Or(c.Asks, AnswerCommand))
	switch {
	case c.Answer == "":
		return lines
	case c.Answers:
		return append(lines, "  "+answers.AnswersTo(q)+"?")
	}
	return append(lines, howToAnswer(q, c.Answer))
}
