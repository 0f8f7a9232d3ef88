package orchestrator

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ralph-lsp/hats"
)

// theirs finds the commands that agents of ralph-orchestrator run.
var theirs = regexp.MustCompile(`\bralph (emit|wave|tools)\b|\bRALPH_BIN\b`)

func (h *hat) catchesAll() int {
	if slices.Contains(h.triggers, "*") {
		return 1
	}
	return 0
}

// ring is the hats so far.
func (c *converter) ring() (r hats.Ring) {
	for _, h := range c.hats {
		r = append(r, hats.Hat{Name: h.name, Triggers: h.triggers, Publishes: h.publishes, DefaultPublishes: h.defaultPublishes})
	}
	return r
}

// wakes returns the hat that a topic wakes, or nil.
func (c *converter) wakes(topic string) *hat {
	turn, warnings, ok := c.ring().Next(&hats.Queue{Pending: []hats.Topic{{Name: topic}}})
	if !ok || len(warnings) > 0 {
		return nil
	}
	return c.hats[slices.IndexFunc(c.hats, func(h *hat) bool { return h.name == turn.Hat.Name })]
}

// publishes says whether a hat may publish a topic.
func (c *converter) publishes(topic string) bool {
	asked := hats.Ring{{Name: "asked", Triggers: []string{topic}}}
	for _, h := range c.hats {
		for _, t := range append(slices.Clone(h.publishes), h.defaultPublishes) {
			if _, warnings, ok := asked.Next(&hats.Queue{Pending: []hats.Topic{{Name: t}}}); ok && len(warnings) == 0 && t != "" {
				return true
			}
		}
	}
	return false
}

// begin says with which hat a loop begins.
func (c *converter) begin() {
	if !c.ring().HandsOver() {
		c.note(c.hats[0].line, "hats", "hand nothing over, because none has triggers; choose one at a start: ralph-lsp run --hat %s", c.hats[0].name)
		return
	}
	startsItself := func(h *hat) bool {
		return slices.Contains(h.triggers, hats.Start) || slices.Contains(h.triggers, "task.start")
	}
	topic := fit(c.start, true)
	var first *hat
	if c.start != "" {
		if first = c.wakes(topic); first == nil {
			if i := slices.IndexFunc(c.hats, func(h *hat) bool { return h.id == c.start }); i >= 0 {
				first = c.hats[i]
			}
		}
		if first == nil {
			c.note(c.startAt, "event_loop.starting_event", "is left out: no hat listens to %s", topic)
		}
	}
	line := c.startAt
	switch {
	case first != nil && startsItself(first):
		return
	case first == nil && slices.ContainsFunc(c.hats, startsItself):
		return
	case first == nil:
		first, line = c.unwoken(), 0
	}
	if !c.publishes(topic) {
		first.triggers = slices.DeleteFunc(first.triggers, func(t string) bool { return t == topic })
	}
	first.triggers = slices.Insert(first.triggers, 0, hats.Start)
	if line == 0 {
		line = first.line
	}
	c.note(line, "event_loop.starting_event", "is %s: a loop begins with %s at once, without an iteration that coordinates", hats.Start, first.name)
}

// unwoken is the first hat that no other hat wakes, or the first with triggers.
func (c *converter) unwoken() *hat {
	var any *hat
	for _, h := range c.hats {
		if len(h.triggers) > 0 && !slices.ContainsFunc(h.triggers, c.publishes) {
			return h
		}
		if any == nil && len(h.triggers) > 0 {
			any = h
		}
	}
	return any
}

