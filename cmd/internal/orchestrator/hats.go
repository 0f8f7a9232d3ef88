package orchestrator

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/hats"
)

// hat is one of the file's.
type hat struct {
	field
	keys  map[string]field
	name  string // in our file
	title string // for people

	description, instructions, timeout, maxRuns string
	backend, command                            string // a program instead of a backend
	defaultPublishes                            string
	triggers, publishes, args                   []string
	mayFinish                                   bool
}

// said is a key of the hat, or the hat itself where it has none of that name.
func (h *hat) said(key string) field {
	f, ok := h.keys[key]
	if !ok {
		f = h.field
	}
	f.path = h.path + "." + key
	return f
}

// takeHat takes over a hat.
func (c *converter) takeHat(f field) {
	h := &hat{field: f, keys: map[string]field{}}
	for _, f := range c.fieldsOf(f.value) {
		if !f.isNull {
			h.keys[f.key] = f
			c.takeKey(h, f)
		}
	}
	c.hats = append(c.hats, h)
}

// takeKey takes over a key of a hat.
func (c *converter) takeKey(h *hat, f field) {
	switch f.key {
	case "name":
		h.title = c.textOf(f)
	case "description":
		h.description = c.textOf(f)
	case "instructions":
		h.instructions = c.textOf(f)
	case "extra_instructions":
		h.instructions = strings.Join(append([]string{h.instructions}, c.textsOf(f)...), "\n")
	case "triggers":
		h.triggers = c.textsOf(f)
	case "publishes":
		h.publishes = c.textsOf(f)
	case "default_publishes":
		h.defaultPublishes = c.textOf(f)
	case "max_activations":
		if n, err := strconv.Atoi(f.text); err == nil && n > 0 {
			h.maxRuns = strconv.Itoa(n)
		} else {
			c.note(f, "is left out: it is no whole number above 0")
		}
	case "timeout":
		if seconds, ok := c.number(f, true); ok {
			h.timeout = quote(spanOf(seconds))
		}
	case "backend":
		c.takeHatBackend(h, f)
	case "backend_args", "args":
		h.args = append(h.args, c.textsOf(f)...)
	case "disallowed_tools":
		if tools := c.textsOf(f); len(tools) > 0 {
			h.instructions += "\n\nDon't use these tools: " + strings.Join(tools, ", ") + ".\n"
			c.note(f, "stands in the instructions; nothing looks whether they are followed")
		}
	default:
		c.leaveOut(f, instead["."+f.key])
	}
}

// connect gives the hats names, topics and a first one, as ours have them, and returns the
// prompt, which has what is for hats where there are none.
func (c *converter) connect(prompt string) string {
	c.nameHats()
	for _, h := range c.hats {
		c.cleanTopics(h)
	}
	c.takeRequired()
	events, topics := c.said["events"], c.topics()
	if len(c.hats) == 0 {
		return c.withoutHats(prompt)
	}
	if events.at > 0 {
		c.note(events, "stand in the instructions of the hats that listen to them or publish them")
	}
	last := func(h *hat) bool { return slices.Contains(h.triggers, "*") } // the first that listens gets a topic
	c.hats = append(slices.DeleteFunc(slices.Clone(c.hats), last), slices.DeleteFunc(c.hats, func(h *hat) bool { return !last(h) })...)
	c.begin()
	for _, h := range c.hats {
		c.instruct(h, topics)
		c.write(h)
	}
	return prompt
}

// nameHats gives each hat a name that fits into topics.
func (c *converter) nameHats() {
	taken := map[string]bool{}
	for _, h := range c.hats {
		h.name = fit(h.key, false)
		for n := 2; taken[h.name]; n++ {
			h.name = fmt.Sprintf("%s-%d", fit(h.key, false), n)
		}
		taken[h.name] = true
		if h.name != h.key {
			c.note(h.field, "is called %s, a name of letters, digits, dashes and underscores", h.name)
		}
	}
}

// fit makes a name of letters, digits, dashes and underscores, of a topic with its dots.
func fit(name string, isTopic bool) string {
	unfit := func(r rune) bool {
		return !(r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || isTopic && (r == '.' || r == '*'))
	}
	name = cmp.Or(strings.Join(strings.FieldsFunc(name, unfit), "-"), "hat")
	return name[:min(len(name), 60)]
}

