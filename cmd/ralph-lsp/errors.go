package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph-lsp/loop"
)

// The exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitCapped    = 2
	exitCancelled = 130
)

// exitError ends the program with a code, and a message unless it was said already.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return e.message }

// explain makes one line of an error: what, where, and what to do next.
func explain(err error) string {
	var running *loop.AlreadyRunningError
	var interrupted *loop.InterruptedError
	message := err.Error()
	switch {
	case errors.Is(err, loop.ErrEmptyPrompt):
		message = noPrompt
	case errors.Is(err, loop.ErrNotRunning):
		message += "; start one with ralph-lsp run"
	case errors.As(err, &running):
		message += " with ralph-lsp cancel, or watch it with ralph-lsp status"
	case errors.As(err, &interrupted):
		message += " (ralph-lsp resume, ralph-lsp cancel)"
	}
	return strings.Join(strings.Fields(message), " ")
}

// nearest returns the one of names that word is probably a typing error of, or "".
func nearest(word string, names []string) string {
	best, found := 1+len(word)/3, ""
	for _, name := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), name); d <= best && (found == "" || d < best) {
			best, found = d, name
		}
	}
	return found
}

// flagError says in one line what is wrong with a flag. An unknown flag is
// never taken for a word of the prompt.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		return fmt.Errorf("--%s needs a value; see ralph-lsp help %s", missing.GetFlag().Name, cmd.Name())
	case errors.As(err, &invalid):
		reason := invalid.Unwrap()
		if !errors.As(reason, new(*valueError)) {
			return fmt.Errorf("--%s: %q is not a valid value; see ralph-lsp help %s", invalid.GetFlag().Name, invalid.GetValue(), cmd.Name())
		}
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, reason)
	}
	return err
}

func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		return fmt.Errorf("unknown flag -%s; see ralph-lsp help %s%s", short, cmd.Name(), wordsHint(cmd))
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if near := nearest(name, known); near != "" {
		return fmt.Errorf("unknown flag --%s; did you mean --%s?%s", name, near, wordsHint(cmd))
	}
	return fmt.Errorf("unknown flag --%s; see ralph-lsp help %s%s", name, cmd.Name(), wordsHint(cmd))
}

// wordsHint tells how words that look like flags get into a text argument.
func wordsHint(cmd *cobra.Command) string {
	if !cmd.Flags().HasAvailableFlags() || cmd.Annotations[takesText] == "" {
		return ""
	}
	return " (text that begins with - goes behind --)"
}

// takesText marks commands whose arguments are free text.
const takesText = "takes-text"

// noArguments is cobra.NoArgs in our words.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but got %q; see ralph-lsp help %s", cmd.Name(), args[0], cmd.Name())
	}
	return nil
}
