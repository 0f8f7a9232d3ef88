// Package orchestrator says what a ralph.yml of ralph-orchestrator, of its first
// version or its second, means in the words of ralph.toml.
package orchestrator

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Note says what became of a line of the file.
type Note struct {
	Line int // 1-based
	Text string
}

// Result is a file in our words.
type Result struct {
	Settings   []byte // for ralph.toml
	Prompt     string // for PROMPT.md; "" when the file has none
	PromptFile string // that the file names, or "PROMPT.md"
	Notes      []Note // what has no counterpart, and what means something else; by line
}

// A converter takes over key by key what it knows. What nobody has asked for then has no counterpart.
type converter struct {
	document
	root    *field
	builtin []string // names of the known backends
	backend string   // the loop's own
	promise string   // what ends a loop there
	hats    []*hat
	notes   []Note
}

// Convert reads a file. builtin are the names of the known backends. Errors are
// of type *Error; what it returns else is a file without mistakes.
func Convert(data []byte, builtin []string) (Result, error) {
	root, err := parse(data)
	if err != nil {
		return Result{}, err
	}
	c := &converter{document: newDocument(), root: root, builtin: builtin, backend: config.Auto}
	file, prompt := c.said("event_loop.prompt_file"), c.said("event_loop.prompt")
	result := Result{PromptFile: "PROMPT.md", Prompt: c.text(prompt)}
	if c.set("", "prompt_file", quote(c.text(file)), file) {
		if result.PromptFile = file.text; result.Prompt != "" {
			result.Prompt = ""
			c.notef(prompt.at, "event_loop.prompt is left out: there is a prompt_file beside it")
		}
	}
	for _, l := range limits {
		c.setLimit(l.ours, c.said("event_loop."+l.theirs))
	}
	c.setAgent()
	c.setGates(c.get(c.root, "backpressure"))
	promise := c.said("event_loop.completion_promise")
	c.promise = cmp.Or(c.text(promise), promises.DefaultWord)
	if c.promise != promises.DefaultWord && c.set("completion", "promise", quote(c.promise), promise) {
		c.notef(promise.at, "completion_promise means: the agent's last message has <promise>%s</promise> on a line of its own", c.promise)
	}
	result.Prompt = c.setHats(result.Prompt)
	result.Settings = c.render()
	told := c.notes
	c.notes = nil
	c.tellUnused(c.root)
	result.Notes = append(c.notes, told...)
	slices.SortStableFunc(result.Notes, func(a, b Note) int { return a.Line - b.Line })
	if len(result.Settings) > config.MaxSize {
		return Result{}, &Error{0, fmt.Sprintf("has more instructions than fit into a ralph.toml of %d bytes; put the longest into files, and name them there as instructions_file", config.MaxSize)}
	}
	if why := mistake(result.Settings, builtin); why != "" {
		return Result{}, &Error{root.line, "can't be taken over: " + why}
	}
	return result, nil
}

// get is a key of a table.
func (c *converter) get(table *field, key string) *field {
	if table.line > 0 && table.kind != yaml.MappingNode && !table.isOff() {
		c.notef(table.line, "what stands here is left out: it isn't a table of keys")
	}
	for _, f := range table.list {
		if f.key == key {
			if f.isUsed = true; !f.isNull {
				return f
			}
		}
	}
	return &field{}
}

// said is a key by its path in the second version. The first version's key for the same wins.
func (c *converter) said(path string) *field {
	older := &field{}
	for name, newer := range flat {
		if newer == path {
			older = c.get(c.root, name)
		}
	}
	table, key, _ := strings.Cut(path, ".")
	if f := c.get(c.get(c.root, table), key); older.at == 0 {
		return f
	}
	return older
}

// names are the keys of a table that the file chooses.
func (c *converter) names(table *field) []*field {
	c.get(table, "")
	if table.kind != yaml.MappingNode {
		return nil
	}
	for _, f := range table.list {
		f.isUsed = true
	}
	return table.list
}

// text is a text; "" for what isn't one.
func (c *converter) text(f *field) string {
	if f.at > 0 && f.kind != yaml.ScalarNode {
		c.note(f, "is left out: it isn't a text")
		f.list = nil
	}
	return f.text
}

// texts is a list of texts; a text alone is a list of one.
func (c *converter) texts(f *field) (all []string) {
	items := f.list
	if f.kind == yaml.ScalarNode {
		items = []*field{f}
	}
	for _, item := range items {
		if f.kind == yaml.MappingNode || item.kind != yaml.ScalarNode {
			c.notef(item.line, "%s is left out: it isn't a list of texts", f.path)
			f.list = nil
			return nil
		}
		all = append(all, item.text)
	}
	return all
}

// tellUnused says what of a table means nothing here.
func (c *converter) tellUnused(table *field) {
	for _, f := range table.list {
		switch {
		case f.isUsed && f.kind == yaml.MappingNode:
			c.tellUnused(f)
		case !f.isUsed && !f.isOff() && f.at > 0 && !strings.HasPrefix(f.path, "_"): // anchors, by their convention
			c.leaveOut(f, cmp.Or(instead[f.path], instead["."+f.key]))
		}
	}
}

