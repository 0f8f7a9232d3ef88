package start

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
)

// FlagError says in one line what is wrong with a flag of the set: an unknown
// one is never taken for a word of the prompt. more is where its user can
// look, as in "see ralph-lsp help run"; hint stands at the end.
func FlagError(flags *pflag.FlagSet, err error, more, hint string) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(flags, unknown, more, hint)
	case errors.As(err, &missing):
		return fmt.Errorf("--%s needs a value; %s", missing.GetFlag().Name, more)
	case errors.As(err, &invalid):
		reason := invalid.Unwrap()
		if errors.As(reason, new(*limits.ValueError)) {
			return fmt.Errorf("--%s %w", invalid.GetFlag().Name, reason)
		}
		if !errors.As(reason, new(*ValueError)) {
			return fmt.Errorf("--%s: %q is not a valid value; %s", invalid.GetFlag().Name, invalid.GetValue(), more)
		}
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, reason)
	}
	return err
}

func unknownFlag(flags *pflag.FlagSet, unknown *pflag.NotExistError, more, hint string) error {
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		return fmt.Errorf("unknown flag -%s; %s%s", short, more, hint)
	}
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if guess := format.DidYouMean(name, "--", known); guess != "" {
		return fmt.Errorf("unknown flag --%s; %s%s", name, guess, hint)
	}
	return fmt.Errorf("unknown flag --%s; %s%s", name, more, hint)
}

// ValueError says why a flag's value can't be taken, and what can.
type ValueError struct{ message string }

func (e *ValueError) Error() string { return e.message }

func badValue(format string, args ...any) error {
	return &ValueError{fmt.Sprintf(format, args...)}
}

// Choice is a flag that takes one of a few words.
type Choice struct {
	Value string
	To    *string // where the word counts as well; nil: nowhere
	Of    []string
}

func (c *Choice) String() string { return c.Value }
func (c *Choice) Type() string   { return strings.Join(c.Of, "|") }
func (c *Choice) Set(s string) error {
	for _, known := range c.Of {
		if s == known {
			if c.Value = s; c.To != nil {
				*c.To = s
			}
			return nil
		}
	}
	return badChoice(s, c.Of)
}

func badChoice(s string, of []string) error {
	return badValue("%q is unknown: %s", s, format.Known(s, of))
}
