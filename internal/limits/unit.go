package limits

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Unit is what a limit counts.
type Unit string

// The units.
const (
	Count Unit = "whole number"
	USD   Unit = "US dollars"
	Span  Unit = "duration"
)

// Wanted completes "write ..." for a value that isn't fit.
func (u Unit) Wanted() string {
	switch u {
	case Count:
		return "a whole number, 0 or more"
	case USD:
		return "an amount in US dollars such as 5.00"
	}
	return `a duration such as "90m" or "4h"`
}

// ValueError completes "NAME ..." for a value that can't be taken.
type ValueError struct{ message string }

func (e *ValueError) Error() string { return e.message }

// BadValue is the error of a text that can't be taken: wanted completes "write ...".
func BadValue(text, wanted string) error {
	return &ValueError{fmt.Sprintf("is %q; write %s", text, wanted)}
}

// BadValueLike is BadValue for a text that may stand for another one: meant asks whether it does.
func BadValueLike(text, meant, wanted string) error {
	return &ValueError{fmt.Sprintf("is %q; %s write %s", text, meant, wanted)}
}

// MaxAgents is how many agents may work side by side: in a step, as copies of a hat, on the tasks of a plan.
const MaxAgents = 8

// ParseFew reads a number of agents.
func ParseFew(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxAgents {
		return 0, BadValue(text, fmt.Sprintf("a number from 1 to %d", MaxAgents))
	}
	return n, nil
}

// ParseCount reads a whole number, 0 or more. Errors are of type *ValueError,
// also those of the other units.
func ParseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, BadValue(text, "a smaller number")
	case err != nil || n < 0:
		return 0, BadValue(text, Count.Wanted())
	}
	return n, nil
}

// ParseUSD reads an amount of dollars: "5", "2.50", "$2.50", "2,50". What may be
// thousands is refused: "1,000".
func ParseUSD(text string) (float64, error) {
	amount := strings.TrimPrefix(text, "$")
	if whole, cents, ok := strings.Cut(amount, ","); ok && len(cents) <= 2 {
		amount = whole + "." + cents
	}
	usd, err := strconv.ParseFloat(amount, 64)
	if err != nil || !isFit(usd) {
		return 0, BadValue(text, USD.Wanted())
	}
	return usd, nil
}

// ParseSpan reads a length of time: "90m", "1h30m", "30d", "0".
func ParseSpan(text string) (time.Duration, error) {
	if days, rest, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16) // a Duration holds more
		more, restErr := time.ParseDuration(cmp.Or(rest, "0"))
		if err != nil || restErr != nil || more < 0 || more > math.MaxInt64/2 {
			return 0, BadValue(text, Span.Wanted())
		}
		return time.Duration(n)*24*time.Hour + more, nil
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 {
		return 0, BadValue(text, fmt.Sprintf("it with its unit: %ss, %sm or %sh", text, text, text))
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, BadValue(text, Span.Wanted())
	}
	return d, nil
}

// Duration is a length of time, in milliseconds as JSON.
type Duration time.Duration

// ParseDuration is ParseSpan.
func ParseDuration(text string) (Duration, error) {
	d, err := ParseSpan(text)
	return Duration(d), err
}

// String is the length as a flag has it.
func (d Duration) String() string { return format.Duration(time.Duration(d)) }

// MarshalJSON writes milliseconds.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).Milliseconds()) }

// UnmarshalJSON reads milliseconds. What is none is a *ValueError, or of another type.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var ms int64
	err := json.Unmarshal(data, &ms)
	if most := math.MaxInt64 / int64(time.Millisecond); err == nil && (ms < 0 || ms > most) {
		err = BadValue(string(data), "milliseconds up to "+strconv.FormatInt(most, 10))
	}
	*d = Duration(time.Duration(ms) * time.Millisecond)
	return err
}

// FormatUSD writes an amount as ParseUSD reads it, with all of its digits.
func FormatUSD(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }

// number is what a limit can be in Go.
type number interface{ int | float64 | Duration }

// isFit says whether a number can be a limit.
func isFit[T number](v T) bool { return v >= 0 && !math.IsInf(float64(v), 0) }

// kind is how the values of a unit are read and written.
type kind[T number] struct {
	unit  Unit
	parse func(string) (T, error)
	text  func(T) string
}

var (
	counts  = kind[int]{Count, ParseCount, strconv.Itoa}
	dollars = kind[float64]{USD, ParseUSD, FormatUSD}
	spans   = kind[Duration]{Span, ParseDuration, Duration.String}
)
