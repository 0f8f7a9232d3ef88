package orchestrator

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// A row takes over one key: theirs in the second version, and in the first where it is another,
// where ours stands, and what makes our value of theirs, "" for none.
type row struct {
	theirs, first, table, ours string
	turn                       func(*converter, *field) string
}

// rows are in the order of our file.
var rows = []row{
	{"event_loop.prompt_file", "prompt_file", "", "prompt_file", text},
	{"cli.backend", "agent", "", "backend", (*converter).agent},
	{"event_loop.max_iterations", "max_iterations", "limits", "max_iterations", number},
	{"event_loop.max_runtime_seconds", "max_runtime", "limits", "max_duration", seconds},
	{"event_loop.max_cost_usd", "max_cost", "limits", "max_cost_usd", number},
	{"event_loop.max_consecutive_failures", "", "limits", "max_consecutive_failures", number},
	{"event_loop.idle_timeout_secs", "idle_timeout", "limits", "idle_timeout", seconds},
	{"event_loop.completion_promise", "completion_promise", "completion", "promise", (*converter).promiseWord},
	{"event_loop.required_events", "", "completion", "required_topics", (*converter).required},
	{"backpressure.gates", "", "verify", "command", (*converter).gates},
	{"cli.command", "", ofAgent, "command", text},
	{"cli.prompt_mode", "", ofAgent, "prompt", (*converter).promptMode},
	{"cli.args", "", ofAgent, "args", texts},
}

// ofAgent stands for the table of the loop's own agent.
const ofAgent = "backends."

// hatRows are those of each hat. Its topics were looked at before.
var hatRows = []row{
	{theirs: "description", ours: "description", turn: (*converter).description},
	{theirs: "backend", ours: "backend", turn: (*converter).hatBackend},
	{theirs: "triggers", ours: "triggers", turn: func(c *converter, _ *field) string { return quoteAll(c.hat.Triggers) }},
	{theirs: "publishes", ours: "publishes", turn: func(c *converter, _ *field) string { return quoteAll(c.hat.Publishes) }},
	{theirs: "default_publishes", ours: "default_publishes", turn: func(c *converter, _ *field) string { return quote(c.hat.DefaultPublishes) }},
	{theirs: "max_activations", ours: "max_runs", turn: number},
	{theirs: "timeout", ours: "timeout", turn: seconds},
	{ours: "may_finish", turn: func(c *converter, _ *field) string { return map[bool]string{true: "true"}[c.hat.MayFinish != nil] }},
	{theirs: "instructions", ours: "instructions", turn: (*converter).instructions},
}

// instead says what there is in place of a key that isn't taken over; of one below another by its path, or behind a dot.
var instead = map[string]string{
	"agent_priority":                    "auto takes the first agent that is installed; name one as backend",
	".checkpoint_interval":              "each iteration has a snapshot: ralph-lsp changes, ralph-lsp undo",
	"git_checkpoint":                    "each iteration has a snapshot: ralph-lsp changes, ralph-lsp undo",
	"event_loop.cooldown_delay_seconds": "iterations follow each other at once, after failures with growing pauses",
	"event_loop.persistent":             "a loop ends with its promise",
	"event_loop.cancellation_promise":   "a loop is cancelled by its user",
	"event_loop.enforce_hat_scope":      "a hat never publishes what it may not",
	"event_loop.starting_event":         "there are no hats",
	"event_loop.prompt":                 "there is a prompt_file beside it",
	"events":                            "say it in the instructions of the hats that listen to them or publish them",
	"retry_delay":                       "failures are followed by growing pauses",
	"core.scratchpad":                   "name the file for notes in the instructions or the prompt",
	"core.specs_dir":                    "name the folder in the instructions or the prompt",
	"cli.prompt_mode":                   "it is for a program of yours",
	"core.guardrails":                   "write them into the prompt",
	"cli.command":                       "it is for an agent that the file doesn't name",
	"cli.args":                          "they are for an agent that the file doesn't name",
	"cli.prompt_flag":                   "put it last in args below [backends.NAME]",
	"cli.default_mode":                  "ralph-lsp plan opens the agent's own interface",
	"cli.idle_timeout_secs":             "it was about the interactive mode; idle_timeout below [limits] is for runs",
	"memories":                          "what the next run has to know stands in files",
	"tasks":                             "a plan is a file that agents write",
	"skills":                            "agents find their own",
	"hooks":                             "nothing of the user's runs around iterations",
	"RObot":                             "a loop is watched and steered from editors and terminals",
	".agent":                            "say it in args beside it",
	".timeout":                          "idle_timeout below [limits], how long a run may print nothing, is for all agents",
	".scratchpad":                       "name the file for notes in the instructions",
	".disallowed_tools":                 "say it in the instructions",
	".concurrency":                      "its runs come one after the other",
	".aggregate":                        "its runs come one after the other",
	".import":                           "write the keys of that file here",
	".tool_permissions":                 "what an agent may do is said by its arguments, args below [backends.NAME]",
}

func text(_ *converter, f *field) string  { return quote(f.text) }
func texts(_ *converter, f *field) string { return quoteAll(f.texts()) }

