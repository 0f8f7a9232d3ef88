// Package orchestrator says what a ralph.yml of ralph-orchestrator, of its first
// version or its second, means in the words of ralph.toml.
package orchestrator

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/ralph-lsp/ralph-lsp/config"
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

// A converter collects what the file says.
type converter struct {
	builtin []string // names of the known backends
	backend string   // the loop's own
	out     document
	notes   []Note
	said    map[string]field    // texts, by their path in the second version
	lists   map[string][]string // the same
	hats    []*hat
}

// Convert reads a file. builtin are the names of the known backends. Errors are
// of type *Error; what it returns else is a file without mistakes.
func Convert(data []byte, builtin []string) (Result, error) {
	root, err := parse(data)
	if err != nil {
		return Result{}, err
	}
	c := &converter{builtin: builtin, backend: config.Auto, said: map[string]field{}, lists: map[string][]string{}}
	for _, tables := range []bool{true, false} { // the first version's keys win over the second's tables
		for _, f := range root.fields {
			if (f.kind == yaml.MappingNode) == tables {
				c.take(f)
			}
		}
	}
	c.takeAgent()
	if promise := c.said["event_loop.completion_promise"]; promise.text != "" && promise.text != promises.DefaultWord {
		promise.path = "completion_promise"
		if c.set("completion", "promise", quote(promise.text), promise) {
			c.note(promise, "means: the agent's last message has <promise>%s</promise> on a line of its own", promise.text)
		}
	}
	prompt := c.said["event_loop.prompt"]
	result := Result{PromptFile: "PROMPT.md", Prompt: prompt.text}
	if file, ok := c.out.get("", "prompt_file"); ok {
		result.PromptFile, _ = strconv.Unquote(file)
		if prompt.text != "" {
			prompt.path, result.Prompt = "event_loop.prompt", ""
			c.note(prompt, "is left out: there is a prompt_file beside it")
		}
	}
	result.Prompt = c.connect(result.Prompt)
	result.Settings = c.render()
	slices.SortStableFunc(c.notes, func(a, b Note) int { return a.Line - b.Line })
	result.Notes = c.notes
	if len(result.Settings) > config.MaxSize {
		return Result{}, &Error{0, fmt.Sprintf("has more instructions than fit into a ralph.toml of %d bytes; put the longest into files, and name them there as instructions_file", config.MaxSize)}
	}
	for _, p := range config.Check(result.Settings, builtin) {
		if p.Severity == config.Error {
			return Result{}, &Error{root.line, "can't be taken over: " + p.Message}
		}
	}
	return result, nil
}

// note says what became of a key.
func (c *converter) note(f field, format string, args ...any) {
	c.notes = append(c.notes, Note{f.at, f.path + " " + fmt.Sprintf(format, args...)})
}

// limits are the keys that are one of ours.
var limits = map[string]string{
	"event_loop.max_iterations": "max_iterations", "event_loop.max_runtime_seconds": "max_duration", "event_loop.max_cost_usd": "max_cost_usd",
	"event_loop.max_consecutive_failures": "max_consecutive_failures", "event_loop.idle_timeout_secs": "idle_timeout",
}

// texts and lists are keys that are kept until all is read.
var (
	texts = []string{
		"event_loop.prompt", "event_loop.completion_promise", "event_loop.starting_event", "event_loop.starting_hat",
		"cli.backend", "cli.command", "cli.prompt_mode", "cli.prompt_flag",
	}
	lists = []string{"event_loop.required_events", "cli.args", "core.guardrails"}
)

// flat are the keys of the first version, with those of the second.
var flat = map[string]string{
	"agent": "cli.backend", "prompt_file": "event_loop.prompt_file", "prompt": "event_loop.prompt",
	"completion_promise": "event_loop.completion_promise", "max_iterations": "event_loop.max_iterations",
	"max_runtime": "event_loop.max_runtime_seconds", "max_cost": "event_loop.max_cost_usd",
	"idle_timeout": "event_loop.idle_timeout_secs",
}

