package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// MaxText is how many bytes of text an update may have. JSON's escapes at most
// double them, so that one update always fits into a notification.
const MaxText = 31 << 10

// Encoder encodes one update after another.
type Encoder struct {
	buf  bytes.Buffer
	json *json.Encoder
}

// NewEncoder returns an Encoder.
func NewEncoder() *Encoder {
	e := new(Encoder)
	e.json = json.NewEncoder(&e.buf)
	e.json.SetEscapeHTML(false) // would take up to six times the room
	return e
}

// Encode returns an update as JSON, valid until the next is encoded. Truncated
// says that the update was shortened. A tool's input that isn't JSON is left out.
func (e *Encoder) Encode(u Update, truncated bool) (json.RawMessage, error) {
	e.buf.Reset()
	if err := e.json.Encode(u); err != nil {
		if call, ok := u.(ToolCall); ok && call.RawInput != nil {
			call.RawInput = nil
			return e.Encode(call, true)
		}
		return nil, fmt.Errorf("encoding an update: %w", err)
	}
	line := bytes.TrimSuffix(e.buf.Bytes(), []byte("\n"))
	if truncated {
		line = append(line[:len(line)-1], `,"truncated":true}`...)
	}
	return line, nil
}

// sanitized returns a value that is fit to be shown, with all that it holds: texts are plain, or as their tag "text"
// says (loop.Event); times, costs and counts are in the wire's form. Fields that aren't in its JSON are left as they
// are; so is raw JSON.
func sanitized[E any](e E) E {
	sanitize(reflect.ValueOf(&e).Elem(), "")
	return e
}

// forms are the values of the tag "text".
var forms = map[string]func(string) string{"": stream.Sanitize, "line": Sentence, "title": OneLine}

// sanitize makes v fit to be shown, in its place. Values behind pointers are copied.
func sanitize(v reflect.Value, form string) {
	switch it := v.Addr().Interface().(type) {
	case *time.Time:
		*it = history.TimeOf(*it)
		return
	case *stream.Cost:
		*it = CostOf(*it)
		return
	case *stream.Tokens:
		*it = history.TokensOf(*it)
		return
	case *json.RawMessage:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(forms[form](v.String()))
	case reflect.Float64:
		v.SetFloat(share(v.Float()))
	case reflect.Struct:
		for i := range v.NumField() {
			if of := v.Type().Field(i); of.IsExported() && of.Tag.Get("json") != "-" {
				sanitize(v.Field(i), of.Tag.Get("text"))
			}
		}
	case reflect.Slice:
		copied := reflect.AppendSlice(reflect.Zero(v.Type()), v) // nil stays nil
		for i := range copied.Len() {
			sanitize(copied.Index(i), form)
		}
		v.Set(copied)
	case reflect.Pointer:
		if !v.IsNil() {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			sanitize(copied.Elem(), form)
			v.Set(copied)
		}
	}
}

// Limited cuts the texts of an update to MaxText bytes. A tool's input can't be cut, so a longer one is left out.
func Limited(u Update) (_ Update, cut bool) {
	shorten := func(s *string) {
		if n := FirstText(*s, MaxText); n < len(*s) {
			*s, cut = strings.Clone((*s)[:n]), true // a clone lets go of the rest
		}
	}
	switch u := u.(type) {
	case ToolCall:
		if len(u.RawInput) > MaxText {
			u.RawInput, cut = nil, true
		}
		for i := range u.Locations {
			shorten(&u.Locations[i].Path)
		}
		return u, cut
	case Topic:
		shorten(&u.Payload)
		return u, cut
	case ErrorUpdate:
		shorten(&u.Message)
		return u, cut
	case Promise:
		shorten(&u.Found)
		return u, cut
	case UserChunk:
		shorten(&u.Content.Text)
		return u, cut
	}
	return u, false
}

// FirstText returns how many bytes of s, at most limit, end at a rune's end.
func FirstText(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	n := limit
	for n > limit-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
