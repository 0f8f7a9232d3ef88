package notify

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Questioned is what a reply command gets on standard input. Unlike other notes it has an agent's words: nobody can
// answer without them.
type Questioned struct {
	Note
	Question ask.Question `json:"question"`
	Choices  []Choice     `json:"choices"` // the safe one first; a question that wants a text has that one alone
}

// Choice is an answer that a question takes: its title, and what the command prints for it.
type Choice struct {
	Title string `json:"title"`
	Say   string `json:"say"`
}

const (
	byReply   = "reply command" // the author of the answer in the loop's story
	maxAnswer = 16 << 10        // bytes of an answer
	testWait  = 2 * time.Minute // for the answer to the question of a test
)

var errTooMuch = errors.New("it prints more than " + format.Amount(maxAnswer, "byte"))

// replies are the commands that have a question of a loop's.
type replies struct {
	mu     sync.Mutex
	open   map[string]context.CancelFunc // by the ids of their questions
	warned map[string]bool
}

// ask starts the command for a question of the loop's. Its output answers that question alone; when the question is
// closed, the command is ended.
func (t *Notifier) ask(q ask.Question) {
	if len(t.cfg.Notify.Reply) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	t.replies.mu.Lock()
	if t.replies.open == nil {
		t.replies.open, t.replies.warned = map[string]context.CancelFunc{}, map[string]bool{}
	}
	t.replies.open[q.ID] = cancel
	t.replies.mu.Unlock()
	t.under.Go(func() {
		defer cancel()
		<-t.known
		err := t.reply(ctx, q)
		if err != nil && ctx.Err() == nil {
			t.warnOnce("the reply command didn't answer: " + err.Error())
		}
	})
}

// reply waits for the command's answer, and gives it.
func (t *Notifier) reply(ctx context.Context, q ask.Question) error {
	a, ok, err := replyTo(ctx, t.cfg.Notify.Reply, q, t.id, t.cfg.Folder)
	if !ok {
		return err
	}
	if err = t.answer(q.ID, a); errors.Is(err, ask.ErrNoQuestion) || errors.Is(err, loop.ErrNotRunning) {
		return nil // somebody was quicker
	}
	return err
}

// settled ends the command of a question that is closed.
func (t *Notifier) settled(id string) {
	t.replies.mu.Lock()
	defer t.replies.mu.Unlock()
	if cancel := t.replies.open[id]; cancel != nil {
		cancel()
		delete(t.replies.open, id)
	}
}

// warnOnce warns of what may be wrong with each question of a night.
func (t *Notifier) warnOnce(text string) {
	t.replies.mu.Lock()
	isNew := !t.replies.warned[text]
	t.replies.warned[text] = true
	t.replies.mu.Unlock()
	if isNew {
		t.warn(wire.OneLine(text))
	}
}

// questioned is what a command gets of a question.
func questioned(q ask.Question, loopID, folder string) Questioned {
	shown := wire.QuestionOf(q, loopID, folder)
	out := Questioned{
		Note: Note{Event: settings.NotifyQuestion, LoopID: loopID, Folder: folder, Title: TitleOf(folder), Text: shown.Text,
			Class: shown.Class},
		Question: shown.Question,
	}
	for i, offer := range shown.Offers {
		say := offer.Arguments[0].(wire.AnswerParams).Answer
		if say == ask.Value { // options follow the no, and are said by their numbers
			if say = strconv.Itoa(i); slices.Contains(q.Options, say) {
				say = q.Options[i-1]
			}
		}
		out.Choices = append(out.Choices, Choice{offer.Title, say})
	}
	return out
}

// replyTo runs a command for a question and reads its answer, as it would be typed; ok is false where it has none.
func replyTo(ctx context.Context, argv []string, q ask.Question, loopID, folder string) (a ask.Answer, ok bool, err error) {
	asks := questioned(q, loopID, folder)
	stdin, err := json.Marshal(asks)
	if err != nil {
		return a, false, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	said := &head{most: maxAnswer, full: func() { end(errTooMuch) }}
	if err = run(ctx, argv, string(stdin)+"\n", said); context.Cause(ctx) == errTooMuch {
		err = errTooMuch
	}
	words := strings.Fields(said.String())
	if option := strings.TrimSpace(said.String()); slices.Contains(q.Options, option) {
		words = []string{option}
	}
	if err != nil || len(words) == 0 {
		return a, false, err
	}
	_, a, err = answers.ReadAnswer([]ask.Question{q}, words, "", byReply)
	if err == nil {
		err = q.Takes(a)
	}
	return a, err == nil, err
}

// TestReply asks a question of no loop, and returns what came of that.
func TestReply(ctx context.Context, argv []string, folder string) (said string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, testWait, errors.New("no answer within "+format.Duration(testWait)))
	defer cancel()
	now := time.Now()
	q := ask.Question{ID: "q1test", Kind: ask.Permission, Tool: "Bash", Title: "Bash echo hello", Detail: "echo hello",
		At: now, Until: now.Add(testWait)}
	a, ok, err := replyTo(ctx, argv, q, "", folder)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	case !ok:
		return "", errors.New("it ended without an answer")
	}
	return wire.AnsweredText(q, a), nil
}