// note says what became of a key.
func (c *converter) note(f *field, format string, args ...any) {
	c.notef(f.at, "%s "+format, append([]any{f.path}, args...)...)
}

func (c *converter) notef(line int, format string, args ...any) {
	if n := (Note{line, fmt.Sprintf(format, args...)}); !slices.Contains(c.notes, n) {
		c.notes = append(c.notes, n)
	}
}

func (c *converter) leaveOut(f *field, why string) {
	if why != "" {
		why = ": " + why
	}
	c.note(f, "has no counterpart%s", why)
}

// set puts a value into the new file if it may stand there. "" is none.
func (c *converter) set(table, key, value string, from *field) bool {
	if value == "" {
		return false
	}
	line := key + " = " + value + "\n"
	if table != "" {
		line = "[" + table + "]\n" + line
	}
	known := append([]string{c.backend}, c.builtin...)                                    // one of the file's own comes later
	if why := mistake([]byte(line), known); why != "" && len(value) <= config.MaxSize/2 { // that all of it is too long is said of the whole
		c.note(from, "is left out: %s", why)
		return false
	}
	c.add(table, key, value)
	return true
}

// mistake is what keeps a ralph.toml from being read; "" is nothing.
func mistake(settings []byte, known []string) string {
	for _, p := range config.Check(settings, known) {
		if p.Severity == config.Error {
			return p.Message
		}
	}
	return ""
}

// setLimit takes over a number, with a unit where ours has one.
func (c *converter) setLimit(key string, f *field) {
	n, ok := c.number(f, key != "max_cost_usd")
	value := strconv.FormatFloat(n, 'f', -1, 64)
	if key == "max_duration" || key == "idle_timeout" {
		value = quote(span(n))
	}
	if ok {
		c.set("limits", key, value, f)
	}
}

func span(seconds float64) string { return tell.Duration(time.Duration(seconds) * time.Second) }

// number is a limit's, above 0; where it isn't ok, a note says why.
func (c *converter) number(f *field, isWhole bool) (n float64, ok bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(f.text, "_", ""), 64)
	switch {
	case f.at == 0:
	case err != nil || n != n || n < 0:
		c.note(f, "is left out: it isn't a number")
	case n == 0:
		c.note(f, "is left out: 0 would mean no limit here")
	case isWhole && (math.Trunc(n) != n || n > 1e9):
		c.note(f, "is left out: it is no whole number up to 1000000000")
	default:
		return n, true
	}
	return 0, false
}

// flat are the keys of the first version, with those of the second.
var flat = map[string]string{
	"agent": "cli.backend", "prompt_file": "event_loop.prompt_file", "prompt": "event_loop.prompt",
	"completion_promise": "event_loop.completion_promise", "max_iterations": "event_loop.max_iterations",
	"max_runtime": "event_loop.max_runtime_seconds", "max_cost": "event_loop.max_cost_usd",
	"idle_timeout": "event_loop.idle_timeout_secs",
}

// limits are the keys below event_loop that are one of ours.
var limits = []struct{ theirs, ours string }{
	{"max_iterations", "max_iterations"}, {"max_runtime_seconds", "max_duration"}, {"max_cost_usd", "max_cost_usd"},
	{"max_consecutive_failures", "max_consecutive_failures"}, {"idle_timeout_secs", "idle_timeout"},
}

// What there is in place of several keys.
const (
	ofSnapshots = "each iteration has a snapshot: ralph-lsp changes, ralph-lsp undo"
	ofTurns     = "its runs come one after the other"
)

// instead says what there is in place of a key without a counterpart; of a key below another one by its path, or behind a dot.
var instead = map[string]string{
	"agent_priority":                    "auto takes the first agent that is installed; name one as backend",
	".checkpoint_interval":              ofSnapshots,
	"git_checkpoint":                    ofSnapshots,
	"event_loop.cooldown_delay_seconds": "iterations follow each other at once, after failures with growing pauses",
	"event_loop.persistent":             "a loop ends with its promise",
	"event_loop.cancellation_promise":   "a loop is cancelled by its user",
	"event_loop.enforce_hat_scope":      "a hat never publishes what it may not",
	"retry_delay":                       "failures are followed by growing pauses",
	"core.scratchpad":                   "name the file for notes in the instructions or the prompt",
	"core.specs_dir":                    "name the folder in the instructions or the prompt",
	"cli.default_mode":                  "ralph-lsp plan opens the agent's own interface",
	"cli.idle_timeout_secs":             "it was about the interactive mode; idle_timeout below [limits] is for runs",
	"memories":                          "what the next run has to know stands in files",
	"tasks":                             "a plan is a file that agents write",
	"skills":                            "agents find their own",
	"hooks":                             "nothing of the user's runs around iterations",
	"RObot":                             "a loop is watched and steered from editors and terminals",
	".scratchpad":                       "name the file for notes in the instructions",
	".concurrency":                      ofTurns,
	".aggregate":                        ofTurns,
	".import":                           "write the keys of that file here",
	".tool_permissions":                 "what an agent may do is said by its arguments, args below [backends.NAME]",
}
