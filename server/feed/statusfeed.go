package feed

import (
	"reflect"

	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Status tells an editor that opted in how its loops stand. There is one
// for all loops.
type Status struct {
	ed       client.Editor
	snapshot func() (loops []wire.LoopStatus, text string)
	pacer    *pacer
	last     wire.StatusParams // sent; of the pacer's runs
}

// NewStatus returns a status feed of the loops that snapshot returns.
func NewStatus(ed client.Editor, snapshot func() (loops []wire.LoopStatus, text string)) *Status {
	s := &Status{ed: ed, snapshot: snapshot}
	s.pacer = newPacer(reportInterval, s.send)
	return s
}

// Changed says that a loop's status changed. With now, an editor should see it at once. It doesn't
// block.
func (s *Status) Changed(now bool) {
	if now {
		s.pacer.now()
	} else {
		s.pacer.soon()
	}
}

// Close ends the feed; nothing is sent after it.
func (s *Status) Close() { s.pacer.stop() }

func (s *Status) send() {
	if !s.ed.Client().OptedIn {
		return
	}
	loops, text := s.snapshot()
	next := wire.NewStatus(loops)
	next.Text, next.Seq = text, s.last.Seq
	if reflect.DeepEqual(next, s.last) {
		return
	}
	next.Seq++
	s.last = next
	s.ed.NotifyLatest(wire.MethodStatus, wire.MethodStatus, next)
}
