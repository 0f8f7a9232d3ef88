// Package orchestrator makes a ralph.toml of a ralph.yml, the file of ralph-orchestrator. Two tables map the keys.
// Unknown keys, and keys that may not stand in a ralph.toml, become comments there.
package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// MaxSize is the largest file that is read, in bytes.
const MaxSize = 256 << 10

// row is a key that is taken over: the first of theirs that can be. Theirs are paths with blanks between them.
type row struct {
	theirs, table, ours string
	turn                func(any) any // converts their value; nil: the same
}

var rows = []row{
	{"event_loop.prompt_file prompt_file", "", "prompt_file", nil},
	{"cli.backend agent", "", "backend", nil},
	{"event_loop.max_iterations max_iterations", "limits", "max_iterations", nil},
	{"event_loop.max_runtime_seconds max_runtime", "limits", "max_duration", seconds},
	{"event_loop.max_cost_usd max_cost resources.max_cost", "limits", "max_cost_usd", nil},
	{"event_loop.max_consecutive_failures", "limits", "max_consecutive_failures", nil},
	{"event_loop.idle_timeout_secs idle_timeout", "limits", "idle_timeout", seconds},
	{"event_loop.completion_promise completion_promise", "completion", "promise", nil},
	{"event_loop.required_events", "completion", "required_topics", nil},
}

var hatRows = []row{
	{"description name", "", "description", nil}, {"backend", "", "backend", nil},
	{"triggers", "", "triggers", nil}, {"publishes", "", "publishes", nil}, {"default_publishes", "", "default_publishes", nil},
	{"may_finish", "", "may_finish", nil}, {"max_activations", "", "max_runs", nil}, {"timeout", "", "timeout", seconds},
	{"concurrency", "", "concurrency", nil}, {"instructions", "", "instructions", nil},
}

func seconds(value any) any {
	n, err := time.ParseDuration(fmt.Sprint(value, "s"))
	if err != nil {
		return value
	}
	return format.Duration(n)
}

const heading = `# Settings of ralph-lsp for this folder, made of a ralph.yml. docs/CONFIG.md has all keys.
# They count once you trust this file: ralph-lsp trust
`

// keys is a table of the file, without what was taken over.
type keys map[string]any

type hat struct {
	keys
	name string
}

// topics returns the topics of a key, which may have one alone.
func (h hat) topics(key string) []any {
	if topic, ok := h.keys[key].(string); ok {
		return []any{topic}
	}
	list, _ := h.keys[key].([]any)
	return list
}

type converter struct {
	builtin []string // names of the known backends
	file    string   // the new one
	table   string   // that is written
	notes   []string // why something isn't taken over
}

// Convert makes settings for ralph.toml of a file, and its prompt where it has one. isWhole is false where something
// of it became a comment. builtin are the names of the known backends. The error completes "FILE ...".
func Convert(data []byte, builtin []string) (settings []byte, prompt string, isWhole bool, err error) {
	var file keys
	var order struct{ Hats yaml.Node }
	if err := cmp.Or(yaml.Load(data, &file), yaml.Load(data, &order)); err != nil {
		return nil, "", false, fmt.Errorf("can't be read as YAML: %w", err)
	}
	if len(file) == 0 {
		return nil, "", false, errors.New("has no keys such as event_loop and hats; is it the right file?")
	}
	c := &converter{builtin: builtin, file: heading, table: "none yet"}
	var all []hat
	for i := 0; i < len(order.Hats.Content); i += 2 {
		h := hat{file.below("hats").below(order.Hats.Content[i].Value), order.Hats.Content[i].Value}
		if why := c.mistake("[hats." + h.name + "]\ndescription = \"\""); why != "" {
			c.notes = append(c.notes, "hats."+h.name+": "+why)
		} else if len(h.keys) > 0 {
			all = append(all, h)
		}
	}
	c.begin(file, all)
	for _, r := range rows {
		c.take(file, r)
	}
	for _, h := range all {
		for _, r := range hatRows {
			r.table = "hats." + h.name
			c.take(h.keys, r)
		}
		if delete(h.keys, "name"); len(h.keys) == 0 {
			file.drop("hats." + h.name)
		}
	}
	for _, path := range []string{"prompt", "event_loop.prompt"} {
		if text := file.text(path); text != "" {
			prompt = text
			file.drop(path)
		}
	}
	if isWhole = len(file) == 0; !isWhole {
		rest, _ := yaml.Dump(file)
		left := append([]string{"Not taken over; docs/HATS.md says what there is instead."}, c.notes...)
		comment := strings.ReplaceAll("\n"+stream.Sanitize(strings.Join(append(left, string(rest)), "\n")), "\n", "\n# ")
		c.file += strings.ReplaceAll(strings.TrimSuffix(comment, "# "), "# \n", "#\n")
	}
	if why := c.mistake(c.file); why != "" {
		return nil, "", false, fmt.Errorf("can't be taken over: %s; put the longest instructions of its hats into files, and "+
			"name these as instructions_file", why)
	}
	return []byte(c.file), prompt, isWhole, nil
}