// number is one above 0, as a limit is. What else may not be config.Check knows.
func number(_ *converter, f *field) string {
	n, err := strconv.ParseFloat(strings.ReplaceAll(f.text, "_", ""), 64)
	switch {
	case err != nil || !(n >= 0 && n <= 1e9): // NaN is neither
		f.why = "it isn't a number up to 1000000000"
		return ""
	case n == 0:
		f.why = "0 would mean no limit here"
		return ""
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

func seconds(c *converter, f *field) string {
	if n, err := strconv.ParseFloat(number(c, f), 64); err == nil {
		return quote(tell.Duration(time.Duration(n) * time.Second))
	}
	return ""
}

// custom is what a program of the user's is called, there and here.
const custom = "custom"

// named is our name for an agent; "" for one that isn't known.
func (c *converter) named(f *field, name string) string {
	ours := cmp.Or(map[string]string{"kiro-acp": "kiro", "kiro-cli": "kiro", "q": "kiro", "qchat": "kiro"}[name], name)
	if ours != "" && !slices.Contains(append([]string{config.Auto, custom}, c.builtin...), ours) {
		f.why = name + " isn't known; describe it below [backends.NAME] with its command, and name it as backend"
		return ""
	}
	if ours != name {
		c.note(f, "is %s instead of %s", ours, name)
	}
	return ours
}

func (c *converter) agent(f *field) string {
	name := c.named(f, f.text)
	if name == custom && c.root.at("cli.command").text == "" {
		f.why = "there is no cli.command"
		return ""
	}
	if c.backend = cmp.Or(name, config.Auto); c.backend != custom && c.backend != config.Auto {
		c.note(f, "runs %s with what ralph-lsp lets it do without asking: ralph-lsp run --dry-run says what that is", name)
	}
	return quote(name)
}

// promptMode is how a program of the user's gets its prompt.
func (c *converter) promptMode(f *field) string {
	if c.backend != custom {
		return ""
	}
	return map[bool]string{true: `"stdin"`, false: `"arg"`}[f.text == "stdin"]
}

func (c *converter) promiseWord(f *field) string {
	if f.text == "" || f.text == promises.DefaultWord {
		return quote(f.text)
	}
	c.note(f, "means: the agent's last message has <promise>%s</promise> on a line of its own", c.promise)
	return quote(c.promise)
}

// required are the topics without which a promise doesn't count.
func (c *converter) required(f *field) string {
	var topics []string
	for _, topic := range f.texts() {
		if c.ring().MayPublish(topic) {
			topics = append(topics, topic)
		} else if topic != c.promise {
			c.note(f, "is without %s: no hat publishes it, so no promise would ever count", topic)
		}
	}
	return quoteAll(topics)
}

// gates makes one check of the commands that have to pass.
func (c *converter) gates(f *field) string {
	var commands []string
	for _, gate := range f.list {
		command := strings.TrimSpace(gate.key("command").text)
		if strings.ContainsAny(command, "#\n;|&") && len(f.list) > 1 {
			command = "(" + command + "\n)" // a comment at its end would take the rest
		}
		if command != "" {
			commands = append(commands, command)
		}
	}
	if len(commands) > 0 {
		c.note(f, "are the check of [verify] now: it runs when the agent promises, and a promise counts when it passes")
	}
	return quote(strings.Join(commands, " && "))
}

// description is what a hat is for, or its name for people if that says more than its own.
func (c *converter) description(f *field) string {
	if name := c.hat.key("name").text; f.text == "" && !strings.EqualFold(name, c.hat.Name) {
		return quote(name)
	}
	return quote(f.text)
}

// hatBackend is a hat's agent with its arguments; "" for the loop's own.
func (c *converter) hatBackend(f *field) string {
	own := c.named(f, cmp.Or(f.key("type").text, f.text))
	program, args := f.key("command").texts(), slices.Concat(f.key("args").texts(), c.hat.key("backend_args").texts(), c.hat.key("args").texts())
	list := strings.TrimSuffix(", args = "+quoteAll(args), ", args = ")
	switch {
	case len(program) > 0:
		c.note(f, "gets the prompt on standard input, not as an argument")
		return "{ command = " + quote(program[0]) + list + " }"
	case list == "":
		return quote(own)
	case cmp.Or(own, c.backend) == config.Auto:
		c.note(c.hat.field, "is without its arguments: they are for an agent that the file doesn't name")
		return ""
	}
	return "{ type = " + quote(cmp.Or(own, c.backend)) + list + " }"
}

// instructions are a hat's, with what all hats are told.
func (c *converter) instructions(f *field) string {
	own := strings.Join(append([]string{f.text}, c.hat.key("extra_instructions").texts()...), "\n")
	if strings.Contains(own, "ralph emit") || strings.Contains(own, "ralph tools") {
		c.note(f, `speak of ralph-orchestrator's commands; here an agent publishes with <event topic="NAME">...</event> in its last message`)
	}
	return quote(withRules(own, c.root.at("core.guardrails").texts()))
}

// withRules is a text with a list behind it, if that has items.
func withRules(own string, rules []string) string {
	if len(rules) == 0 {
		return own
	}
	return strings.TrimLeft(strings.TrimRight(own, "\n")+"\n\nAlways:\n- "+strings.Join(rules, "\n- ")+"\n", "\n")
}

func (c *converter) ring() (r hats.Ring) {
	for _, h := range c.hats {
		r = append(r, h.Hat)
	}
	return r
}
