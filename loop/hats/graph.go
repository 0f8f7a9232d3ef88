package hats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Mismatch is what is wrong with how hats wake each other.
type Mismatch struct {
	Hat     string // that it is about; "" for all of them
	Key     string // of the hat, "triggers", "publishes" or "aggregate"
	Message string // completes the name of hat and key, or stands for itself
	Fatal   bool   // such a loop can't work
}

func (p Mismatch) String() string {
	if p.Hat == "" {
		return p.Message
	}
	return "hats." + p.Hat + "." + p.Key + " " + p.Message
}

// Check returns what is wrong with hats that hand over, in their order.
func (r Set) Check() (problems []Mismatch) {
	if !r.Emits() {
		return nil
	}
	first, ok := r.listener(Topic{Name: Start})
	if !ok {
		return []Mismatch{{Message: "no hat is woken by " + Start + ", so no loop can begin; add it to the triggers of one", Fatal: true}}
	}
	reached := r.reached(first)
	for _, h := range r {
		if CheckTopic(h.Name) != "" { // it stands in topics, which the state file has as texts
			return []Mismatch{{Message: fmt.Sprintf("the name %q can't stand in a topic; name the hat with letters, digits, "+
				"dashes and underscores", h.Name), Fatal: true}}
		}
		if h.Concurrency > 1 && h.Aggregate {
			return []Mismatch{{Hat: h.Name, Key: "aggregate", Message: "and concurrency exclude each other: a hat takes its " +
				"topics together, or one each; leave out one of them", Fatal: true}}
		}
		switch {
		case len(h.Triggers) > 0 && !reached[h.Name]:
			problems = append(problems, Mismatch{Hat: h.Name, Key: "triggers",
				Message: "are published by no hat that works, so nothing wakes " + h.Name})
		case len(h.Triggers) == 0 && h.wakesOthers():
			problems = append(problems, Mismatch{Hat: h.Name, Key: "publishes",
				Message: "has no triggers beside it, so only a topic that is for " + h.Name + " wakes it"})
		}
		for _, topic := range h.publishes() {
			if !slices.ContainsFunc(r, func(other Hat) bool { return other.wakes(topic) }) {
				problems = append(problems, Mismatch{Hat: h.Name, Key: "publishes",
					Message: "has " + topic + ", to which no hat listens; " + first.Name + " gets it"})
			}
		}
	}
	if !slices.ContainsFunc(r, func(h Hat) bool { return reached[h.Name] && r.MayFinish(h) }) {
		problems = append(problems, Mismatch{Message: "no hat that is reached may finish, so no promise ends such a loop; set " +
			"may_finish = true for one"})
	}
	return problems
}

func (h Hat) wakesOthers() bool { return len(h.publishes()) > 0 }

// publishes is all that comes of a hat.
func (h Hat) publishes() []string {
	all := slices.Clone(h.Publishes)
	if h.DefaultPublishes != "" && !h.mayPublish(h.DefaultPublishes) {
		all = append(all, h.DefaultPublishes)
	}
	return all
}

// reached are the hats that can be woken in a loop that begins with first.
func (r Set) reached(first Hat) map[string]bool {
	reached := map[string]bool{}
	for next := []Hat{first}; len(next) > 0; next = next[1:] {
		h := next[0]
		if reached[h.Name] {
			continue
		}
		reached[h.Name] = true
		topics := h.publishes()
		if h.MaxRuns > 0 {
			topics = append(topics, h.Name+exhausted)
		}
		for _, topic := range topics {
			for _, other := range r {
				if other.wakes(topic) {
					next = append(next, other)
				}
			}
		}
	}
	return reached
}

// edge is a topic with the hats that it may wake.
type edge struct {
	from, topic string
	to          []string
}

// edges are all ways on which work goes, in the order of the hats.
func (r Set) edges() (edges []edge) {
	add := func(from, topic string) {
		e := edge{from: from, topic: topic}
		for _, h := range r {
			if h.wakes(topic) {
				e.to = append(e.to, h.Name)
				if !strings.Contains(topic, "*") {
					break // the first one gets it
				}
			}
		}
		edges = append(edges, e)
	}
	add("", Start)
	for _, h := range r {
		for _, topic := range h.publishes() {
			add(h.Name, topic)
		}
		if last := h.Name + exhausted; h.MaxRuns > 0 && slices.ContainsFunc(r, func(other Hat) bool { return other.wakes(last) }) {
			add(h.Name, last)
		}
	}
	return edges
}

// Together says how the hat takes several topics that are pending; "" for one after the other.
func (h Hat) Together() string {
	switch {
	case h.Aggregate:
		return "gets all at once, when nothing else is pending"
	case h.Concurrency > 1:
		return fmt.Sprintf("up to %d side by side", h.Concurrency)
	}
	return ""
}

// about are a hat's facts in a few words.
func (r Set) about(h Hat) string {
	var facts []string
	if h.Description != "" {
		facts = append(facts, h.Description)
	}
	if h.MaxRuns > 0 {
		facts = append(facts, "at most "+format.Counted(h.MaxRuns, "run"))
	}
	if how := h.Together(); how != "" {
		facts = append(facts, how)
	}
	if h.Timeout > 0 {
		facts = append(facts, "at most "+format.Duration(h.Timeout)+" each")
	}
	if h.ReadOnly {
		facts = append(facts, "reads only")
	}
	if r.MayFinish(h) {
		facts = append(facts, "may finish")
	}
	return strings.Join(facts, ", ")
}

// Text draws which hat wakes which, a line for each topic.
func (r Set) Text() string {
	var b strings.Builder
	at := ""
	for _, e := range r.edges() {
		if e.from != at && e.from != "" {
			h, _ := r.Hat(e.from)
			b.WriteString(strings.TrimSuffix(h.Name+"  "+r.about(h), "  ") + "\n")
		}
		at = e.from
		to := strings.Join(e.to, ", ")
		if to == "" {
			to = "(nobody)"
		}
		indent := "  "
		if e.from == "" {
			indent = ""
		}
		fmt.Fprintf(&b, "%s%s -> %s\n", indent, e.topic, to)
	}
	for _, h := range r {
		if !h.wakesOthers() {
			b.WriteString(strings.TrimSuffix(h.Name+"  "+r.about(h), "  ") + "\n")
		}
	}
	return b.String()
}
