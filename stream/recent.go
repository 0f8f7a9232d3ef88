package stream

// MaxRecent is how many ids of a run are remembered. A run has no end of
// messages and tool calls, but few of them are open at once.
const MaxRecent = 1024

// Recent remembers what belongs to an id, such as a tool call's, for the last
// MaxRecent ids that were put in. The zero value is empty.
type Recent[V any] struct {
	values map[string]recentValue[V]
	ring   []string // the ids by the order in which they were put in
	next   int      // where the next one goes
}

type recentValue[V any] struct {
	value V
	at    int // in ring
}

// Put remembers a value, in the place of the id's old one.
func (r *Recent[V]) Put(id string, value V) {
	if old, ok := r.values[id]; ok {
		r.values[id] = recentValue[V]{value, old.at}
		return
	}
	if r.values == nil {
		r.values = map[string]recentValue[V]{}
	}
	if len(r.ring) < MaxRecent {
		r.ring = append(r.ring, id)
	} else {
		// An id that was dropped and came again has another place by now.
		if oldest := r.ring[r.next]; r.values[oldest].at == r.next {
			delete(r.values, oldest)
		}
		r.ring[r.next] = id
	}
	r.values[id] = recentValue[V]{value, r.next}
	r.next = (r.next + 1) % MaxRecent
}

// Get returns the value of an id, if it is remembered.
func (r *Recent[V]) Get(id string) (value V, ok bool) {
	v, ok := r.values[id]
	return v.value, ok
}

// Drop forgets an id.
func (r *Recent[V]) Drop(id string) { delete(r.values, id) }

// Len is how many ids are remembered.
func (r *Recent[V]) Len() int { return len(r.values) }
