package hats

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Queue is how far a loop with hats has come. The loop's record has it.
type Queue struct {
	Pending []Topic        // not worked on yet, the oldest first
	Runs    map[string]int // of each hat so far
	Seen    []Seen         // published topics
}

// Seen counts how often a topic came with the same payload.
type Seen struct {
	Topic string
	Hash  uint32 // of the payload
	Times int
}

// Turn is whose turn it is, and why.
type Turn struct {
	Hat    Hat
	Topics []Topic // none where hats don't hand over
}

// IsWave says whether several runs work side by side, a topic each.
func (t Turn) IsWave() bool { return len(t.Topics) > 1 && !t.Hat.Aggregate }

// Head is the topics without their payloads: "plan.ready from planner and 2 more".
func (t Turn) Head() string {
	if len(t.Topics) == 0 {
		return ""
	}
	head := t.Topics[0].Head()
	if more := len(t.Topics) - 1; more > 0 {
		head += fmt.Sprintf(" and %d more", more)
	}
	return head
}

// Ended is a run that ended well: the topics that it was for, and those that its agent published.
type Ended struct{ For, Published []Topic }

// Checked is a queue that somebody else may have written, for one who changes it: without the topics that
// can't be any, each with why.
func (q Queue) Checked() (checked Queue, problems []string) {
	checked = Queue{Runs: maps.Clone(q.Runs), Seen: slices.Clone(q.Seen)}
	for _, t := range q.Pending {
		if why := CheckTopic(t.Name); why != "" {
			problems = append(problems, "the topic "+why)
			continue
		}
		t.Payload = bounded(t.Payload)
		checked.Pending = append(checked.Pending, t)
	}
	return checked, problems
}

// NewQueue returns the queue of a loop that begins.
func NewQueue() Queue { return Queue{Pending: []Topic{{Name: Start}}} }

// Next returns the hat whose turn it is. The topics that woke it stay pending until Done: a killed hat goes on with
// them. warnings are about topics that no hat takes. ok is false when no hat is left that may run.
func (r Set) Next(q *Queue) (turn Turn, warnings []string, ok bool) {
	if len(q.Pending) == 0 {
		q.Pending = []Topic{{Name: Start}}
	}
	left := len(q.Pending) * len(r) // hats that have had their runs may stand in for each other
	for len(q.Pending) > 0 {
		i := max(slices.IndexFunc(q.Pending, func(t Topic) bool { return !r.isGathered(t) }), 0)
		t := q.Pending[i]
		h, found := r.listener(t)
		if !found {
			if h, found = r.listener(Topic{Name: Start}); found && t.Name != Start {
				warnings = append(warnings, fmt.Sprintf("no hat listens to %s, so %s gets it", t.Name, h.Name))
			}
		}
		if !found {
			return turn, append(warnings, fmt.Sprintf("no hat listens to %s", t.Name)), false
		}
		runs := q.Runs[h.Name]
		if h.MaxRuns == 0 || runs < h.MaxRuns {
			return Turn{h, append([]Topic{t}, r.besides(t, h, runs, q.Pending[i+1:])...)}, warnings, true
		}
		q.Pending = slices.Delete(q.Pending, i, i+1)
		instead := Topic{Name: h.Name + exhausted, From: h.Name, Payload: t.Payload}
		warnings = append(warnings, fmt.Sprintf("%s has had its %s, so %s doesn't wake it", h.Name, format.Counted(h.MaxRuns, "run"), t.Name))
		if other, ok := r.listener(instead); ok && other.Name != h.Name && left > 0 {
			left--
			q.Pending = append(q.Pending, instead)
		}
	}
	return turn, warnings, false
}

// isGathered says whether a topic waits until nothing else is pending.
func (r Set) isGathered(t Topic) bool {
	h, _ := r.listener(t)
	return h.Aggregate
}

// besides returns the later topics that a hat, which has had some runs, takes in one turn with a topic.
func (r Set) besides(first Topic, h Hat, runs int, later []Topic) (topics []Topic) {
	most := h.Concurrency - 1
	if h.Aggregate {
		most = len(later)
	} else if h.MaxRuns > 0 {
		most = min(most, h.MaxRuns-runs-1)
	}
	for _, t := range later {
		woken, _ := r.listener(t)
		if len(topics) < most && woken.Name == h.Name && (h.Aggregate || t.Name == first.Name) {
			topics = append(topics, t)
		}
	}
	return topics
}

