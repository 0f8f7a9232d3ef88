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

	"ralph-lsp/config"
	"ralph-lsp/stream"
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
	out     document
	notes   []Note
	steps   int // see follow

	promise    string
	promiseAt  int
	start      string // the topic or hat that a loop began with
	startAt    int
	backend    string // the loop's own, "" when it has no counterpart
	prompt     string
	promptAt   int
	guardrails []string
	guardsAt   int
	topics     map[string]topicWords
	topicsAt   int
	adapters   []field
	hats       []*hat
	cli        command
	required   []string
	requiredAt int
}

// command is a program of the user's.
type command struct {
	name, path                      string // the agent's, and where the file has it
	nameLine                        int
	program, promptMode, promptFlag string
	args                            []string
	line                            int // of the last of these
}

// Convert reads a file. builtin are the names of the known backends. Errors are
// of type *Error; what it returns else is a file without mistakes.
func Convert(data []byte, builtin []string) (Result, error) {
	c := &converter{builtin: builtin, backend: config.Auto}
	root, err := parse(data)
	if err != nil {
		return Result{}, err
	}
	fields, err := c.fields(root)
	if err != nil {
		return Result{}, err
	}
	if len(fields) == 0 {
		return Result{}, &Error{root.Line, "is empty; there is nothing to take over"}
	}
	isTable := func(f field) bool { return f.value.Kind == yaml.MappingNode }
	for _, tables := range []bool{true, false} { // the first version's keys win over the second's tables
		for _, f := range fields {
			if isTable(f) == tables {
				if err := c.take(f.key, f); err != nil {
					return Result{}, err
				}
			}
		}
	}
	if err := c.takeAgent(); err != nil {
		return Result{}, err
	}
	c.takePromise()
	if _, ok := c.out.get("", "prompt_file"); ok && c.prompt != "" {
		c.note(c.promptAt, "event_loop.prompt", "is left out: there is a prompt_file beside it")
		c.prompt = ""
	}
	c.connect()
	result := Result{Settings: c.render(), Prompt: c.prompt, PromptFile: "PROMPT.md"}
	if f, ok := c.out.get("", "prompt_file"); ok {
		result.PromptFile, _ = strconv.Unquote(f)
	}
	slices.SortStableFunc(c.notes, func(a, b Note) int { return a.Line - b.Line })
	result.Notes = c.notes
	if len(result.Settings) > config.MaxSize {
		return Result{}, &Error{0, fmt.Sprintf("has more instructions than fit into a ralph.toml of %d bytes; put the longest into files, and name them there as instructions_file", config.MaxSize)}
	}
	for _, p := range config.Check(result.Settings, builtin) {
		if p.Severity == config.Error {
			return Result{}, &Error{root.Line, "can't be taken over: " + p.Message}
		}
	}
	return result, nil
}

// note says what became of a key.
func (c *converter) note(line int, key, format string, args ...any) {
	c.notes = append(c.notes, Note{line, key + " " + fmt.Sprintf(format, args...)})
}

// rows are the keys that mean something here, by their path in the second version.
var rows = map[string]func(*converter, string, field) error{
	"event_loop.max_iterations":           limit("max_iterations", ""),
	"event_loop.max_runtime_seconds":      limit("max_duration", "s"),
	"event_loop.max_cost_usd":             limit("max_cost_usd", ""),
	"event_loop.max_consecutive_failures": limit("max_consecutive_failures", ""),
	"event_loop.idle_timeout_secs":        limit("idle_timeout", "s"),
	"event_loop.prompt_file":              (*converter).takePromptFile,
	"event_loop.prompt":                   text(func(c *converter, s string, at int) { c.prompt, c.promptAt = s, at }),
	"event_loop.completion_promise":       text(func(c *converter, s string, at int) { c.promise, c.promiseAt = s, at }),
	"event_loop.starting_event":           text(func(c *converter, s string, at int) { c.start, c.startAt = s, at }),
	"event_loop.starting_hat":             text(func(c *converter, s string, at int) { c.start, c.startAt = s, at }),
	"event_loop.required_events":          func(c *converter, p string, f field) error { return c.texts(p, f, &c.required, &c.requiredAt) },
	"cli.backend":                         (*converter).takeBackend,
	"cli.command":                         text(func(c *converter, s string, at int) { c.cli.program, c.cli.line = s, at }),
	"cli.prompt_mode":                     text(func(c *converter, s string, at int) { c.cli.promptMode, c.cli.line = s, at }),
	"cli.prompt_flag":                     text(func(c *converter, s string, at int) { c.cli.promptFlag, c.cli.line = s, at }),
	"cli.args":                            func(c *converter, p string, f field) error { return c.texts(p, f, &c.cli.args, &c.cli.line) },
	"core.guardrails":                     func(c *converter, p string, f field) error { return c.texts(p, f, &c.guardrails, &c.guardsAt) },
	"events":                              (*converter).takeEvents,
	"hats":                                (*converter).takeHats,
	"backpressure":                        (*converter).takeGates,
	"adapters":                            (*converter).keepAdapters,
}

// flat are the keys of the first version, with those of the second.
var flat = map[string]string{
	"agent": "cli.backend", "prompt_file": "event_loop.prompt_file", "prompt": "event_loop.prompt",
	"completion_promise": "event_loop.completion_promise", "max_iterations": "event_loop.max_iterations",
	"max_runtime": "event_loop.max_runtime_seconds", "max_cost": "event_loop.max_cost_usd",
	"idle_timeout": "event_loop.idle_timeout_secs",
}

