package hats

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Hat is a role in a loop, with the topics that wake it and those that it may publish.
type Hat struct {
	Name             string
	Description      string
	Triggers         []string      // patterns: "build.done", "build.*", "*"
	Publishes        []string      // topics, or patterns of them
	DefaultPublishes string        // the topic of a run that ended well and published nothing
	Instructions     string        // the role's instructions
	MaxRuns          int           // 0: no limit
	Concurrency      int           // how many topics of one name are worked on side by side; up to 1: one after the other
	Aggregate        bool          // it is woken last, with all topics that are for it in one turn
	ReadOnly         bool          // changes of its runs are undone
	Timeout          time.Duration // of one run; 0: no limit
	MayFinish        *bool         // whether its promise ends the loop; nil: see Set.MayFinish
}

// The topics that nobody publishes but the loop itself.
const (
	Start     = "loop.start"
	startOld  = "task.start" // another tool's name of Start
	exhausted = ".exhausted" // behind the name of a hat that has had all its runs
)

// The sizes of what is kept and told.
const (
	MaxPayload   = 16 << 10 // bytes of one payload
	maxPublished = 20       // topics that one run may publish
	maxPending   = 10_000
	maxBytes     = 4 << 20 // of all that is pending; the state file is read again and again
	maxSeen      = 200     // kinds of topics and payloads that are remembered
	// maxRepeats is how often the same topic may come with the same payload.
	maxRepeats = 2
)

// Set is all hats of a loop, in the order of their file.
type Set []Hat

// Emits says whether hats are chosen by topics: some hat has a trigger.
func (r Set) Emits() bool {
	return slices.ContainsFunc(r, func(h Hat) bool { return len(h.Triggers) > 0 })
}

// Hat returns the hat of a name.
func (r Set) Hat(name string) (Hat, bool) {
	i := slices.IndexFunc(r, func(h Hat) bool { return h.Name == name })
	if i < 0 {
		return Hat{}, false
	}
	return r[i], true
}

// MayFinish says whether a promise of the hat ends the loop. Where no hat says that
// it may, each may that doesn't say that it may not.
func (r Set) MayFinish(h Hat) bool {
	if h.MayFinish != nil {
		return *h.MayFinish
	}
	return !slices.ContainsFunc(r, func(h Hat) bool { return h.MayFinish != nil && *h.MayFinish })
}

// NotYet says why the promise of a hat doesn't end the loop, after runs with topics, where topics are missing that
// have to be published first; "" when it does.
func (r Set) NotYet(h Hat, missing []string, runs []Ended) string {
	begin := h.Name + " says that all is done, but "
	switch {
	case !r.MayFinish(h):
		return begin + "that hat may not finish the loop"
	case len(missing) > 0:
		return begin + "nobody has published " + strings.Join(missing, ", ")
	}
	for _, run := range runs {
		for _, t := range run.Published {
			if other, ok := r.listener(t); ok && other.Name != h.Name && h.mayPublish(t.Name) {
				return begin + "it published " + t.Name + ", so it is the turn of " + other.Name
			}
		}
	}
	return ""
}

// wakes says whether a topic, or one of a pattern's, wakes the hat.
func (h Hat) wakes(topic string) bool { return matchesAny(h.Triggers, topic) }

// mayPublish says whether an agent under the hat may publish a topic.
func (h Hat) mayPublish(topic string) bool { return matchesAny(h.Publishes, topic) }

func matchesAny(patterns []string, topic string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, topic) })
}

// matches says whether a topic is one of a pattern's, or can be one of two patterns': a *
// stands for one part, and at the end for all parts that are left.
func matches(pattern, topic string) bool {
	if pattern == startOld {
		pattern = Start
	}
	x, y := strings.Split(pattern, "."), strings.Split(topic, ".")
	for i := range min(len(x), len(y)) {
		isLastStar := x[i] == "*" && i == len(x)-1 || y[i] == "*" && i == len(y)-1
		switch {
		case isLastStar:
			return true
		case x[i] != "*" && y[i] != "*" && x[i] != y[i]:
			return false
		}
	}
	return len(x) == len(y)
}

// listener returns the hat that a topic wakes: the one that it names, else the
// first in the order of the file.
func (r Set) listener(t Topic) (Hat, bool) {
	if h, ok := r.Hat(t.For); ok {
		return h, true
	}
	i := slices.IndexFunc(r, func(h Hat) bool { return h.wakes(t.Name) })
	if i < 0 {
		return Hat{}, false
	}
	return r[i], true
}

// IsSideBySide says whether topics of a name are worked on side by side, when several are pending.
func (r Set) IsSideBySide(topic string) bool {
	h, _ := r.listener(Topic{Name: topic})
	return h.Concurrency > 1
}

// CheckTopic completes "the topic ..." for a name that can't be one; "" for one that can.
func CheckTopic(name string) string {
	switch {
	case name == "":
		return "is empty; write a name such as build.done"
	case len(name) > 100:
		return "is longer than 100 bytes"
	case strings.ContainsFunc(name, func(r rune) bool { return !isTopicRune(r) }):
		return fmt.Sprintf("is %q; write letters, digits, dots, dashes and underscores", name)
	}
	return ""
}

func isTopicRune(r rune) bool {
	return r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// CheckPattern is CheckTopic for a pattern of topics.
func CheckPattern(pattern string) string {
	for _, part := range strings.Split(pattern, ".") {
		if part == "*" {
			continue
		}
		if why := CheckTopic(part); why != "" {
			return fmt.Sprintf("is %q; write a topic such as build.done, or build.* for all that begin so", pattern)
		}
	}
	return ""
}
