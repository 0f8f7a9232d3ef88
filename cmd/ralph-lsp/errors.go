package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// The exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitCapped    = 2
	exitGoesOn    = 3 // of a loop that was to run once
	exitCancelled = 130
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
		in := inFolderOf(running.Folder)
		message += fmt.Sprintf(" with ralph-lsp cancel%[1]s, or start with run --replace; watch it with ralph-lsp status%[1]s", in)
	case errors.As(err, &interrupted):
		in := inFolderOf(filepath.Dir(filepath.Dir(interrupted.Path)))
		message += fmt.Sprintf(" (ralph-lsp resume%[1]s, ralph-lsp cancel%[1]s, or run --replace)", in)
	}
	return plainLine(message)
}