// instruct adds to a hat's instructions what the file says elsewhere.
func (c *converter) instruct(h *hat) {
	for at, line := range strings.Split(h.instructions, "\n") {
		if theirs.MatchString(line) {
			if h.instructionsInLines {
				at++
			}
			c.note(h.instructionsLine+at, "hats."+h.id+".instructions", `speak of ralph-orchestrator's commands; here an agent publishes with <event topic="NAME">...</event> in its last message`)
			break
		}
	}
	var more []string
	seen := map[string]bool{}
	tell := func(topic, what string) {
		if what = strings.TrimSpace(what); what != "" && !seen[topic+what] {
			seen[topic+what] = true
			more = append(more, "- "+topic+": "+what)
		}
	}
	for _, topic := range h.triggers {
		tell(topic, c.topics[topic].description)
		tell("when called by "+topic, c.topics[topic].onTrigger)
	}
	for _, topic := range h.publishes {
		tell(topic, c.topics[topic].description)
		tell("to publish "+topic, c.topics[topic].onPublish)
	}
	add := func(heading string, lines []string) {
		if len(lines) > 0 {
			h.instructions = strings.TrimLeft(strings.TrimRight(h.instructions, "\n")+"\n\n"+heading+"\n"+strings.Join(lines, "\n")+"\n", "\n")
		}
	}
	add("The topics:", more)
	var rules []string
	for _, g := range c.guardrails {
		rules = append(rules, "- "+strings.TrimSpace(g))
	}
	add("Always:", rules)
}

// write puts a hat into the new file.
func (c *converter) write(h *hat) {
	table, from := "hats."+h.name, "hats."+h.id
	before := len(c.out.entries)
	if strings.EqualFold(h.title, h.name) {
		h.title = ""
	}
	if h.description == "" {
		h.description, h.title = h.title, ""
	}
	if h.description = strings.TrimSpace(h.description); h.description != "" {
		c.set(table, "description", quote(h.description), h.line, from+".description")
	}
	if backend := c.backendOf(h); backend != "" {
		c.set(table, "backend", backend, h.backendLine, from+".backend")
	}
	if len(h.triggers) > 0 {
		c.set(table, "triggers", quoteAll(h.triggers), h.line, from+".triggers")
	}
	if len(h.publishes) > 0 {
		c.set(table, "publishes", quoteAll(h.publishes), h.line, from+".publishes")
	}
	if h.defaultPublishes != "" {
		c.set(table, "default_publishes", quoteWord(h.defaultPublishes), h.line, from+".default_publishes")
	}
	if h.maxRuns > 0 {
		c.set(table, "max_runs", strconv.Itoa(h.maxRuns), h.line, from+".max_activations")
	}
	if h.timeout != "" {
		c.set(table, "timeout", quote(h.timeout), h.line, from+".timeout")
	}
	if h.mayFinish {
		c.set(table, "may_finish", "true", h.line, from+".publishes")
	}
	if strings.TrimSpace(h.instructions) != "" {
		c.set(table, "instructions", quote(h.instructions), h.instructionsLine, from+".instructions")
	}
	if len(c.out.entries) == before {
		c.note(h.line, from, "is left out: it says nothing")
	}
}

// takeRequired takes over the topics that have to come before the promise.
func (c *converter) takeRequired() {
	const key = "event_loop.required_events"
	var kept []string
	for _, topic := range c.required {
		name := fit(topic, true)
		switch {
		case topic == c.promised():
		case !c.publishes(name):
			c.note(c.requiredAt, key, "is without %s: no hat publishes it, so no promise would ever count", topic)
		default:
			kept = append(kept, name)
		}
	}
	if len(kept) > 0 {
		c.set("completion", "required_topics", quoteAll(kept), c.requiredAt, key)
	}
}

// explainHatless says what becomes of the words that are for hats.
func (c *converter) explainHatless() {
	if len(c.guardrails) > 0 {
		if c.prompt != "" {
			c.prompt = strings.TrimRight(c.prompt, "\n") + "\n\nAlways:\n- " + strings.Join(c.guardrails, "\n- ") + "\n"
			c.note(c.guardsAt, "core.guardrails", "stand at the end of the prompt")
		} else {
			c.leaveOut(c.guardsAt, "core.guardrails", "write them into the prompt")
		}
	}
	if c.start != "" && c.start != "task.start" {
		c.leaveOut(c.startAt, "event_loop.starting_event", "there are no hats")
	}
	if c.topicsAt > 0 {
		c.leaveOut(c.topicsAt, "events", "there are no hats")
	}
}
