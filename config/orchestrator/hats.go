package orchestrator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"ralph-lsp/hats"
)

// hat is one of the file's.
type hat struct {
	id    string // in the file
	name  string // in ours
	title string // for people
	line  int

	description, instructions, backend string
	triggers, publishes, args          []string
	defaultPublishes                   string
	mayFinish                          bool
	maxRuns                            int
	timeout                            string
	command                            string // a program instead of a backend

	backendLine, publishesLine, defaultLine, instructionsLine int
	instructionsInLines                                       bool // they begin on the line after theirs
}

// topicWords are what the file says about a topic.
type topicWords struct{ description, onTrigger, onPublish string }

func (c *converter) takeEvents(path string, f field) error {
	topics, err := c.fields(f.value)
	if err != nil {
		return err
	}
	c.topics = map[string]topicWords{}
	for _, t := range topics {
		words, err := c.fields(t.value)
		if err != nil {
			return err
		}
		var w topicWords
		for _, f := range words {
			at := path + "." + t.key + "." + f.key
			switch f.key {
			case "description":
				w.description = f.value.Value
			case "on_trigger":
				w.onTrigger = f.value.Value
			case "on_publish":
				w.onPublish = f.value.Value
			default:
				c.leaveOut(f.line, at, "")
			}
		}
		c.topics[t.key] = w
	}
	c.topicsAt = f.line
	return nil
}

func (c *converter) takeHats(path string, f field) error {
	all, err := c.fields(f.value)
	if err != nil {
		return err
	}
	for _, f := range all {
		h := &hat{id: f.key, line: f.line}
		fields, err := c.fields(f.value)
		if err != nil {
			return err
		}
		for _, f := range fields {
			if err := c.takeHat(h, path+"."+h.id+"."+f.key, f); err != nil {
				return err
			}
		}
		c.hats = append(c.hats, h)
	}
	return nil
}

// hatInstead is instead for the keys of a hat.
var hatInstead = map[string]string{
	"scratchpad":  "name the file for notes in the instructions",
	"concurrency": "its runs come one after the other",
	"aggregate":   "its runs come one after the other",
	"import":      "write the keys of that file here",
}

// takeHat takes over a key of a hat.
func (c *converter) takeHat(h *hat, path string, f field) error {
	isText := f.value.Kind == yaml.ScalarNode
	isNull := isText && f.value.ShortTag() == "!!null"
	switch {
	case isNull:
		return nil
	case !isText && slices.Contains([]string{"name", "description", "instructions", "default_publishes", "max_activations"}, f.key):
		c.note(f.line, path, "is left out: it isn't a text")
		return nil
	}
	switch f.key {
	case "name":
		h.title = f.value.Value
	case "description":
		h.description = f.value.Value
	case "instructions":
		h.instructions, h.instructionsLine = f.value.Value, f.value.Line
		h.instructionsInLines = f.value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	case "extra_instructions":
		var more []string
		err := c.texts(path, f, &more, nil)
		h.instructions = strings.Join(append([]string{h.instructions}, more...), "\n")
		return err
	case "triggers":
		return c.texts(path, f, &h.triggers, nil)
	case "publishes":
		return c.texts(path, f, &h.publishes, &h.publishesLine)
	case "default_publishes":
		h.defaultPublishes, h.defaultLine = f.value.Value, f.line
	case "max_activations":
		if n, err := strconv.Atoi(f.value.Value); err != nil || n <= 0 {
			c.note(f.line, path, "is left out: it is no whole number above 0")
		} else {
			h.maxRuns = n
		}
	case "timeout":
		if seconds, ok := c.number(path, f, true); ok {
			h.timeout = spanOf(int64(seconds))
		}
	case "backend":
		return c.takeHatBackend(h, path, f)
	case "backend_args", "args":
		var args []string
		err := c.texts(path, f, &args, &h.backendLine)
		h.args = append(h.args, args...)
		return err
	case "disallowed_tools":
		var tools []string
		err := c.texts(path, f, &tools, nil)
		if len(tools) > 0 {
			h.instructions += "\n\nDon't use these tools: " + strings.Join(tools, ", ") + ".\n"
			c.note(f.line, path, "stands in the instructions; nothing looks whether they are followed")
		}
		return err
	default:
		c.leaveOut(f.line, path, hatInstead[f.key])
	}
	return nil
}

