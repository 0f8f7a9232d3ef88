package loopstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
)

// A field is one key of the front matter.
type field struct {
	key  string
	kind string // what its value is
	doc  string // for an editor's help, Markdown
	ours bool   // it is only there in a file that has all of a loop
	// format returns the value as YAML; "" leaves the key out.
	format func(*State) string
	// parse reads the block's value. An error completes "KEY ...".
	parse func(*State, block) error
}

// fields are the known keys, in the order in which a new file has them. Other
// tools know the first five, expect them at the top, and need them all.
var fields = slices.Concat([]field{
	told("Whether the loop goes on. `false` pauses it when the running iteration is done.", boolField("active", func(s *State) *bool { return &s.Active })),
	told("The iteration that ran last or runs next, as the loop was left or begun; the loop counts by itself while it runs.", intField(iterationKey, func(s *State) *int { return &s.Iteration })),
	orDefault(limitField(limits.All()[0])),
	orNull(textField("completion_promise", func(s *State) *string { return &s.CompletionPromise })),
	told("When the loop was started.", orNull(timeField("started_at", func(s *State) *time.Time { return &s.StartedAt }))),

	told("The loop's name for commands and logs.", textField("loop_id", func(s *State) *string { return &s.LoopID })),
	told("The agent that runs the loop.", textField("backend", func(s *State) *string { return &s.Backend })),
	told("The role that the loop was started with.", textField("hat", func(s *State) *string { return &s.Hat })),
	told("The agents of markdown files that do the work, as on a command line: `--chain scout,worker`. When the loop is continued, their files are read again, and those of the folder need your trust.",
		textField("agents", func(s *State) *string { return &s.Agents })),
	told("The agent's model; without it, the agent chooses.", textField("model", func(s *State) *string { return &s.Model })),
	told("Arguments that the agent gets after the backend's own.", listField("backend_args", func(s *State) *[]string { return &s.BackendArgs })),
	told("What a program of your own prints: `text`, or the stream of a known agent.", textField("backend_output", func(s *State) *string { return &s.BackendOutput })),
	told("How a program of your own gets the prompt: `stdin`, `arg` or `file`.", textField("backend_prompt", func(s *State) *string { return &s.BackendPrompt })),
	told("What makes the walls around the agents, as `sandbox.engine` of ralph.toml names it.", textField("sandbox_engine", func(s *State) *string { return &s.SandboxEngine })),
}, settingFields(), limitFields(), []field{recordField()})

// iterationKey is the user's key that tells of the loop's count, as it was when the file was
// written.
const iterationKey = "iteration"

// recordKey is of all that isn't the user's.
const recordKey = "record"

// recordField is in the file of a loop that is handed on, which has no record (see record), as JSON in
// a line. How far the loop is says the user's key, and what is of this machine isn't believed of a file.
func recordField() field {
	f := scalarField(recordKey, func(s *State) string { return quote(string(s.ours())) }, func(s *State, text string) error {
		took := s.with([]byte(text))
		took.Iteration, took.Closing, took.OverBudget, took.Turn = s.Iteration, s.Closing, s.OverBudget, s.Turn
		if !json.Valid([]byte(text)) || !took.isSound() {
			return errors.New("isn't what ralph-lsp has written there; remove it, and what the loop has counted begins anew")
		}
		*s = took
		return nil
	})
	f.ours = true
	return f
}

// Key is a key of the front matter that is the user's.
type Key struct {
	Name, Kind, Doc string // Kind is what its value is, as ralph.toml has it; both are "" for a key that one of ralph.toml explains
	Default         string // of a file that doesn't have it
}

// Keys are the user's keys in their order.
func Keys() (keys []Key) {
	absent := defaultState()
	for _, f := range fields {
		if !f.ours {
			keys = append(keys, Key{f.key, f.kind, f.doc, f.format(&absent)})
		}
	}
	return keys
}

// told is a field with what an editor says of it.
func told(doc string, f field) field {
	f.doc = doc
	return f
}

// fieldOf returns the field with a key, or nil.
func fieldOf(key string) *field {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}

// scalarField makes a field of a value that is one scalar. A null leaves the
// value as it is, like a key that isn't there.
func scalarField(key string, format func(*State) string, parse func(*State, string) error) field {
	return field{key: key, format: format, parse: func(s *State, b block) error {
		text, null, err := b.scalar()
		if err != nil || null {
			return err
		}
		return parse(s, text)
	}}
}

