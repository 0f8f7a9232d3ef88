package top

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// binding is what a key does with the loop that is shown.
type binding struct {
	key, name string
	can       []string // one of these is possible with the loop; none: it always is
	does      string   // for the help
	do        func(*model, loop.Status) []effect
}

// bindings are the keys, in the order of the help.
func bindings() []binding {
	return []binding{
		{"a", "answer", []string{wire.CanAnswer}, "what an agent asks: shows all of it, and what can be answered", (*model).answer},
		{"s", "steer", []string{wire.CanSteer}, "tells it something, each run from now on (--once: one run; --forget N: takes " +
			"it back)", (*model).steer},
		{"p", "pause", []string{wire.CanPause}, "stops behind this iteration", command("pause")},
		{"r", "resume", []string{wire.CanResume}, "goes on, or tries again now; an ended loop goes on alone", command("resume", "--detach")},
		{"e", "next", []string{wire.CanNext}, "ends this iteration and begins the next", command("next")},
		{"l", "limits", []string{wire.CanUpdate, wire.CanResume}, "other limits; an ended loop goes on with them", (*model).limit},
		{"D", "detach", []string{wire.CanDetach}, "lets it go on without its window", command("detach")},
		{"X", "cancel", []string{wire.CanCancel, wire.CanDiscard}, "ends it for good; asks first", (*model).cancel},
		{"i", "status", nil, "all that there is to know of it", command("status")},
		{"d", "changes", nil, "what the chosen iteration changed", (*model).changes},
		{"u", "undo", nil, "takes back what iterations changed; asks first", (*model).undo},
		{"/", "search", nil, "finds a text in the story; n and N go to the next one and the one before", (*model).seek},
	}
}

// command is a command of the program about the loop.
func command(words ...string) func(*model, loop.Status) []effect {
	return func(m *model, s loop.Status) []effect { return m.runs(append(words, s.LoopID)...) }
}

// runs runs a command and has what it says told.
func (m *model) runs(args ...string) []effect {
	m.said = said{text: "…"}
	return about(m.id, func() message { return saidMsg(m.run(args...)) })
}

// aboutMsg is what came of something that was asked of a loop.
type aboutMsg struct {
	loop string
	message
}

// about is an effect of which something comes for a loop.
func about(loop string, do effect) []effect {
	return []effect{func() message { return aboutMsg{loop, do()} }}
}

// press does what a key does with the loop that is shown.
func (m *model) press(b binding, s loop.Status) []effect {
	if !may(b, s) {
		m.fail(b.name + " isn't possible: " + m.loops.standOf(s))
		return nil
	}
	return b.do(m, s)
}

func may(b binding, s loop.Status) bool {
	can := wire.StatusOf(s, false).Can
	return len(b.can) == 0 || slices.ContainsFunc(b.can, func(what string) bool { return slices.Contains(can, what) })
}

func (m *model) steer(s loop.Status) []effect {
	id := s.LoopID
	m.input = &input{ask: "tell it: ", done: func(text string) []effect {
		said, err := loop.ParseSteering(text)
		if err != nil {
			m.fail(err.Error())
			return nil
		}
		args := []string{"steer"}
		if said.Next {
			args = append(args, "--next")
		}
		if said.Once {
			args = append(args, "--once")
		}
		if said.Forget > 0 {
			return m.runs(append(args, "--forget", strconv.Itoa(said.Forget), id)...)
		}
		return m.runs(append(args, id, "--", said.Text)...)
	}}
	return nil
}

// limit asks for limits as flags have them.
func (m *model) limit(s loop.Status) []effect {
	args := []string{"resume", "--detach"}
	if wire.StatusOf(s, false).Live {
		args = []string{"update"}
	}
	var flags []string
	for _, name := range []limits.Name{limits.Iterations, limits.Cost, limits.Time} {
		l, _ := limits.ByName(name)
		flags = append(flags, "--"+l.Flag, l.Text(s.Limits))
	}
	m.input = &input{ask: args[0] + ": ", text: strings.Join(flags, " "), done: func(text string) []effect {
		return m.runs(append(append(args, s.LoopID), strings.Fields(text)...)...)
	}}
	return nil
}

