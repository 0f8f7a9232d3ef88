package server

import (
	"context"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// ofFolder is a command about the folder that is named, the workspace's only one, or none.
func (c *controls) ofFolder(answer func(ctx context.Context, folder string) any) func(context.Context, wire.FolderParams) (any, error) {
	return func(ctx context.Context, p wire.FolderParams) (any, error) {
		folder, err := c.workspace.FolderPath(p.Folder)
		if err != nil && p.Folder != "" {
			return nil, err
		}
		return answer(ctx, folder), nil
	}
}

// doctor says what a folder, "" for none, lacks.
func (m *manager) doctor(ctx context.Context, folder string) any {
	return m.controls.service.Doctor(ctx, m.version, folder)
}

func (s *starter) sandbox(ctx context.Context, p wire.SandboxParams) (any, error) {
	return service.SetSandbox(ctx, config.FilesOf("", backends.Names()), p.Mode)
}

func (m *manager) help(context.Context, struct{}) (any, error) {
	return wire.HelpResult{Markdown: helpText + start.FlagList()}, nil
}

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
