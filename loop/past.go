package loop

// past is what the state file said before, the newest last. It tells the numbers
// of a buffer that an editor opened long ago from those that its user wrote.
type past struct {
	sets   []ledger
	isFull bool // some are forgotten
}

// maxPast bounds what is remembered: at one write a second, an hour.
const maxPast = 4096

func (p *past) add(b ledger) {
	p.sets = append(p.sets, b)
	if len(p.sets) > maxPast {
		p.sets, p.isFull = p.sets[1:], true
	}
}

// without returns what a file says without what it only says again: the numbers
// of an older set become those of the newest, now. The others are the user's. A
// set of which two numbers are left is known again.
func (p *past) without(found, now ledger) ledger {
	if found == now {
		return found
	}
	best, most := ledger{}, 1
	for _, set := range p.sets {
		if n := found.sharesWith(set); n > 1 && n >= most && found.isOf(set, now) {
			best, most = set, n
		}
	}
	switch {
	case most > 1:
		takeBack(&found.iteration, best.iteration, now.iteration)
		takeBack(&found.cost, best.cost, now.cost)
		takeBack(&found.tokens, best.tokens, now.tokens)
		takeBack(&found.elapsed, best.elapsed, now.elapsed)
		takeBack(&found.inARow, best.inARow, now.inARow)
		takeBack(&found.hats, best.hats, now.hats)
	case p.isFull && found.isBefore(p.sets[0]):
		begun := found.begun
		found = now
		found.begun = begun
	}
	return found
}

func takeBack[T comparable](found *T, old, now T) {
	if *found == old {
		*found = now
	}
}

// same says which of the numbers that only grow are the same.
func (b ledger) same(other ledger) [4]bool {
	return [...]bool{b.iteration == other.iteration, b.cost == other.cost, b.tokens == other.tokens, b.elapsed == other.elapsed}
}

// sharesWith is how many numbers two sets have in common.
func (b ledger) sharesWith(other ledger) (n int) {
	for _, same := range b.same(other) {
		if same {
			n++
		}
	}
	return n
}

// isOf says whether a file was made of an older set: time has passed since, there
// is something of it, and nothing that only the newest has. Who sets numbers back
// by hand does so in a file that has the newest time.
func (b ledger) isOf(old, now ledger) bool {
	isOld, isNow, unchanged := b.same(old), b.same(now), old.same(now)
	something := false
	for i := range unchanged {
		if isNow[i] && !unchanged[i] {
			return false
		}
		something = something || isOld[i] && !unchanged[i]
	}
	return something && old.elapsed != now.elapsed
}

// isBefore says whether a set can only be older than another one.
func (b ledger) isBefore(other ledger) bool {
	t, o := b.tokens, other.tokens
	return b.elapsed < other.elapsed && b.iteration <= other.iteration && b.cost.USD <= other.cost.USD &&
		t.Input <= o.Input && t.Output <= o.Output && t.CacheRead <= o.CacheRead && t.CacheWrite <= o.CacheWrite
}