// connect gives the hats names, topics and a first one, as ours have them.
func (c *converter) connect() {
	c.nameHats()
	for _, h := range c.hats {
		c.cleanTopics(h)
	}
	c.takeRequired()
	if len(c.hats) == 0 {
		c.explainHatless()
		return
	}
	if c.topicsAt > 0 {
		c.note(c.topicsAt, "events", "stand in the instructions of the hats that listen to them or publish them")
	}
	slices.SortStableFunc(c.hats, func(a, b *hat) int { return a.catchesAll() - b.catchesAll() }) // the first that listens gets a topic
	c.begin()
	for _, h := range c.hats {
		c.instruct(h)
		c.write(h)
	}
}

// nameHats gives each hat a name that fits into topics.
func (c *converter) nameHats() {
	taken := map[string]bool{}
	for _, h := range c.hats {
		h.name = fit(h.id, false)
		for n := 2; taken[h.name]; n++ {
			h.name = fmt.Sprintf("%s-%d", fit(h.id, false), n)
		}
		taken[h.name] = true
		if h.name != h.id {
			c.note(h.line, "hats."+h.id, "is called %s, a name of letters, digits, dashes and underscores", h.name)
		}
	}
}

// fit makes a name of letters, digits, dashes and underscores, of a topic with its dots.
func fit(name string, isTopic bool) string {
	fits := func(r rune) bool {
		return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || isTopic && (r == '.' || r == '*')
	}
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return !fits(r) }), "-")
	if name == "" {
		return "hat"
	}
	return name[:min(len(name), 60)]
}

// cleanTopics leaves out the topics that mean nothing here, and writes the others as ours.
func (c *converter) cleanTopics(h *hat) {
	clean := func(topics []string, line int, what string) (kept []string) {
		for _, topic := range topics {
			name := fit(topic, true)
			switch {
			case topic == "":
				continue
			case topic == c.promised():
				h.mayFinish = true
				c.note(line, "hats."+h.id+"."+what, "has the promise, which is no topic: may_finish = true says that %s may keep it", h.name)
				continue
			case strings.HasPrefix(topic, "human.") || topic == "user.prompt":
				c.note(line, "hats."+h.id+"."+what, "is without %s: a running loop asks its user nothing", topic)
				continue
			case hats.CheckPattern(name) != "":
				c.note(line, "hats."+h.id+"."+what, "is without %q, which can't be a topic", topic)
				continue
			case name != topic:
				c.note(line, "hats."+h.id+"."+what, "has %s instead of %q: topics have letters, digits, dots, dashes and underscores", name, topic)
			}
			if !slices.Contains(kept, name) {
				kept = append(kept, name)
			}
		}
		return kept
	}
	h.triggers = clean(h.triggers, h.line, "triggers")
	h.publishes = clean(h.publishes, max(h.publishesLine, h.line), "publishes")
	switch {
	case h.defaultPublishes == c.promised():
		c.note(h.defaultLine, "hats."+h.id+".default_publishes", "is left out: a run that says nothing promises nothing")
		h.mayFinish, h.defaultPublishes = true, ""
	default:
		h.defaultPublishes = strings.Join(clean([]string{h.defaultPublishes}, h.defaultLine, "default_publishes"), "")
	}
}

// promised is the topic that ends a loop there.
func (c *converter) promised() string {
	if c.promise == "" {
		return "LOOP_COMPLETE"
	}
	return c.promise
}
