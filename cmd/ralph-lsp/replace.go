package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// startOrReplace runs start, and once more when it met another loop that the
// user lets go: said in advance with replace, else asked at a terminal.
func startOrReplace(cmd *cobra.Command, cfg setup.Config, replace bool, start func() error) error {
	err := start()
	question := wire.QuestionAbout(err)
	if question == "" {
		return err
	}
	if !replace {
		yes, asked := confirm(cmd, question)
		switch {
		case !asked:
			return err
		case !yes && errors.As(err, new(*loop.AlreadyRunningError)):
			return &exitError{terminal.ExitFailed, "nothing was started; the running loop goes on"}
		case !yes:
			return &exitError{terminal.ExitFailed, "nothing was started; to go on with the loop of this folder: ralph-lsp resume" +
				terminal.InFolderOf(cfg.Folder)}
		}
	}
	if _, _, err := service.CheckStart(cfg); err != nil {
		return err
	}
	if err := makeRoom(cmd, cfg.Folder, err); err != nil {
		return err
	}
	return start()
}

// makeRoom ends the loop that a start met, or discards it, and returns when
// nothing of it is left. Another one that is there by now stays.
func makeRoom(cmd *cobra.Command, folder string, met error) error {
	there := target{dir: folder} // whichever is there where its id isn't known
	if running, ok := errors.AsType[*loop.AlreadyRunningError](met); ok {
		there.id = running.Owner.LoopID
	} else if left, ok := errors.AsType[*loop.InterruptedError](met); ok {
		there.id = left.State.LoopID
	}
	iteration, err := there.cancel(cmd.Context())
	if errors.Is(err, loop.ErrNotRunning) {
		return nil
	} else if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "cancelled the loop of this folder (at iteration %d)\n", iteration)
	return nil
}

// confirm asks a question whose safe answer is no. asked is false where nobody
// can be asked, as there is no terminal.
func confirm(cmd *cobra.Command, question string) (yes, asked bool) {
	word, asked := prompt(cmd, question+" [y/N] ") // none is a no
	return word == "y" || word == "yes", asked
}

// leaves is the answer that lets nothing begin. The end of the input (Ctrl-D) counts as this one, since Enter may stand for a
// yes.
const leaves = "q"

// prompt asks a question at a terminal, and returns the answer in small letters.
func prompt(cmd *cobra.Command, question string) (answer string, asked bool) {
	_, shows := terminal.Is(cmd.ErrOrStderr())
	_, answers := terminal.Is(cmd.InOrStdin())
	if !shows || !answers {
		return "", false
	}
	fmt.Fprint(cmd.ErrOrStderr(), fitted(stream.Sanitize(question), terminal.LineWidth(cmd.ErrOrStderr())))
	line, whole := readLine(cmd.InOrStdin())
	if !whole {
		fmt.Fprintln(cmd.ErrOrStderr()) // the question's line is still open
		return leaves, true
	}
	return strings.ToLower(strings.TrimSpace(line)), true
}

// fitted is a question whose lines break between words. The answer is typed behind the last one.
func fitted(question string, width int) string {
	asked := strings.TrimRight(question, " ")
	lines := strings.Split(asked, "\n")
	for i, line := range lines {
		lines[i] = terminal.Wrapped(line, width, 0)
	}
	return strings.Join(lines, "\n") + question[len(asked):]
}

// readLine reads a line and nothing of what is behind it: that may answer
// another question. It isn't whole where the input ended before it did.
func readLine(in io.Reader) (line string, whole bool) {
	var read []byte
	for b := make([]byte, 1); ; {
		if n, err := in.Read(b); n == 0 || err != nil {
			return string(read), false
		}
		if b[0] == '\n' {
			return string(read), true
		}
		read = append(read, b[0])
	}
}