// take writes what a row takes over of a table. A number of 0 stays: here it would lift a limit.
func (c *converter) take(from keys, r row) {
	for path := range strings.FieldsSeq(r.theirs) {
		value := from.at(path)
		if value == nil || value == 0 {
			continue
		}
		if r.turn != nil {
			value = r.turn(value)
		}
		header, entry := strings.TrimPrefix("["+r.table+"]\n", "[]\n"), r.ours+" = "+write(value)+"\n"
		if why := c.mistake(header + entry); why != "" {
			c.notes = append(c.notes, why)
			continue
		}
		if r.table != c.table {
			c.file += "\n" + header
		}
		c.table = r.table
		c.file += entry
		from.drop(path)
		return
	}
}

// mistake is what keeps a ralph.toml from being read; "" is nothing.
func (c *converter) mistake(settings string) string {
	for _, p := range config.Check([]byte(settings), c.builtin) {
		if p.Severity == config.Error {
			return p.Message
		}
	}
	return ""
}

// begin says with which hat a loop begins, as no iteration coordinates before it here, and which may finish, as the
// promise is no topic.
func (c *converter) begin(file keys, all []hat) {
	promise := cmp.Or(file.text("event_loop.completion_promise"), file.text("completion_promise"), promises.DefaultWord)
	start := cmp.Or(file.text("event_loop.starting_event"), file.text("event_loop.starting_hat"), "task.start")
	var said []any
	for _, h := range all {
		publishes := h.topics("publishes")
		for _, key := range []string{"triggers", "publishes"} {
			if list := h.topics(key); list != nil {
				h.keys[key] = list
			}
		}
		if isLast := h.keys["default_publishes"] == promise; isLast || slices.Contains(publishes, any(promise)) {
			publishes = slices.DeleteFunc(publishes, func(topic any) bool { return topic == promise })
			if h.keys["may_finish"], h.keys["publishes"] = true, publishes; len(publishes) == 0 {
				delete(h.keys, "publishes")
			}
			if isLast {
				delete(h.keys, "default_publishes")
			}
		}
		said = append(append(said, publishes...), h.keys["default_publishes"])
	}
	isSaid := func(topic any) bool { return slices.Contains(said, topic) }
	if required, ok := file.at("event_loop.required_events").([]any); ok {
		file.below("event_loop")["required_events"] = slices.DeleteFunc(required, func(topic any) bool {
			isNever := !isSaid(topic)
			if isNever && topic != promise {
				c.notes = append(c.notes, fmt.Sprintf("event_loop.required_events: %v, which no hat publishes", topic))
			}
			return isNever
		})
	}
	first := slices.IndexFunc(all, func(h hat) bool { return h.name == start || slices.Contains(h.topics("triggers"), any(start)) })
	if first < 0 { // the first that nobody else wakes, or listens at all
		listens := func(h hat) bool { return len(h.topics("triggers")) > 0 }
		first = max(slices.IndexFunc(all, func(h hat) bool {
			return listens(h) &&
				!slices.ContainsFunc(h.topics("triggers"), isSaid)
		}), slices.IndexFunc(all, listens))
	}
	if first >= 0 {
		others := slices.DeleteFunc(all[first].topics("triggers"), func(topic any) bool { return topic == start && !isSaid(topic) })
		all[first].keys["triggers"] = append([]any{hats.Start}, others...)
		file.drop("event_loop.starting_event")
		file.drop("event_loop.starting_hat")
	}
}

func (k keys) below(name string) keys {
	below, _ := k[name].(keys)
	return below
}

// at is the value at a path; nil where there is none.
func (k keys) at(path string) any {
	if name, rest, isBelow := strings.Cut(path, "."); isBelow {
		return k.below(name).at(rest)
	}
	return k[path]
}

// text is the text at a path; "" is any other value.
func (k keys) text(path string) string {
	text, _ := k.at(path).(string)
	return text
}

// drop takes out the value at a path, and tables that are empty then.
func (k keys) drop(path string) {
	name, rest, isBelow := strings.Cut(path, ".")
	if isBelow {
		k.below(name).drop(rest)
	}
	if !isBelow || len(k.below(name)) == 0 {
		delete(k, name)
	}
}

// toTOML turns the escapes of Go's that TOML doesn't have into some that it has.
var toTOML = strings.NewReplacer(`\\`, `\\`, `\a`, `\u0007`, `\v`, `\u000B`, `\x`, `\u00`)

// write writes a value as TOML has it: a text as it stands where it has several lines that can all be seen.
func write(value any) string {
	isHidden := func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }
	var parts []string
	switch value := value.(type) {
	case string:
		if strings.Contains(value, "\n") && !strings.ContainsFunc(value, isHidden) && !strings.Contains(value+"'", "'''") {
			return "'''\n" + value + "'''"
		}
		return toTOML.Replace(strconv.Quote(value))
	case []any:
		for _, item := range value {
			parts = append(parts, write(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case keys:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			parts = append(parts, key+" = "+write(value[key]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return fmt.Sprint(value)
}