// cleanTopics leaves out the topics that mean nothing here, and writes the others as ours.
func (c *converter) cleanTopics(h *hat) {
	clean := func(topics []string, f field) (kept []string) {
		for _, topic := range topics {
			name := fit(topic, true)
			switch {
			case topic == "":
				continue
			case topic == c.promised():
				h.mayFinish = true
				c.note(f, "has the promise, which is no topic: may_finish = true says that %s may keep it", h.name)
				continue
			case strings.HasPrefix(topic, "human.") || topic == "user.prompt":
				c.note(f, "is without %s: a running loop asks its user nothing", topic)
				continue
			case hats.CheckPattern(name) != "":
				c.note(f, "is without %q, which can't be a topic", topic)
				continue
			case name != topic:
				c.note(f, "has %s instead of %q: topics have letters, digits, dots, dashes and underscores", name, topic)
			}
			if !slices.Contains(kept, name) {
				kept = append(kept, name)
			}
		}
		return kept
	}
	h.triggers = clean(h.triggers, h.said("triggers"))
	h.publishes = clean(h.publishes, h.said("publishes"))
	def := h.said("default_publishes")
	if h.defaultPublishes == c.promised() {
		c.note(def, "is left out: a run that says nothing promises nothing")
		h.mayFinish, h.defaultPublishes = true, ""
	}
	h.defaultPublishes = strings.Join(clean([]string{h.defaultPublishes}, def), "")
}

// promised is the topic that ends a loop there.
func (c *converter) promised() string {
	return cmp.Or(c.said["event_loop.completion_promise"].text, "LOOP_COMPLETE")
}

// ring is the hats so far.
func (c *converter) ring() (r hats.Ring) {
	for _, h := range c.hats {
		r = append(r, hats.Hat{Name: h.name, Triggers: h.triggers, Publishes: h.publishes, DefaultPublishes: h.defaultPublishes})
	}
	return r
}

// woken is the name of the hat that a topic wakes in a ring; "" is none.
func woken(r hats.Ring, topic string) string {
	turn, warnings, ok := r.Next(&hats.Queue{Pending: []hats.Topic{{Name: topic}}})
	if !ok || len(warnings) > 0 {
		return ""
	}
	return turn.Hat.Name
}

// publishes says whether a hat may publish a topic.
func (c *converter) publishes(topic string) bool {
	asked := hats.Ring{{Name: "asked", Triggers: []string{topic}}}
	return slices.ContainsFunc(c.hats, func(h *hat) bool {
		return slices.ContainsFunc(append(slices.Clone(h.publishes), h.defaultPublishes), func(t string) bool { return t != "" && woken(asked, t) != "" })
	})
}

// begin says with which hat a loop begins: the one that the file's first topic wakes, or has
// the name of, else one that no other hat wakes.
func (c *converter) begin() {
	if !c.ring().HandsOver() {
		c.note(field{path: "hats", at: c.hats[0].at}, "hand nothing over, because none has triggers; choose one at a start: ralph-lsp run --hat %s", c.hats[0].name)
		return
	}
	isFirst := func(h *hat) bool {
		return slices.Contains(h.triggers, hats.Start) || slices.Contains(h.triggers, "task.start")
	}
	start := c.said["event_loop.starting_event"]
	start.path = "event_loop.starting_event"
	topic := fit(start.text, true)
	var first *hat
	if start.text != "" {
		name := woken(c.ring(), topic)
		i := slices.IndexFunc(c.hats, func(h *hat) bool { return h.name == name || name == "" && h.key == start.text })
		if i >= 0 {
			first = c.hats[i]
		} else {
			c.note(start, "is left out: no hat listens to %s", topic)
		}
	}
	switch {
	case first != nil && isFirst(first) || first == nil && slices.ContainsFunc(c.hats, isFirst):
		return
	case first == nil:
		first = c.unwoken()
		start.at = first.at
	case !c.publishes(topic):
		first.triggers = slices.DeleteFunc(first.triggers, func(t string) bool { return t == topic })
	}
	first.triggers = slices.Insert(first.triggers, 0, hats.Start)
	c.note(start, "is %s: a loop begins with %s at once, without an iteration that coordinates", hats.Start, first.name)
}

// unwoken is the first hat that no other hat wakes, or the first with triggers.
func (c *converter) unwoken() *hat {
	all := slices.DeleteFunc(slices.Clone(c.hats), func(h *hat) bool { return len(h.triggers) == 0 })
	return all[max(0, slices.IndexFunc(all, func(h *hat) bool { return !slices.ContainsFunc(h.triggers, c.publishes) }))]
}

