package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// exitError ends the program with a code, and a message unless it was said already.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return e.message }

// orLeft is the error of a command for a loop that runs; where none does, but one was
// left behind, it is about that one, which a start would find in its way.
func orLeft(dir string, err error) error {
	if left := (*loop.InterruptedError)(nil); errors.Is(err, loop.ErrNotRunning) && errors.As(loop.InTheWay(dir), &left) {
		return fmt.Errorf("no loop is running here, and %w", left)
	}
	return err
}

// explain makes one line of an error: what, where, and what to do next.
func explain(err error) string {
	var missing *backends.NotFoundError
	var running *loop.AlreadyRunningError
	var interrupted *loop.InterruptedError
	message := err.Error()
	switch {
	case errors.As(err, new(*start.NoModelError)):
		message += ": say it with --backend-arg"
	case errors.As(err, &missing) && len(missing.Looked) > 1:
		message += "; ralph-lsp doctor says how to install one"
	case errors.Is(err, loop.ErrEmptyPrompt):
		message = noPrompt
	case errors.Is(err, loop.ErrNotRunning):
		message += "; start one with ralph-lsp run"
	case errors.As(err, &running):
		in := terminal.InFolderOf(running.Folder)
		message += fmt.Sprintf(" with ralph-lsp cancel%[1]s, or start with run --replace; watch it with ralph-lsp status%[1]s", in)
	case errors.As(err, &interrupted):
		in := terminal.InFolderOf(filepath.Dir(filepath.Dir(interrupted.Path)))
		message += fmt.Sprintf(" (ralph-lsp resume%[1]s, ralph-lsp cancel%[1]s, or run --replace)", in)
	}
	return terminal.Line(message)
}

// isUnread says that nobody reads what is written any more. On Windows that is a failure to
// write (ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED), where elsewhere it ends
// all processes but those that drive a loop.
func isUnread(reason error) bool {
	errno := syscall.Errno(0)
	return errors.Is(reason, syscall.EPIPE) || runtime.GOOS == "windows" && errors.As(reason, &errno) &&
		slices.Contains([]syscall.Errno{109, 232, 233}, errno)
}

// judge returns how a command ended that returned err. A failure that has
// another cause, or says so itself, stays the command's; so does the end of one
// when nobody reads any more.
func judge(o *terminal.Output, err error) error {
	reason := o.Failure()
	var exit *exitError
	isExit := errors.As(err, &exit)
	switch {
	case reason == nil,
		isExit && exit.message != "",
		isUnread(reason) && (isExit || runtime.GOOS == "windows"),
		err != nil && !isExit && !errors.Is(err, reason):
		return err
	}
	if path := (*fs.PathError)(nil); errors.As(reason, &path) {
		reason = path.Err
	}
	return fmt.Errorf("writing the output: %w", reason)
}

// isAttended says whether somebody sits at the terminal that a command runs in.
func isAttended(cmd *cobra.Command) bool {
	_, answers := terminal.Is(cmd.InOrStdin())
	_, shows := terminal.Is(cmd.OutOrStdout())
	return answers && shows
}
