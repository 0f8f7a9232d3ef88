package loopstate

import (
	"cmp"
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
	kind string // the kind of its value
	doc  string // for an editor's help, Markdown
	none string // what stands for no value; "" leaves the key out
	ours bool   // only a file that has all of a loop has it
	// format returns the value as YAML; "" is none.
	format func(*State) string
	// parse reads the block's value. An error completes "KEY ...".
	parse func(*State, block) error
}

// text is the value as it is written.
func (f field) text(s *State) string { return cmp.Or(f.format(s), f.none) }

// fields are the known keys, in the order in which a new file has them. Other
// tools know the first five, expect them at the top, and need them all.
var fields = slices.Concat([]field{
	newField("active", "true or false", "Whether the loop goes on. `false` pauses it when the running iteration is done.",
		func(s *State) *bool { return &s.Active }, strconv.FormatBool, parseBool),
	newField(iterationKey, string(limits.Count), "The iteration that runs, or ran last. The loop sets it when one begins, "+
		"and doesn't believe it.",
		func(s *State) *int { return &s.Iteration }, strconv.Itoa, limits.ParseCount),
	// a loop without it has to be asked for with an explicit 0
	always(strconv.Itoa(limits.Default().MaxIterations), settingField("max_iterations")),
	always("null", settingField("completion_promise")),
	always("null", newField("started_at", "time", "When the loop was started.",
		func(s *State) *time.Time { return &s.StartedAt }, formatTime, parseTime)),

	textField("loop_id", "The loop's name for commands and logs.", func(s *State) *string { return &s.LoopID }),
	textField("backend", "The agent that runs the loop.", func(s *State) *string { return &s.Backend }),
	textField("hat", "The role that the loop was started with.", func(s *State) *string { return &s.Hat }),
	textField("agents", "The agents of markdown files that do the work, as on a command line: `--chain scout,worker`. When "+
		"the loop is continued, their files are read again, and those of the folder need your trust.",
		func(s *State) *string { return &s.Agents }),
	textField("model", "The agent's model; without it, the agent chooses.", func(s *State) *string { return &s.Model }),
	{key: "backend_args", kind: "list of texts", doc: "Arguments that the agent gets after the backend's own.",
		format: formatArgs, parse: parseArgs},
	textField("backend_output", "What a program of your own prints: `text`, or the stream of a known agent.",
		func(s *State) *string { return &s.BackendOutput }),
	textField("backend_prompt", "How a program of your own gets the prompt: `stdin`, `arg` or `file`.",
		func(s *State) *string { return &s.BackendPrompt }),
	textField("sandbox_engine", "What makes the walls around the agents, as `sandbox.engine` of ralph.toml names it.",
		func(s *State) *string { return &s.SandboxEngine }),
}, settingFields(), []field{recordField()})

// iterationKey is the user's key that tells which iteration began last.
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
			keys = append(keys, Key{f.key, f.kind, f.doc, f.text(&absent)})
		}
	}
	return keys
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
func newField[T any](key, kind, doc string, at func(*State) *T, format func(T) string, parse func(string) (T, error)) field {
	f := scalarField(key, func(s *State) string { return format(*at(s)) }, func(s *State, text string) error {
		v, err := parse(text)
		if err == nil {
			*at(s) = v
		}
		return err
	})
	f.kind, f.doc = kind, doc
	return f
}

func textField(key, doc string, at func(*State) *string) field {
	return newField(key, "text", doc, at, func(text string) string {
		if text == "" {
			return ""
		}
		return quote(text)
	}, func(text string) (string, error) { return text, nil })
}

// always makes a field that is written also where it has no value.
func always(none string, f field) field {
	f.none = none
	return f
}

// settingFields are those settings that a loop keeps, but for those at the top.
func settingFields() (all []field) {
	for _, setting := range settings.All() {
		if key := setting.Stored.Key; key != "" && key != "max_iterations" && key != "completion_promise" {
			all = append(all, settingField(key))
		}
	}
	return all
}

// settingField is left out where nothing is said, or what counts anyway.
func settingField(key string) field {
	setting, _ := settings.ByStored(key)
	if setting.Stored.Means != "" {
		return switchField(setting)
	}
	return scalarField(key, func(s *State) string {
		text := setting.Text(s.Values)
		if text == "" || !setting.Bounds && !setting.IsOwn(s.Values) {
			return ""
		}
		return setting.Literal(valid(text))
	}, func(s *State, text string) error { return setting.Set(&s.Values, text) })
}

// switchField is true for one value of a setting.
func switchField(setting settings.Setting) field {
	return scalarField(setting.Stored.Key, func(s *State) string {
		if setting.Text(s.Values) == setting.Stored.Means {
			return "true"
		}
		return ""
	}, func(s *State, text string) error {
		isOn, err := parseBool(text)
		if err == nil && isOn {
			err = setting.Set(&s.Values, setting.Stored.Means)
		}
		return err
	})
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

// timeLayouts are the ways to write a time; without a zone it is UTC.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("is %q; write a time such as \"2026-01-02T17:35:07Z\"", text)
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return quote(t.UTC().Format(time.RFC3339Nano))
}

func formatArgs(s *State) string {
	var b strings.Builder
	for _, text := range s.BackendArgs {
		b.WriteString("\n  - " + quote(text))
	}
	return b.String()
}

func parseArgs(s *State, b block) error {
	texts, err := b.list()
	if err == nil {
		s.BackendArgs = texts
	}
	return err
}

// quote writes a text as a double-quoted YAML scalar on one line. Every escape
// that strconv.Quote uses for valid UTF-8 means the same in YAML.
func quote(text string) string {
	return strconv.Quote(valid(text))
}

// valid is a text in UTF-8. An escape of another byte would be a character of its own in YAML, and so a file of another name.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
