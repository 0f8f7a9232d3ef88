package limits

import (
	"fmt"
	"strings"
)

// place is where a limit is in Limits and in Given, whatever its type.
type place interface {
	// Set reads a value as a flag has it. Errors are of type *ValueError.
	Set(g *Given, text string) error
	// SetFrom is Set, and "+10" adds to the limit that there is.
	SetFrom(now Limits, g *Given, text string) error
	// IsIn says whether the limit is given.
	IsIn(g Given) bool
	// Take gives the limit as it is in l.
	Take(g *Given, l Limits)
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

	raised(now, used Limits) Given
	over(l *Limits, g Given)
	copy(to *Given, from Given)
	check(l Limits) error
}

// spot is the place of a limit of one type.
type spot[T number] struct {
	kind   kind[T]
	in     func(*Limits) *T
	given  func(*Given) **T
	amount func(T) string
	of     string // words behind an amount
	none   string // words for 0
}

func (s spot[T]) Set(g *Given, text string) error {
	v, err := s.kind.parse(text)
	if err != nil {
		return err
	}
	*s.given(g) = &v
	return nil
}

func (s spot[T]) SetFrom(now Limits, g *Given, text string) error {
	more, adds := strings.CutPrefix(text, "+")
	if err := s.Set(g, more); err != nil || !adds {
		return err
	}
	v := *s.in(&now) + **s.given(g)
	if !isFit(v) || *s.in(&now) == 0 {
		return &ValueError{fmt.Sprintf("is %q, and there is nothing to add to; write %s", text, s.kind.unit.Wanted())}
	}
	*s.given(g) = &v
	return nil
}

func (s spot[T]) IsIn(g Given) bool       { return *s.given(&g) != nil }
func (s spot[T]) Take(g *Given, l Limits) { *s.given(g) = s.in(&l) }
func (s spot[T]) Drop(g *Given)           { *s.given(g) = nil }
func (s spot[T]) Text(l Limits) string    { return s.kind.text(*s.in(&l)) }
func (s spot[T]) Amount(l Limits) string  { return s.amount(*s.in(&l)) }
func (s spot[T]) IsZero(l Limits) bool    { return *s.in(&l) == 0 }

func (s spot[T]) IsLooser(a, b Limits) bool {
	x, y := *s.in(&a), *s.in(&b)
	return y != 0 && (x == 0 || x > y)
}

func (s spot[T]) Words(l Limits) string {
	if s.IsZero(l) {
		return s.none
	}
	return s.Amount(l) + s.of
}

func (s spot[T]) raised(now, used Limits) Given {
	limit, most := *s.in(&now), *s.in(&used)
	for isRaised := false; limit > 0 && limit <= limit*2 && (!isRaised || limit <= most); isRaised = true {
		limit *= 2
	}
	var g Given
	*s.given(&g) = &limit
	return g
}

func (s spot[T]) over(l *Limits, g Given) {
	if v := *s.given(&g); v != nil {
		*s.in(l) = *v
	}
}

func (s spot[T]) copy(to *Given, from Given) {
	if v := *s.given(&from); v != nil {
		*s.given(to) = new(*v)
	}
}

func (s spot[T]) check(l Limits) error {
	if v := *s.in(&l); !isFit(v) {
		return &ValueError{fmt.Sprintf("is %s; write %s", s.kind.text(v), s.kind.unit.Wanted())}
	}
	return nil
}
