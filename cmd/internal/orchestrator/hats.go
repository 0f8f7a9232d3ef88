package orchestrator

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// hat is one of the file's, and of ours.
type hat struct {
	*field
	hats.Hat
	title string // for people
}

// at is where a key of the hat stands, or the hat itself where it has none of that name.
func (h *hat) at(key string) *field {
	at := h.field.at
	if i := slices.IndexFunc(h.list, func(f *field) bool { return f.key == key }); i >= 0 {
		at = h.list[i].at
	}
	return &field{path: h.path + "." + key, at: at}
}

// setHats gives the hats names, topics and a first one, as ours have them, and returns the
// prompt, which has what is for hats where there are none.
func (c *converter) setHats(prompt string) string {
	for _, f := range c.names(c.get(c.root, "hats")) {
		h := &hat{field: f, title: c.text(c.get(f, "name")), Hat: hats.Hat{Name: fit(f.key, false), Description: c.text(c.get(f, "description"))}}
		for n := 2; slices.ContainsFunc(c.hats, func(other *hat) bool { return other.Name == h.Name }); n++ {
			h.Name = fmt.Sprintf("%s-%d", fit(f.key, false), n)
		}
		if h.Name != f.key {
			c.note(f, "is called %s, a name of letters, digits, dashes and underscores", h.Name)
		}
		c.hats = append(c.hats, h)
		h.Triggers, h.Publishes = c.topics(h, "triggers"), c.topics(h, "publishes")
		if c.get(f, "default_publishes").text == c.promise {
			c.note(h.at("default_publishes"), "is left out: a run that says nothing promises nothing")
			h.MayFinish = new(true)
		} else {
			h.DefaultPublishes = strings.Join(c.topics(h, "default_publishes"), "")
		}
	}
	takesAll := func(h *hat) bool { return slices.Contains(h.Triggers, "*") } // the first that listens gets a topic, so these come last
	others := slices.DeleteFunc(slices.Clone(c.hats), takesAll)
	c.hats = append(others, slices.DeleteFunc(c.hats, func(h *hat) bool { return !takesAll(h) })...)
	required, start, events := c.said("event_loop.required_events"), c.start(), c.get(c.root, "events")
	var topics []string
	for _, topic := range c.texts(required) {
		if name := fit(topic, true); topic != c.promise && c.ring().MayPublish(name) {
			topics = append(topics, name)
		} else if topic != c.promise {
			c.note(required, "is without %s: no hat publishes it, so no promise would ever count", topic)
		}
	}
	c.set("completion", "required_topics", quoteAll(topics), required)
	if len(c.hats) == 0 {
		return c.withoutHats(prompt, start, events)
	}
	if events.at > 0 {
		c.note(events, "stand in the instructions of the hats that listen to them or publish them")
	}
	c.begin(start)
	for _, h := range c.hats {
		c.setHat(h)
	}
	return prompt
}

// fit makes a name of letters, digits, dashes and underscores, of a topic with its dots.
func fit(name string, isTopic bool) string {
	unfit := func(r rune) bool {
		return r == '.' && !isTopic || hats.CheckTopic(string(r)) != "" && !(isTopic && r == '*')
	}
	name = cmp.Or(strings.Join(strings.FieldsFunc(name, unfit), "-"), "hat")
	return name[:min(len(name), 60)]
}

// topics are those that a key of a hat has, as ours are written, without what means nothing here.
func (c *converter) topics(h *hat, key string) (kept []string) {
	f := h.at(key)
	for _, topic := range c.texts(c.get(h.field, key)) {
		switch name := fit(topic, true); {
		case topic == "":
		case topic == c.promise:
			h.MayFinish = new(true)
			c.note(f, "has the promise, which is no topic: may_finish = true says that %s may keep it", h.Name)
		case strings.HasPrefix(topic, "human.") || topic == "user.prompt":
			c.note(f, "is without %s: a running loop asks its user nothing", topic)
		case hats.CheckPattern(name) != "":
			c.note(f, "is without %q, which can't be a topic", topic)
		case slices.Contains(kept, name):
		default:
			if kept = append(kept, name); name != topic {
				c.note(f, "has %s instead of %q: topics have letters, digits, dots, dashes and underscores", name, topic)
			}
		}
	}
	return kept
}

// ring is the hats so far.
func (c *converter) ring() (r hats.Ring) {
	for _, h := range c.hats {
		r = append(r, h.Hat)
	}
	return r
}

// start is the topic that the file begins with, or the hat.
func (c *converter) start() *field {
	f, hat := *c.said("event_loop.starting_event"), c.said("event_loop.starting_hat")
	if c.text(&f) == "" {
		f = *hat
	}
	f.path = "event_loop.starting_event"
	return &f
}