// newField makes a field of a value that is always there.
func newField[T any](key, kind string, at func(*State) *T, format func(T) string, parse func(string) (T, error)) field {
	f := scalarField(key, func(s *State) string { return format(*at(s)) }, func(s *State, text string) error {
		v, err := parse(text)
		if err == nil {
			*at(s) = v
		}
		return err
	})
	f.kind = kind
	return f
}

// limitFields are the limits but the first, which is at the top.
func limitFields() (all []field) {
	for _, limit := range limits.All()[1:] {
		all = append(all, limitField(limit))
	}
	return all
}

// limitField is left out when the limit isn't given.
func limitField(limit limits.Limit) field {
	return scalarField(limit.Key, func(s *State) string {
		text := limit.Text(s.Given.Over(limits.Limits{}))
		switch {
		case !limit.IsIn(s.Given):
			return ""
		case limit.Unit == limits.Span:
			return quote(text)
		}
		return text
	}, func(s *State, text string) error { return limit.Set(&s.Given, text) })
}

// settingFields are those settings that a loop keeps, left out where they say what counts anyway.
func settingFields() (all []field) {
	for _, setting := range settings.All() {
		if setting.Kept.Means != "" {
			all = append(all, switchField(setting))
		} else if setting.Kept.Key != "" {
			all = append(all, scalarField(setting.Kept.Key, func(s *State) string {
				if !setting.IsOwn(s.Said) {
					return ""
				}
				return quote(setting.Text(s.Said))
			}, func(s *State, text string) error { return setting.Set(&s.Said, text) }))
		}
	}
	return all
}

// switchField is true for one value of a setting.
func switchField(setting settings.Setting) field {
	return scalarField(setting.Kept.Key, func(s *State) string {
		if setting.Text(s.Said) == setting.Kept.Means {
			return "true"
		}
		return ""
	}, func(s *State, text string) error {
		isOn, err := parseBool(text)
		if err == nil && isOn {
			err = setting.Set(&s.Said, setting.Kept.Means)
		}
		return err
	})
}

// orNull makes a field that is written as null instead of being left out.
func orNull(f field) field { return instead("", "null", f) }

// orDefault makes a limit's field that is written with its default instead of
// being left out. A loop without it has to be asked for with an explicit 0.
func orDefault(f field) field {
	limit, _ := limits.ByKey(f.key)
	return instead("", limit.Default, f)
}

// instead writes other for one value of a field.
func instead(value, other string, f field) field {
	format := f.format
	f.format = func(s *State) string {
		if text := format(s); text != value {
			return text
		}
		return other
	}
	return f
}

func boolField(key string, at func(*State) *bool) field {
	return newField(key, "true or false", at, strconv.FormatBool, parseBool)
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("is %q; write true or false", text)
}

func intField(key string, at func(*State) *int) field {
	return newField(key, string(limits.Count), at, strconv.Itoa, limits.ParseCount)
}

// timeLayouts are the ways to write a time; without a zone it is UTC.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

func timeField(key string, at func(*State) *time.Time) field {
	return newField(key, "time", at, formatTime, func(text string) (time.Time, error) {
		if text == "" {
			return time.Time{}, nil
		}
		for _, layout := range timeLayouts {
			if t, err := time.Parse(layout, text); err == nil {
				return t.UTC(), nil
			}
		}
		return time.Time{}, fmt.Errorf("is %q; write a time such as \"2026-01-02T17:35:07Z\"", text)
	})
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return quote(t.UTC().Format(time.RFC3339Nano))
}

func textField(key string, at func(*State) *string) field {
	format := func(text string) string {
		if text == "" {
			return ""
		}
		return quote(text)
	}
	return newField(key, "text", at, format, func(text string) (string, error) { return text, nil })
}

func listField(key string, at func(*State) *[]string) field {
	return field{
		key: key, kind: "list of texts",
		format: func(s *State) string {
			var b strings.Builder
			for _, text := range *at(s) {
				b.WriteString("\n  - " + quote(text))
			}
			return b.String()
		},
		parse: func(s *State, b block) error {
			texts, err := b.list()
			if err == nil {
				*at(s) = texts
			}
			return err
		},
	}
}

// quote writes a text as a double-quoted YAML scalar on one line. Every escape
// that strconv.Quote uses for valid UTF-8 means the same in YAML.
func quote(text string) string {
	return strconv.Quote(strings.ToValidUTF8(text, "\uFFFD"))
}
