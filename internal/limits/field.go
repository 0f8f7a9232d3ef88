package limits

import (
	"fmt"
	"strings"
)

// field is where a limit is in Limits and in Given, whatever its type.
type field interface {
	// Set reads a value as a flag has it. Errors are of type *ValueError.
	Set(g *Given, text string) error
	// SetFrom is Set, and "+10" adds to the limit that there is.
	SetFrom(now Limits, g *Given, text string) error
	// IsIn says whether the limit is given.
	IsIn(g Given) bool
	// Take gives the limit as it is in l.
	Take(g *Given, l Limits)
	// Copy gives it as another one does, if that does.
	Copy(to *Given, from Given)
	// Drop gives it no longer.
	Drop(g *Given)
	// IsLooser says whether it is looser in a than in b.
	IsLooser(a, b Limits) bool
	// IsZero says whether it is no limit.
	IsZero(l Limits) bool
	// Text is its value as a flag has it: "50", "2.5", "4h".
	Text(l Limits) string
	// Amount is its value for people: "50 iterations", "$2.50", "4h".
	Amount(l Limits) string
	// Words are the amount with what it is of, "4h of running"; of 0 "no limit of time".
	Words(l Limits) string

	// Check says what is wrong with it. Errors are of type *ValueError.
	Check(l Limits) error

	raised(now, used Limits) Given
	over(l *Limits, g Given)
}

// fieldOf is the field of a limit of one type.
type fieldOf[T number] struct {
	kind   kind[T]
	in     func(*Limits) *T
	given  func(*Given) **T
	amount func(T) string
	of     string // words behind an amount
	none   string // words for 0
}

func (f fieldOf[T]) Set(g *Given, text string) error {
	v, err := f.kind.parse(text)
	if err != nil {
		return err
	}
	*f.given(g) = &v
	return nil
}

func (f fieldOf[T]) SetFrom(now Limits, g *Given, text string) error {
	more, adds := strings.CutPrefix(text, "+")
	if err := f.Set(g, more); err != nil || !adds {
		return err
	}
	v := *f.in(&now) + **f.given(g)
	if !isFit(v) || *f.in(&now) == 0 {
		return &ValueError{fmt.Sprintf("is %q, and there is nothing to add to; write %s", text, f.kind.unit.Wanted())}
	}
	*f.given(g) = &v
	return nil
}

func (f fieldOf[T]) IsIn(g Given) bool       { return *f.given(&g) != nil }
func (f fieldOf[T]) Take(g *Given, l Limits) { *f.given(g) = f.in(&l) }
func (f fieldOf[T]) Drop(g *Given)           { *f.given(g) = nil }
func (f fieldOf[T]) Text(l Limits) string    { return f.kind.text(*f.in(&l)) }
func (f fieldOf[T]) Amount(l Limits) string  { return f.amount(*f.in(&l)) }
func (f fieldOf[T]) IsZero(l Limits) bool    { return *f.in(&l) == 0 }

func (f fieldOf[T]) IsLooser(a, b Limits) bool {
	x, y := *f.in(&a), *f.in(&b)
	return y != 0 && (x == 0 || x > y)
}

func (f fieldOf[T]) Words(l Limits) string {
	if f.IsZero(l) {
		return f.none
	}
	return f.Amount(l) + f.of
}

func (f fieldOf[T]) raised(now, used Limits) Given {
	limit, most := *f.in(&now), *f.in(&used)
	for isRaised := false; limit > 0 && limit <= limit*2 && (!isRaised || limit <= most); isRaised = true {
		limit *= 2
	}
	var g Given
	*f.given(&g) = &limit
	return g
}

func (f fieldOf[T]) over(l *Limits, g Given) {
	if v := *f.given(&g); v != nil {
		*f.in(l) = *v
	}
}

func (f fieldOf[T]) Copy(to *Given, from Given) {
	if v := *f.given(&from); v != nil {
		*f.given(to) = new(*v)
	}
}

func (f fieldOf[T]) Check(l Limits) error {
	if v := *f.in(&l); !isFit(v) {
		return &ValueError{fmt.Sprintf("is %s; write %s", f.kind.text(v), f.kind.unit.Wanted())}
	}
	return nil
}
