package settings

import (
	"strconv"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
)

// The kinds of values, besides the units of limits.
const (
	kindText   = "text"
	kindSwitch = "true or false"
)

// field is where a setting is in Said, whatever its type.
type field interface {
	// Kind is what a value is: "text", "duration", "true or false".
	Kind() string
	// IsIn says whether the setting is said.
	IsIn(Values) bool
	// Text is its value as a flag has it, "" where nothing is said.
	Text(Values) string

	set(to *Values, text string) error
	copy(to *Values, from Values)
}

// fieldOf is the field of a setting of one type, of which the zero value says nothing.
type fieldOf[T comparable] struct {
	kind  string
	at    func(*Values) *T
	parse func(string) (T, error)
	text  func(T) string
}

func (f fieldOf[T]) Kind() string { return f.kind }

func (f fieldOf[T]) IsIn(said Values) bool {
	var none T
	return *f.at(&said) != none
}

func (f fieldOf[T]) Text(said Values) string {
	if !f.IsIn(said) {
		return ""
	}
	return f.text(*f.at(&said))
}

func (f fieldOf[T]) set(to *Values, text string) error {
	v, err := f.parse(text)
	if err == nil {
		*f.at(to) = v
	}
	return err
}

func (f fieldOf[T]) copy(to *Values, from Values) { *f.at(to) = *f.at(&from) }

// word is the field of a text.
func word(at func(*Values) *string) field {
	return fieldOf[string]{kindText, at, func(text string) (string, error) { return text, nil }, func(text string) string { return text }}
}

// yesNo is the field of a switch.
func yesNo(at func(*Values) **bool) field {
	return fieldOf[*bool]{kindSwitch, at, func(text string) (*bool, error) {
		v, err := strconv.ParseBool(text)
		if err != nil {
			err = noneOf(text, []string{"true", "false"})
		}
		return &v, err
	}, func(v *bool) string { return strconv.FormatBool(*v) }}
}

// span is the field of a length of time.
func span(at func(*Values) **limits.Duration) field {
	return fieldOf[*limits.Duration]{string(limits.Span), at, func(text string) (*limits.Duration, error) {
		d, err := limits.ParseDuration(text)
		return &d, err
	}, (*limits.Duration).String}
}

// limitField is the field of a limit.
type limitField struct{ limits.Limit }

func (f limitField) Kind() string                 { return string(f.Unit) }
func (f limitField) IsIn(said Values) bool        { return f.Limit.IsIn(said.Given) }
func (f limitField) copy(to *Values, from Values) { f.Copy(&to.Given, from.Given) }

func (f limitField) Text(said Values) string {
	if !f.IsIn(said) {
		return ""
	}
	return f.Limit.Text(said.Over(limits.Limits{}))
}

func (f limitField) set(to *Values, text string) error { return f.Set(&to.Given, text) }
