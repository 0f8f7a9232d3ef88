package server

import (
	"reflect"
	"strings"

	"ralph-lsp/stream"
)

// MethodStatus is the notification that carries the state of all loops.
const MethodStatus = "ralph/status"

// The values of a status' health.
const (
	HealthOK      = "ok"
	HealthWarning = "warning" // a limit was reached, a loop waits or was interrupted
	HealthError   = "error"   // a loop failed
)

// StatusParams are the parameters of ralph/status: all loops, for a client to
// show in place of what it was told before.
type StatusParams struct {
	Seq     int64        `json:"seq"`
	Health  string       `json:"health"`
	Busy    bool         `json:"busy"` // an agent is at work
	Message string       `json:"message"`
	Loops   []LoopStatus `json:"loops"`
}

// statusFeed tells an editor that opted in how its loops stand. There is one
// for all loops.
type statusFeed struct {
	ed       editor
	snapshot func() []LoopStatus
	pacer    *pacer
	last     StatusParams // sent; of the pacer's runs
}

// newStatusFeed returns a status feed of the loops that snapshot returns.
func newStatusFeed(ed editor, snapshot func() []LoopStatus) *statusFeed {
	s := &statusFeed{ed: ed, snapshot: snapshot}
	s.pacer = newPacer(reportInterval, s.send)
	return s
}

// Changed says that a loop's status changed; now, that it is to be seen at
// once. It doesn't block.
func (s *statusFeed) Changed(now bool) {
	if now {
		s.pacer.now()
	} else {
		s.pacer.soon()
	}
}

// Close ends the feed; nothing is sent after it.
func (s *statusFeed) Close() { s.pacer.stop() }

func (s *statusFeed) send() {
	if !s.ed.Client().OptedIn {
		return
	}
	next := newStatus(s.snapshot())
	next.Seq = s.last.Seq
	if reflect.DeepEqual(next, s.last) {
		return
	}
	next.Seq++
	s.last = next
	s.ed.NotifyLatest(MethodStatus, MethodStatus, next)
}

// newStatus sums up the loops: how they are, and a line for a status bar.
func newStatus(loops []LoopStatus) StatusParams {
	status := StatusParams{Health: HealthOK, Loops: loops}
	if loops == nil {
		status.Loops = []LoopStatus{} // never null
	}
	var live []LoopStatus
	for _, l := range loops {
		status.Health = worse(status.Health, health(l))
		status.Busy = status.Busy || isBusy(l)
		if isLive(l) {
			live = append(live, l)
		}
	}
	text := ""
	switch {
	case len(live) == 1:
		text = textOf(live[0])
	case len(live) > 1:
		text = JoinFacts(Counted(len(live), "loop"), costsText(live))
	case len(loops) == 1:
		text = textOf(loops[0])
	}
	status.Message = strings.TrimSpace("Ralph " + text)
	return status
}

func worse(a, b string) string {
	if a == HealthError || b == HealthOK {
		return a
	}
	return b
}

// costsText is what loops have cost together, as far as that is known.
func costsText(loops []LoopStatus) string {
	var sum stream.Cost
	incomplete := false
	for _, l := range loops {
		if l.Cost == nil {
			incomplete = true
			continue
		}
		sum = sum.Plus(stream.USD(l.Cost.Amount))
		incomplete = incomplete || l.Cost.Estimated
	}
	return costText(sum, incomplete)
}
