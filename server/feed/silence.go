package feed

import (
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// silence finds out that an agent has given no sign for long, which is no event.
// It has one timer, which sleeps while no agent works.
type silence struct {
	changed func() // begun or ended; it doesn't block

	status func() loop.Status
	timer  atomic.Pointer[time.Timer] // nil before watch
	last   atomic.Int64               // sign that was told, as Unix nanoseconds
	armed  atomic.Bool
	told   atomic.Bool
}

// watch begins to look at a loop.
func (s *silence) watch(status func() loop.Status) {
	s.status = status
	s.armed.Store(true)
	s.timer.Store(time.AfterFunc(loop.SilentAfter, s.look))
}

func (s *silence) stop() {
	if timer := s.timer.Load(); timer != nil {
		s.armed.Store(true) // what still comes sets it no more
		timer.Stop()
	}
}

// sign is called when something came.
func (s *silence) sign() {
	if s.told.Load() && s.told.Swap(false) {
		s.changed()
	}
	if timer := s.timer.Load(); timer != nil && !s.armed.Load() && !s.armed.Swap(true) {
		timer.Reset(loop.SilentAfter)
	}
}

// stands is called when the loop stands otherwise than before: some signs are no updates.
func (s *silence) stands() {
	if s.timer.Load() == nil {
		return
	}
	if at := s.status().LastSign.UnixNano(); s.last.Swap(at) != at {
		s.sign()
	}
}

func (s *silence) look() {
	now := s.status()
	switch wait := time.Until(now.LastSign.Add(loop.SilentAfter)); {
	case now.LastSign.IsZero():
		s.armed.Store(false) // the next sign sets it
	case wait > 0:
		s.timer.Load().Reset(wait)
	default:
		s.armed.Store(false)
		s.told.Store(true)
		s.changed()
	}
}
