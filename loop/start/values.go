package start

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
)

// ValueError says why a flag's value can't be taken, and what can.
type ValueError struct{ message string }

func (e *ValueError) Error() string { return e.message }

func badValue(format string, args ...any) error {
	return &ValueError{fmt.Sprintf(format, args...)}
}

// Choice is a flag that takes one of a few words.
type Choice struct {
	Value string
	Of    []string
}

func (c *Choice) String() string { return c.Value }
func (c *Choice) Type() string   { return strings.Join(c.Of, "|") }
func (c *Choice) Set(s string) error {
	for _, known := range c.Of {
		if s == known {
			c.Value = s
			return nil
		}
	}
	return badValue("%q is unknown: %s", s, tell.Known(s, c.Of))
}