// instead says what there is in place of a key without a counterpart; of hats by the key alone.
var instead = map[string]string{
	"agent_priority":                    "auto takes the first agent that is installed; name one as backend",
	"checkpoint_interval":               "each iteration has a snapshot: ralph-lsp changes, ralph-lsp undo",
	"git_checkpoint":                    "each iteration has a snapshot: ralph-lsp changes, ralph-lsp undo",
	"event_loop.checkpoint_interval":    "each iteration has a snapshot: ralph-lsp changes, ralph-lsp undo",
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
	".concurrency":                      "its runs come one after the other",
	".aggregate":                        "its runs come one after the other",
	".import":                           "write the keys of that file here",
}

// take takes over a key, or says that it can't.
func (c *converter) take(f field) {
	path := f.path
	if newer, ok := flat[path]; ok {
		path = newer
	}
	switch {
	case limits[path] != "":
		c.setLimit(limits[path], f)
	case slices.Contains(texts, path):
		if path == "event_loop.starting_hat" {
			path = "event_loop.starting_event"
		}
		if f.text = c.textOf(f); f.kind == yaml.ScalarNode && !f.isNull {
			c.said[path] = f
		}
	case slices.Contains(lists, path):
		if c.lists[path] = c.textsOf(f); !f.isNull {
			c.said[path] = f
		}
	case path == "event_loop.prompt_file":
		if f.text = c.textOf(f); f.kind == yaml.ScalarNode && !f.isNull {
			c.set("", "prompt_file", quote(f.text), f)
		}
	case path == "event_loop", path == "cli", path == "core":
		for _, below := range c.fieldsOf(f.value) {
			c.take(below)
		}
	case path == "events", path == "adapters":
		c.said[path] = f
	case path == "hats":
		for _, f := range c.fieldsOf(f.value) {
			c.takeHat(f)
		}
	case path == "backpressure":
		c.takeGates(f)
	case !strings.HasPrefix(path, "_") && !f.isOff(): // anchors, by their convention
		c.leaveOut(f, instead[path])
	}
}

func (c *converter) leaveOut(f field, why string) {
	if why != "" {
		why = ": " + why
	}
	c.note(f, "has no counterpart%s", why)
}

// set puts a value into the new file if it may stand there. "" is none.
func (c *converter) set(table, key, value string, from field) bool {
	if value == "" {
		return false
	}
	header := ""
	if table != "" {
		header = "[" + table + "]\n"
	}
	known := append([]string{c.backend}, c.builtin...) // one of the file's own comes later
	if len(value) <= config.MaxSize/2 {                // that all of it is too long is said of the whole
		for _, p := range config.Check([]byte(header+key+" = "+value+"\n"), known) {
			if p.Severity == config.Error {
				c.note(from, "is left out: %s", p.Message)
				return false
			}
		}
	}
	c.out.set(table, key, value)
	return true
}

// setLimit takes over a number, with a unit where ours has one.
func (c *converter) setLimit(key string, f field) {
	n, ok := c.number(f, key != "max_cost_usd")
	value := strconv.FormatFloat(n, 'f', -1, 64)
	if key == "max_duration" || key == "idle_timeout" {
		value = quote(spanOf(n))
	}
	if ok {
		c.set("limits", key, value, f)
	}
}

// number is a limit's, above 0; where it isn't ok, a note says why.
func (c *converter) number(f field, isWhole bool) (n float64, ok bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(f.text, "_", ""), 64)
	switch {
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

// spanOf is a number of seconds as a person writes it.
func spanOf(seconds float64) string {
	text := (time.Duration(seconds) * time.Second).String()
	if minutes, ok := strings.CutSuffix(text, "m0s"); ok {
		text = minutes + "m"
	}
	if hours, ok := strings.CutSuffix(text, "h0m"); ok {
		text = hours + "h"
	}
	return text
}
