package looplog

import "maps"

// counts say how much there is of each kind.
type counts map[kind]int

// add counts an item.
func (c counts) add(it Item) {
	if it.kind != passing {
		c[it.kind] += it.amount
	}
}

// take takes an amount away, as far as it is there.
func (c counts) take(k kind, n int) {
	if c[k] -= n; c[k] <= 0 {
		delete(c, k)
	}
}

// over returns what there is more of than in other, and whether there is
// nothing less.
func (c counts) over(other counts) (more counts, all bool) {
	more, all = counts{}, true
	maps.Copy(more, c)
	for k, n := range other {
		all = all && c[k] >= n
		more.take(k, n)
	}
	return more, all
}

// walk goes along items for somebody who had some of them already.
type walk struct {
	at   Cursor // how far it came
	owed counts // what of at.Had hasn't come by
}

// walkFrom begins at a cursor.
func walkFrom(c Cursor) *walk {
	w := &walk{at: c, owed: counts{}}
	w.at.Had = counts{}
	maps.Copy(w.at.Had, c.Had)
	maps.Copy(w.owed, c.Had)
	return w
}

// settle says that all before an offset has come by.
func (w *walk) settle(offset int64) {
	if len(w.owed) == 0 {
		w.at.Offset, w.at.Had = offset, counts{}
	}
}

// look returns what of an item is news; ok is false for nothing.
func (w *walk) look(it Item) (news Item, ok bool) {
	if it.kind == passing {
		return it, it.latest || len(w.owed) == 0
	}
	switch had := w.owed[it.kind]; {
	case had == 0:
		return it, true
	case had < it.amount:
		return it.behind(had), true
	}
	return it, false
}

// pass goes behind an item.
func (w *walk) pass(it Item) {
	had := min(w.owed[it.kind], it.amount)
	w.owed.take(it.kind, had)
	if it.amount > had && it.kind != passing {
		w.at.Had[it.kind] += it.amount - had
	}
	switch {
	case had > 0:
	case it.kind == kindDiscard: // what was had of the message isn't kept
		w.forget(textOf(it.message.parent))
		if it.message.parent == "" {
			w.forget(kindThought)
		}
	case it.kind == kindIteration: // what was had before and didn't come will not: who was to write it died
		w.forgetAll()
	}
}

func (w *walk) forgetAll() {
	for k := range w.owed {
		w.forget(k)
	}
}

// forget lets go of what was had and will not come.
func (w *walk) forget(k kind) {
	w.at.Had.take(k, w.owed[k])
	delete(w.owed, k)
}
