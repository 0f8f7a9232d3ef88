package hats

import (
	"fmt"
	"maps"
	"slices"
)

// Texts is a queue as lists of texts.
type Texts struct {
	Topics    []string // as Topic.String writes them
	Runs      []string // "builder 4"
	Published []string // "build.done 2 1a2b3c4d"
}

// Texts writes down the queue.
func (q Queue) Texts() (t Texts) {
	for _, topic := range q.Pending {
		t.Topics = append(t.Topics, topic.String())
	}
	for _, name := range slices.Sorted(maps.Keys(q.Runs)) {
		t.Runs = append(t.Runs, fmt.Sprintf("%s %d", name, q.Runs[name]))
	}
	for _, s := range q.Seen {
		t.Published = append(t.Published, fmt.Sprintf("%s %d %08x", s.Topic, s.Times, s.Hash))
	}
	return t
}

// Queue reads what was written down. Topics that can't be read are left out, each
// with what is wrong; other texts that can't be read count for nothing.
func (t Texts) Queue() (q Queue, problems []error) {
	q.Runs = map[string]int{}
	for _, text := range t.Topics {
		topic, err := ParseTopic(text)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		q.Pending = append(q.Pending, topic)
	}
	for _, text := range t.Runs {
		var name string
		var n int
		if _, err := fmt.Sscanf(text, "%s %d", &name, &n); err == nil && n > 0 {
			q.Runs[name] = n
		}
	}
	q.Seen = t.Seen()
	return q, problems
}

// Seen reads what was published.
func (t Texts) Seen() (all []Seen) {
	for _, text := range t.Published {
		var s Seen
		if _, err := fmt.Sscanf(text, "%s %d %x", &s.Topic, &s.Times, &s.Hash); err == nil && s.Times > 0 {
			all = append(all, s)
		}
	}
	return all
}