// Done takes note of a turn of a hat, by its runs that ended well. It returns what of their topics is
// handed over, and why the rest isn't. The topics of other runs stay pending.
func (r Set) Done(q *Queue, h Hat, runs ...Ended) (handed []Topic, warnings []string) {
	if q.Runs == nil {
		q.Runs = map[string]int{}
	}
	for _, run := range runs {
		q.Runs[h.Name]++
		mine, told := r.accept(q, h, run.Published, handed)
		handed, warnings = append(handed, mine...), append(warnings, told...)
		rest := slices.Clone(q.Pending) // the user may have taken topics out, or put others before them
		for _, t := range run.For {
			if i := slices.Index(rest, t); i >= 0 {
				rest = slices.Delete(rest, i, i+1)
			}
		}
		if len(mine)+len(rest) > 0 { // else it isn't done, and goes on
			q.Pending = append(rest, mine...)
		}
	}
	if dropped := q.cut(); dropped > 0 {
		warnings = append(warnings, fmt.Sprintf("too many topics are pending (%d); the newest %d are dropped", len(q.Pending)+dropped, dropped))
	}
	return handed, warnings
}

// accept returns the topics of a run that are handed over. before are the topics of runs beside it.
func (r Set) accept(q *Queue, h Hat, published, before []Topic) (handed []Topic, warnings []string) {
	if len(published) == 0 && h.DefaultPublishes != "" {
		published = []Topic{{Name: h.DefaultPublishes}}
	}
	if n := len(published); n > maxPublished { // the last ones count, as in a message of its own
		warnings = append(warnings, fmt.Sprintf("%s published %d topics; the last %d count", h.Name, n, maxPublished))
		published = published[n-maxPublished:]
	}
	for _, t := range published {
		size := len(t.Payload)
		t.From, t.Payload = h.Name, bounded(t.Payload)
		if !slices.Contains(before, t) { // the same topic from parallel runs is no circle
			if why := r.refuse(q, h, t); why != "" {
				warnings = append(warnings, why)
				continue
			}
		}
		if size > MaxPayload {
			warnings = append(warnings, fmt.Sprintf("%s published %s with %s; the first %s count", h.Name, t.Name,
				format.Amount(size, "byte"), format.Amount(MaxPayload, "byte")))
		}
		handed = append(handed, t)
	}
	return handed, warnings
}

// cut drops the newest topics where too many are pending, and says how many.
func (q *Queue) cut() int {
	bytes := 0
	for i, t := range q.Pending {
		if bytes += len(t.Payload); i == maxPending || bytes > maxBytes {
			dropped := len(q.Pending) - i
			q.Pending = q.Pending[:i]
			return dropped
		}
	}
	return 0
}

// refuse says why a topic isn't handed over, by the topic itself where the queue is empty; "" when it is.
func (r Set) refuse(q *Queue, h Hat, t Topic) string {
	if why := CheckTopic(t.Name); why != "" {
		return fmt.Sprintf("%s published a topic that %s", h.Name, why)
	}
	if t.Name != h.DefaultPublishes && !h.mayPublish(t.Name) {
		return fmt.Sprintf("%s may not publish %s, so nobody gets it", h.Name, t.Name)
	}
	if _, ok := r.Hat(t.For); t.For != "" && !ok {
		return fmt.Sprintf("%s published %s for %s, which isn't a hat", h.Name, t.Name, t.For)
	}
	if times := q.see(t); times > maxRepeats && t.Payload != "" {
		return fmt.Sprintf("%s published %s %d times with the same payload, so that wakes nobody", h.Name, t.Name, times)
	}
	return ""
}

// see counts a topic, and says how often it has come with its payload.
func (q *Queue) see(t Topic) int {
	hash := fnv.New32a()
	hash.Write([]byte(t.Payload))
	for i := range q.Seen {
		if s := &q.Seen[i]; s.Topic == t.Name && s.Hash == hash.Sum32() {
			s.Times++
			return s.Times
		}
	}
	q.Seen = append(q.Seen, Seen{t.Name, hash.Sum32(), 1})
	if len(q.Seen) > maxSeen {
		q.Seen = slices.Delete(q.Seen, 0, 1)
	}
	return 1
}

// Missing returns the topics that nobody has published.
func (q Queue) Missing(topics []string) []string {
	var missing []string
	for _, name := range topics {
		if !slices.ContainsFunc(q.Seen, func(s Seen) bool { return s.Topic == name }) {
			missing = append(missing, name)
		}
	}
	return missing
}
