package backends

import (
	"io"
	"time"
)

// output is our end of an agent's standard output. A deadline ends a Read that
// waits.
type output interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error
}

// pause is how long what an agent writes is left to gather when it writes line
// after line: it would be slowed by a reader that wakes up for each. No eye sees
// it.
const pause = time.Millisecond

// Line after line means more than a few reads with little time between them. The
// last words of a run, and its end, are few: nobody waits for them.
const (
	few  = 8
	soon = 3 * pause
)

// pacer says when to pause between the reads of a pipe.
type pacer struct {
	enough   int       // bytes: an agent that writes so much in a pause might soon have to wait
	gathered int       // bytes since the last pause
	inARow   int       // reads that came soon after the one before
	more     bool      // the last read hasn't brought all that was there
	last     time.Time // when it returned
	hurry    time.Time // until then there is no pause
}

// before returns how long to pause before the next read.
func (p *pacer) before(now time.Time) time.Duration {
	if p.inARow < few || p.more || now.Sub(p.last) >= pause || now.Before(p.hurry) {
		return 0
	}
	fast := p.gathered >= p.enough
	p.gathered = 0
	if fast {
		p.hurry = now.Add(100 * pause)
		return 0
	}
	return pause
}

// after takes note of a read of n bytes, where there was room for some more.
func (p *pacer) after(now time.Time, n, room int) {
	if p.inARow++; now.Sub(p.last) >= soon {
		p.inARow = 0
	}
	p.last, p.more = now, n == room
	p.gathered += n
}
