package chat

import (
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Slash is what a prompt may begin with in a session, besides what a loop is to do.
type Slash struct {
	Name, Does, Hint string
	Command          string // of docs/PROTOCOL.md; "" starts a loop

	argument func(of wire.LoopParams, typed string) any
	isBeside bool // it is about what is kept, and waits for nothing
	rest     string
}

// Slashes are all of them.
var Slashes = []Slash{
	{
		Name: "ralph-loop", Does: "Start a loop",
		Hint: "PROMPT [--max-iterations N] [--max-cost USD] [--completion-promise TEXT] [--verify COMMAND]",
	},
	{Name: "cancel-ralph", Does: "End the loop, for good", Command: wire.CommandCancel, argument: func(of wire.LoopParams, _ string) any {
		return wire.CancelParams{LoopParams: of}
	}},
	{Name: "ralph-help", Does: "Explain Ralph loops", Command: wire.CommandHelp, isBeside: true},
	{Name: "ralph-status", Does: "Say how the loop stands", Command: wire.CommandStatus, isBeside: true},
	{
		Name: "ralph-steer", Does: "Tell the agents of the loop something", Hint: "[--once] WORDS", Command: wire.CommandSteer,
		argument: func(of wire.LoopParams, typed string) any { return wire.SteerParams{LoopParams: of, Text: typed} },
	},
	{Name: "ralph-answer", Does: "Ask again what the agent waits to be told", Command: wire.CommandAnswer},
	{
		Name: "ralph-update", Does: "Change the limits of the loop", Hint: "LIMITS, such as 80, $5, 2h", Command: wire.CommandUpdate,
		argument: func(of wire.LoopParams, typed string) any { return wire.ChangeParams{LoopParams: of, Text: typed} },
	},
	{Name: "ralph-pause", Does: "Pause the loop behind its iteration", Command: wire.CommandPause},
	{
		Name: "ralph-resume", Does: "Go on with the loop", Hint: "[LIMITS, such as 80, $5, 2h]", Command: wire.CommandResume,
		argument: func(of wire.LoopParams, typed string) any { return wire.ResumeParams{LoopParams: of, Text: typed} },
	},
	{Name: "ralph-next", Does: "End the iteration, and begin the next one", Command: wire.CommandNext},
	{Name: "ralph-detach", Does: "Let the loop go on alone, without this window", Command: wire.CommandDetach},
	{
		Name: "ralph-changes", Does: "Say what the loop has changed", Command: wire.CommandChanges, isBeside: true,
		argument: func(of wire.LoopParams, _ string) any { return wire.ChangesParams{LoopParams: of} },
	},
	{
		Name: "ralph-undo", Does: "Take back what it changed since an iteration", Hint: "ITERATION",
		Command: wire.CommandUndo, isBeside: true,
		argument: func(of wire.LoopParams, typed string) any {
			since, _ := strconv.Atoi(typed) // what is no number is refused as none
			return answers.UndoParams{LoopParams: of, Since: since}
		},
	},
	{
		Name: "ralph-redo", Does: "Take the undo back", Command: wire.CommandRedo, isBeside: true,
		argument: func(of wire.LoopParams, _ string) any { return answers.RedoParams{LoopParams: of} },
	},
	{
		Name: "ralph-land", Does: "Merge the work of a loop's worktree", Hint: "[BRANCH] [--squash]",
		Command: wire.CommandLand, isBeside: true,
		argument: func(of wire.LoopParams, typed string) any { return wire.LandParams{LoopParams: of, Text: typed} },
	},
}

// slashIn is the command that a prompt begins with.
func slashIn(text string) (found Slash, ok bool) {
	word, rest, _ := strings.Cut(text, " ")
	for _, c := range Slashes {
		if c.Command != "" && "/"+c.Name == word {
			c.rest = strings.TrimSpace(rest)
			return c, true
		}
	}
	return found, false
}

// beside carries out a command beside the loop.
func (s *Session) beside(c Slash, done func(Outcome)) {
	do := func() {
		said, err := s.do(c)
		s.tell(textOf(said, err))
		done(Outcome{})
	}
	if c.isBeside {
		go do()
		return
	}
	s.order(do)
}

func (s *Session) do(c Slash) (wire.Notice, error) {
	if c.Command == wire.CommandAnswer {
		return s.again()
	}
	of := s.here()
	if c.Command == wire.CommandLand { // the text names it
		of = wire.LoopParams{Folder: wire.FileURI(s.Folder)}
	}
	var argument any = of
	if c.argument != nil {
		argument = c.argument(of, c.rest)
	}
	return s.run(c.Command, argument)
}