func (m *model) cancel(s loop.Status) []effect {
	m.choice = &choice{title: "End " + terminal.Line(terminal.TitleOf(s)) + " for good?", detail: s.Folder, rows: []option{
		{"Leave It", nil}, {"Cancel the Loop", func() []effect { return m.runs("cancel", s.LoopID) }},
	}}
	return nil
}

// answer shows the question that has waited longest. The safe answer stands first, and what is
// typed before anybody can have read it allows nothing.
func (m *model) answer(s loop.Status) []effect {
	q := s.Questions[0]
	reply := func(words ...string) []effect {
		return m.runs(append([]string{"answer", s.LoopID, q.ID}, words...)...)
	}
	asked := &choice{title: wire.AsksText(q), detail: q.Detail, question: q.ID, since: m.now()}
	for _, offer := range wire.QuestionOf(q, s.LoopID, s.Folder).Offers {
		if p, ok := offer.Arguments[0].(wire.AnswerParams); ok {
			words := []string{p.Answer}
			if p.Answer == ask.Value {
				words = []string{p.Text}
			}
			asked.rows = append(asked.rows, option{offer.Title, func() []effect { return reply(words...) }})
		}
	}
	typed := func(words ...string) func() []effect {
		return func() []effect {
			m.input = &input{ask: strings.Join(append(words, "with: "), " "),
				done: func(text string) []effect { return reply(append(words, text)...) }}
			return nil
		}
	}
	if q.Kind == ask.Input {
		asked.rows = append(asked.rows, option{"Answer in Words", typed()})
	} else if q.HoldsAgent() {
		asked.rows = append(asked.rows, option{"Deny, With Words for the Agent", typed(ask.Deny)})
	}
	m.choice = asked
	return nil
}

// changes shows which files an iteration changed, and how.
func (m *model) changes(s loop.Status) []effect {
	args, title, iteration := []string{"changes", s.LoopID}, "what the loop changed", 0
	if at := m.story.chosen(); at != nil && at.iteration > 0 {
		iteration = at.iteration
		args = append(args, "--iteration", strconv.Itoa(iteration))
		title = fmt.Sprintf("what iteration %d changed", iteration)
	}
	m.said = said{text: "…"}
	return about(m.id, func() message {
		found, err := m.diff(s, iteration)
		if err != nil || len(found.files) == 0 {
			return saidMsg(m.run(args...)) // the command has the words for it
		}
		shown := newTree(found)
		return page{title: title + ": " + answers.SumText(changes.Sum(found.files)), tree: shown,
			text: shown.hunks(context.Background(), shown.files[0])}
	})
}

// undo shows what would be taken back before it is.
func (m *model) undo(s loop.Status) []effect {
	asked := &choice{title: "Take back which changes?", rows: []option{{"Leave Them", nil}}}
	offer := func(title string, which ...string) {
		args := append([]string{"undo", s.LoopID}, which...)
		asked.rows = append(asked.rows, option{title, func() []effect {
			m.said = said{text: "…"}
			return about(m.id, func() message {
				would := m.run(append(args, "--dry-run")...)
				if would.isError && !strings.Contains(would.text, "\n") {
					return saidMsg(would)
				}
				return choice{title: title + "?", detail: would.text,
					rows: []option{{"Leave Them", nil}, {"Take Them Back", func() []effect { return m.runs(args...) }}}}
			})
		}})
	}
	if at := m.story.chosen(); at != nil && at.iteration > 0 {
		n := strconv.Itoa(at.iteration)
		offer("Those of Iteration "+n, "--iteration", n)
		offer("Those of Iteration "+n+" and Behind It", "--since", n)
	}
	offer("All of the Loop", "--since", "1")
	m.choice = asked
	return nil
}

func (m *model) seek(loop.Status) []effect {
	m.input = &input{ask: "/", done: func(text string) []effect {
		if m.story.hit, m.sought = -1, text; text == "" || m.ctx == nil {
			return nil
		}
		m.said = said{text: "…"}
		ctx, source := m.ctx, m.source
		return []effect{func() message { return source.find(ctx, text) }}
	}}
	return nil
}