// tables are those whose keys are looked at one by one.
var tables = []string{"event_loop", "cli", "core"}

// instead says what there is in place of a key without a counterpart.
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
	"tui":                               "",
	"features":                          "",
}

// take takes over a key, or says that it can't.
func (c *converter) take(path string, f field) error {
	if newer, ok := flat[path]; ok {
		return rows[newer](c, path, f)
	}
	if row, ok := rows[path]; ok {
		return row(c, path, f)
	}
	if slices.Contains(tables, path) {
		fields, err := c.fields(f.value)
		for _, below := range fields {
			if err == nil {
				err = c.take(path+"."+below.key, below)
			}
		}
		return err
	}
	if strings.HasPrefix(path, "_") || isOff(f.value) { // anchors, by their convention
		return nil
	}
	c.leaveOut(f.line, path, instead[path])
	return nil
}

// isOff says whether a value asks for nothing.
func isOff(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return n.ShortTag() == "!!null" || n.Value == "false"
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "enabled" && n.Content[i+1].Value == "false" {
				return true
			}
		}
	}
	return len(n.Content) == 0
}

func (c *converter) leaveOut(line int, key, why string) {
	if why != "" {
		why = ": " + why
	}
	c.note(line, key, "has no counterpart%s", why)
}

// set puts a value into the new file if it may stand there.
func (c *converter) set(table, key, value string, line int, from string) bool {
	header := ""
	if table != "" {
		header = "[" + table + "]\n"
	}
	if len(value) > config.MaxSize/2 { // that all of it is too long is said of the whole
		c.out.set(table, key, value)
		return true
	}
	known := append([]string{c.backend}, c.builtin...) // one of the file's own comes later
	for _, p := range config.Check([]byte(header+key+" = "+value+"\n"), known) {
		if p.Severity == config.Error {
			c.note(line, from, "is left out: %s", p.Message)
			return false
		}
	}
	c.out.set(table, key, value)
	return true
}

// limit takes over a number, with a unit where ours has one.
func limit(key, unit string) func(*converter, string, field) error {
	return func(c *converter, path string, f field) error {
		n, ok := c.number(path, f, key != "max_cost_usd")
		value := strconv.FormatFloat(n, 'f', -1, 64)
		if unit != "" {
			value = quote(spanOf(int64(n)))
		}
		if ok {
			c.set("limits", key, value, f.line, path)
		}
		return nil
	}
}

// number is a limit's, above 0; where it isn't ok, a note says why.
func (c *converter) number(path string, f field, isWhole bool) (n float64, ok bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(f.value.Value, "_", ""), 64)
	switch {
	case f.value.Kind != yaml.ScalarNode || err != nil || n != n || n < 0:
		c.note(f.line, path, "is left out: it isn't a number")
	case n == 0:
		c.note(f.line, path, "is left out: 0 would mean no limit here")
	case isWhole && (math.Trunc(n) != n || n > 1e9):
		c.note(f.line, path, "is left out: it is no whole number up to 1000000000")
	default:
		return n, true
	}
	return 0, false
}

// spanOf is a number of seconds as a person writes it.
func spanOf(seconds int64) string {
	text := (time.Duration(seconds) * time.Second).String()
	text = strings.TrimSuffix(text, "0s")
	if text == "" || text[len(text)-1] >= '0' && text[len(text)-1] <= '9' {
		text += "0s" // it was 10s, 20s
	}
	if hours, ok := strings.CutSuffix(text, "h0m"); ok {
		text = hours + "h"
	}
	return text
}

// text takes over a text.
func text(set func(c *converter, s string, line int)) func(*converter, string, field) error {
	return func(c *converter, path string, f field) error {
		if f.value.Kind != yaml.ScalarNode {
			c.note(f.line, path, "is left out: it isn't a text")
		} else if f.value.ShortTag() != "!!null" {
			set(c, f.value.Value, f.line)
		}
		return nil
	}
}

// texts takes over a list of texts; a text alone is a list of one. line is set to its line.
func (c *converter) texts(path string, f field, to *[]string, line *int) error {
	if f.value.ShortTag() == "!!null" {
		return nil
	}
	*to = nil
	items := []*yaml.Node{f.value}
	if f.value.Kind == yaml.SequenceNode {
		items = f.value.Content
	}
	for _, item := range items {
		item, err := c.follow(item)
		if err != nil {
			return err
		}
		if item.Kind != yaml.ScalarNode {
			c.note(item.Line, path, "is left out: it isn't a list of texts")
			*to = nil
			return nil
		}
		*to = append(*to, item.Value)
	}
	if line != nil {
		*line = f.line
	}
	return nil
}

func (c *converter) takePromptFile(path string, f field) error {
	return text(func(c *converter, s string, at int) { c.set("", "prompt_file", quote(s), at, path) })(c, path, f)
}

// takePromise takes over the promise, but the word that always counts.
func (c *converter) takePromise() {
	switch c.promise {
	case "", stream.DefaultWord:
	default:
		if c.set("completion", "promise", quote(c.promise), c.promiseAt, "completion_promise") {
			c.note(c.promiseAt, "completion_promise", "means: the agent's last message has <promise>%s</promise> on a line of its own", c.promise)
		}
	}
}
