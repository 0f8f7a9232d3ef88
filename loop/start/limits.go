package start

import (
	"github.com/spf13/pflag"

	"ralph-lsp/internal/limits"
	"ralph-lsp/loop"
)

// Limits are the flags that bound a loop.
type Limits struct{ patch loop.Patch }

// AddFlags adds them to a set, with the defaults of a new loop.
func (l *Limits) AddFlags(f *pflag.FlagSet) {
	for _, limit := range limits.All() {
		f.Var(&limitFlag{limit, &l.patch.Given}, limit.Flag, limit.Usage)
	}
	f.Func("completion-promise", "the loop is done when the agent says <promise>`TEXT`</promise>", func(text string) error {
		l.patch.Promise = &text
		return nil
	})
}

// Patch are those that were given.
func (l *Limits) Patch() loop.Patch { return l.patch }

// limitFlag is the flag of a limit.
type limitFlag struct {
	limit limits.Limit
	given *limits.Given
}

// flagTypes are what the values of flags are called in a command's help.
var flagTypes = map[limits.Unit]string{limits.Count: "N", limits.USD: "USD", limits.Span: "TIME"}

func (f *limitFlag) Type() string          { return flagTypes[f.limit.Unit] }
func (f *limitFlag) Set(text string) error { return f.limit.Set(f.given, text) }
func (f *limitFlag) String() string        { return f.limit.Text(f.given.Over(limits.Default())) }