// topics are what the file says about topics, by their names and keys.
func (c *converter) topics() map[string]string {
	words := map[string]string{}
	for _, topic := range c.fieldsOf(c.said["events"].value) {
		for _, f := range c.fieldsOf(topic.value) {
			if !slices.Contains([]string{"description", "on_trigger", "on_publish"}, f.key) {
				c.leaveOut(f, "")
			}
			words[topic.key+" "+f.key] = strings.TrimSpace(f.text)
		}
	}
	return words
}

// theirs finds the commands that agents of ralph-orchestrator run.
var theirs = regexp.MustCompile(`\bralph (emit|wave|tools)\b|\bRALPH_BIN\b`)

// instruct adds to a hat's instructions what the file says elsewhere.
func (c *converter) instruct(h *hat, topics map[string]string) {
	for i, line := range strings.Split(h.instructions, "\n") {
		if theirs.MatchString(line) {
			f := h.said("instructions")
			if f.at = f.line + i; f.isIn {
				f.at++
			}
			c.note(f, `speak of ralph-orchestrator's commands; here an agent publishes with <event topic="NAME">...</event> in its last message`)
			break
		}
	}
	add := func(heading string, lines []string) {
		if len(lines) > 0 {
			h.instructions = strings.TrimLeft(strings.TrimRight(h.instructions, "\n")+"\n\n"+heading+"\n- "+strings.Join(lines, "\n- ")+"\n", "\n")
		}
	}
	var more []string
	tell := func(names []string, before, key string) {
		for _, topic := range names {
			for _, of := range [][2]string{{"", "description"}, {before, key}} {
				line := of[0] + topic + ": " + topics[topic+" "+of[1]]
				if topics[topic+" "+of[1]] != "" && !slices.Contains(more, line) {
					more = append(more, line)
				}
			}
		}
	}
	tell(h.triggers, "when called by ", "on_trigger")
	tell(h.publishes, "to publish ", "on_publish")
	add("The topics:", more)
	var rules []string
	for _, g := range c.lists["core.guardrails"] {
		rules = append(rules, strings.TrimSpace(g))
	}
	add("Always:", rules)
}

// write puts a hat into the new file.
func (c *converter) write(h *hat) {
	if strings.EqualFold(h.title, h.name) {
		h.title = ""
	}
	if h.description == "" {
		h.description, h.title = h.title, ""
	}
	before := len(c.out.entries)
	for _, row := range [][3]string{
		{"description", quote(strings.TrimSpace(h.description)), "description"},
		{"backend", c.backendOf(h), "backend"},
		{"triggers", quoteAll(h.triggers), "triggers"},
		{"publishes", quoteAll(h.publishes), "publishes"},
		{"default_publishes", quote(h.defaultPublishes), "default_publishes"},
		{"max_runs", h.maxRuns, "max_activations"},
		{"timeout", h.timeout, "timeout"},
		{"may_finish", map[bool]string{true: "true"}[h.mayFinish], "publishes"},
		{"instructions", quote(h.instructions), "instructions"},
	} {
		c.set("hats."+h.name, row[0], row[1], h.said(row[2]))
	}
	if len(c.out.entries) == before {
		c.note(h.field, "is left out: it says nothing")
	}
}

// takeRequired takes over the topics that have to come before the promise.
func (c *converter) takeRequired() {
	f := c.said["event_loop.required_events"]
	f.path = "event_loop.required_events"
	var kept []string
	for _, topic := range c.lists[f.path] {
		name := fit(topic, true)
		if topic != c.promised() && c.publishes(name) {
			kept = append(kept, name)
		} else if topic != c.promised() {
			c.note(f, "is without %s: no hat publishes it, so no promise would ever count", topic)
		}
	}
	c.set("completion", "required_topics", quoteAll(kept), f)
}

// withoutHats says what becomes of the words that are for hats; rules stand in the prompt.
func (c *converter) withoutHats(prompt string) string {
	guards, start, events := c.said["core.guardrails"], c.said["event_loop.starting_event"], c.said["events"]
	if rules := c.lists["core.guardrails"]; len(rules) > 0 && prompt != "" {
		prompt = strings.TrimRight(prompt, "\n") + "\n\nAlways:\n- " + strings.Join(rules, "\n- ") + "\n"
		c.note(guards, "stand at the end of the prompt")
	} else if len(rules) > 0 {
		c.leaveOut(guards, "write them into the prompt")
	}
	if start.text != "" && start.text != "task.start" {
		c.leaveOut(start, "there are no hats")
	}
	if events.at > 0 {
		c.leaveOut(events, "there are no hats")
	}
	return prompt
}
