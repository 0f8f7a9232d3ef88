package service

import (
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Help explains loops.
func Help() wire.HelpResult { return wire.HelpResult{Markdown: helpText + start.FlagList()} }

// helpText is what an editor shows of help.
var helpText = `# Ralph loops

An agent (pi, claude, or a program of yours) gets the same prompt again and again, each time with a fresh
context, until it promises that it is done or a limit is reached.

- **Start** with a prompt. The loop is done when the agent's last message has ` + "`<promise>DONE</promise>`" + ` (the text is yours) on
  a line of its own, or ends with the line ` + "`LOOP_COMPLETE`" + `. A prompt with one such tag sets the promise; each run is told it.
- **Limits**: ` + strings.Join(limits.Default().Texts(), ", ") + `,
  unless you say otherwise; a budget in dollars if you give one. All of them can be changed while the loop runs.
- **Pause** finishes the running iteration; **resume** goes on, or ends a wait. **Steer** tells the agent something: at once where it listens (pi, claude), else with its next run.
- **Cancel** ends the agent and everything it started, and answers when all of it is gone.
- The loop's state is in ` + "`.pi/ralph-loop.local.md`" + `: edit the prompt or the limits there, or delete the file to end the loop.
- Defaults for a folder (backend, limits, roles) are in its ` + "`ralph.toml`" + `, yours in ralph-lsp/config.toml in your
  configuration folder; the doctor says where each value comes from.
- If the editor goes away, the loop is interrupted and can be continued at the same iteration; with ` + "`--on-close keep`" + ` it goes on alone.

The text of a start may have flags: ` + "`/ralph-loop \"Build X\" --completion-promise \"DONE\" --max-iterations=20`" + `.
Flags next to such a text win over those in it. ` + "`/cancel-ralph`" + ` and ` + "`/ralph-help`" + ` are understood too. A start takes:

`
