// Package start is what a loop is asked to do, in the words of its user: the
// flags of the command line, and the same flags in the text that an editor's
// command sends. It starts nothing.
package start

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"ralph-lsp/internal/tell"
)

// ValueError says why a flag's value can't be taken, and what can.
type ValueError struct{ message string }

func (e *ValueError) Error() string { return e.message }

func badValue(format string, args ...any) error {
	return &ValueError{fmt.Sprintf(format, args...)}
}

// Count is a flag that takes 0 or more.
type Count int

func (c *Count) String() string { return strconv.Itoa(int(*c)) }
func (c *Count) Type() string   { return "N" }
func (c *Count) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return badValue("%s is too large; 0 means no limit", s)
	case err != nil:
		return badValue("%q is not a whole number; give 0 (no limit) or more", s)
	case n < 0:
		return badValue("%d is negative; give 0 (no limit) or more", n)
	}
	*c = Count(n)
	return nil
}

// USD is a flag that takes an amount of dollars.
type USD float64

func (u *USD) String() string { return strconv.FormatFloat(float64(*u), 'f', -1, 64) }
func (u *USD) Type() string   { return "USD" }
func (u *USD) Set(s string) error {
	amount, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64)
	switch {
	case err != nil || math.IsNaN(amount) || math.IsInf(amount, 0):
		return badValue("%q is not an amount of dollars; write it like 2.50 (0 means no limit)", s)
	case amount < 0:
		return badValue("%s is negative; give 0 (no limit) or more", s)
	}
	*u = USD(amount)
	return nil
}

// Span is a flag that takes a length of time.
type Span time.Duration

func (d *Span) String() string { return tell.Duration(time.Duration(*d)) }
func (d *Span) Type() string   { return "TIME" }
func (d *Span) Set(s string) error {
	if n, err := strconv.ParseFloat(s, 64); err == nil && n > 0 {
		return badValue("%q has no unit; write %ss, %sm or %sh", s, s, s, s)
	}
	length, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return badValue("%q is not a length of time; write it like 90s, 10m or 1h30m (0 means no limit)", s)
	case length < 0:
		return badValue("%s is negative; give 0 (no limit) or more", s)
	}
	*d = Span(length)
	return nil
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
	hint := ""
	if near := tell.Nearest(s, c.Of); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return badValue("%q is none of %s%s", s, strings.Join(c.Of, ", "), hint)
}
