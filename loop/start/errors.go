package start

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
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
	if guess := tell.DidYouMean(name, "--", known); guess != "" {
		return fmt.Errorf("unknown flag --%s; %s%s", name, guess, hint)
	}
	return fmt.Errorf("unknown flag --%s; %s%s", name, more, hint)
}