// begin says with which hat a loop begins: the one that the file's first topic wakes, or has
// the name of, else one that no other hat wakes.
func (c *converter) begin(start *field) {
	if !c.ring().HandsOver() {
		c.notef(c.hats[0].field.at, "hats hand nothing over, because none has triggers; choose one at a start: ralph-lsp run --hat %s", c.hats[0].Name)
		return
	}
	isFirst := func(h *hat) bool {
		return slices.Contains(h.Triggers, hats.Start) || slices.Contains(h.Triggers, "task.start")
	}
	var first *hat
	topic := fit(c.text(start), true)
	if start.text != "" {
		woken := c.ring().Woken(topic)
		if i := slices.IndexFunc(c.hats, func(h *hat) bool { return h.Name == woken || woken == "" && h.key == start.text }); i >= 0 {
			first = c.hats[i]
		} else {
			c.note(start, "is left out: no hat listens to %s", topic)
		}
	}
	switch {
	case first != nil && isFirst(first) || first == nil && slices.ContainsFunc(c.hats, isFirst):
		return
	case first == nil: // the first hat that no other one wakes, or the first with triggers
		all := slices.DeleteFunc(slices.Clone(c.hats), func(h *hat) bool { return len(h.Triggers) == 0 })
		first = all[max(0, slices.IndexFunc(all, func(h *hat) bool { return !slices.ContainsFunc(h.Triggers, c.ring().MayPublish) }))]
		start.at = first.field.at
	case !c.ring().MayPublish(topic):
		first.Triggers = slices.DeleteFunc(first.Triggers, func(t string) bool { return t == topic })
	}
	first.Triggers = slices.Insert(first.Triggers, 0, hats.Start)
	c.note(start, "is %s: a loop begins with %s at once, without an iteration that coordinates", hats.Start, first.Name)
}

// theirs finds the commands that agents of ralph-orchestrator run.
var theirs = regexp.MustCompile(`\bralph (emit|wave|tools)\b|\bRALPH_BIN\b`)

// instructionsOf are a hat's, with what the file says elsewhere.
func (c *converter) instructionsOf(h *hat) string {
	own := c.get(h.field, "instructions")
	text := strings.Join(append([]string{c.text(own)}, c.texts(c.get(h.field, "extra_instructions"))...), "\n")
	if f := c.get(h.field, "disallowed_tools"); len(c.texts(f)) > 0 {
		text += "\n\nDon't use these tools: " + strings.Join(c.texts(f), ", ") + ".\n"
		c.note(f, "stands in the instructions; nothing looks whether they are followed")
	}
	if at := theirs.FindStringIndex(text); at != nil {
		f := h.at("instructions")
		if f.at = max(own.line, h.line) + strings.Count(text[:at[0]], "\n"); own.isBlock {
			f.at++
		}
		c.note(f, `speak of ralph-orchestrator's commands; here an agent publishes with <event topic="NAME">...</event> in its last message`)
	}
	var topics, rules []string
	tell := func(names []string, before, key string) {
		for _, topic := range names {
			for _, of := range [][2]string{{topic, "description"}, {before + topic, key}} {
				said := strings.TrimSpace(c.get(c.get(c.get(c.root, "events"), topic), of[1]).text)
				if line := of[0] + ": " + said; said != "" && !slices.Contains(topics, line) {
					topics = append(topics, line)
				}
			}
		}
	}
	tell(h.Triggers, "when called by ", "on_trigger")
	tell(h.Publishes, "to publish ", "on_publish")
	for _, rule := range c.texts(c.said("core.guardrails")) {
		rules = append(rules, strings.TrimSpace(rule))
	}
	return with(with(text, "The topics:", topics), "Always:", rules)
}

// with is a text with a list behind it, if that has items.
func with(text, heading string, list []string) string {
	if len(list) == 0 {
		return text
	}
	return strings.TrimLeft(strings.TrimRight(text, "\n")+"\n\n"+heading+"\n- "+strings.Join(list, "\n- ")+"\n", "\n")
}

// setHat puts a hat into the new file.
func (c *converter) setHat(h *hat) {
	if strings.EqualFold(h.title, h.Name) {
		h.title = ""
	}
	if h.Description == "" {
		h.Description, h.title = h.title, ""
	}
	runs, timeout := c.get(h.field, "max_activations"), ""
	if n, err := strconv.Atoi(runs.text); runs.at > 0 && (err != nil || n < 1) {
		c.note(runs, "is left out: it is no whole number above 0")
		runs = &field{}
	}
	if seconds, ok := c.number(c.get(h.field, "timeout"), true); ok {
		timeout = quote(span(seconds))
	}
	c.about["hats."+h.Name] = strings.Join(strings.Fields(stream.Plain(h.title)), " ")
	for _, row := range [][3]string{
		{"description", quote(strings.TrimSpace(h.Description)), "description"},
		{"backend", c.backendOf(h), "backend"},
		{"triggers", quoteAll(h.Triggers), "triggers"},
		{"publishes", quoteAll(h.Publishes), "publishes"},
		{"default_publishes", quote(h.DefaultPublishes), "default_publishes"},
		{"max_runs", runs.text, "max_activations"},
		{"timeout", timeout, "timeout"},
		{"may_finish", map[bool]string{true: "true"}[h.MayFinish != nil], "publishes"},
		{"instructions", quote(c.instructionsOf(h)), "instructions"},
	} {
		c.set("hats."+h.Name, row[0], row[1], h.at(row[2]))
	}
	if c.lines["hats."+h.Name] == "" {
		c.note(h.field, "is left out: it says nothing")
	}
}

// withoutHats says what becomes of the words that are for hats; rules stand in the prompt.
func (c *converter) withoutHats(prompt string, start, events *field) string {
	guards := c.said("core.guardrails")
	switch rules := c.texts(guards); {
	case len(rules) > 0 && prompt != "":
		prompt = with(prompt, "Always:", rules)
		c.note(guards, "stand at the end of the prompt")
	case len(rules) > 0:
		c.leaveOut(guards, "write them into the prompt")
	}
	for _, f := range []*field{start, events} {
		if f.at > 0 && f.text != "task.start" {
			c.leaveOut(f, "there are no hats")
		}
	}
	return prompt
}
