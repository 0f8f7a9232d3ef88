package notify

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// toldFor is how long it is known that somebody was told something.
const toldFor = 7 * 24 * time.Hour

// Remote calls the user of loops that other machines drive, by each one's state now and before. The first known state
// of a loop isn't told: it may be old.
type Remote struct {
	*Notifier
	dir string // has a file for all that was told, whichever process of the user's did

	mu   sync.Mutex
	seen map[string]wire.LoopStatus // by their ids
}

// NewRemote returns one that keeps in dir what was told. At the end Close ends what is still told, and
// Finish waits for that a while.
func NewRemote(n settings.Notify, at At, dir string) *Remote {
	t := New(setup.Config{Notify: n}, at)
	close(t.known)
	for _, f := range paths.Newest(dir, "*") {
		if time.Since(f.ModTime()) > toldFor {
			os.Remove(f.Path)
		}
	}
	return &Remote{Notifier: t, dir: dir, seen: map[string]wire.LoopStatus{}}
}

// Finish is Close for who has seen loops to their ends.
func (a *Remote) Finish() {
	a.last = true
	a.Close()
}

// Stands takes note of how loops stand, and tells what that means to their user.
func (a *Remote) Stands(loops ...wire.LoopStatus) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range loops {
		was, isKnown := a.seen[l.LoopID]
		a.seen[l.LoopID] = l
		if !isKnown {
			continue
		}
		for _, q := range l.Questions {
			if !slices.ContainsFunc(was.Questions, func(old wire.Question) bool { return old.ID == q.ID }) {
				a.Asked(l.LoopID, q.ID)
			}
		}
		if n, about, ok := noteRemote(was, l, time.Now()); ok {
			a.once(n, l.LoopID, about)
		}
	}
}

// Asked takes note of a question that is open.
func (a *Remote) Asked(loopID, question string) {
	a.once(Note{Event: settings.NotifyQuestion, Text: "it has a question", Class: wire.ClassWarning}, loopID, question)
}

// once sends a note unless somebody has; about tells it from other notes of the loop.
func (a *Remote) once(n Note, loopID, about string) {
	if !slices.Contains(a.cfg.Notify.On, n.Event) || len(a.ways) == 0 {
		return
	}
	key := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join([]string{loopID, n.Event, about}, "\n"))))
	_ = os.MkdirAll(a.dir, 0o700)
	f, err := os.OpenFile(filepath.Join(a.dir, key[:32]), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if os.IsExist(err) {
		return
	}
	if err == nil { // else it may be told twice, which is better than not at all
		f.Close()
	}
	n.LoopID, n.Title = loopID, "Ralph loop "+stream.Sanitize(loopID)
	a.say(n)
}

// noteRemote returns the note about a loop whose state changed, and an id that tells it from the same note at another
// time. The user's own changes aren't told.
func noteRemote(was, l wire.LoopStatus, now time.Time) (n Note, about string, ok bool) {
	state, before := loop.State(l.State), loop.State(was.State)
	about = fmt.Sprint(l.Iteration)
	switch {
	case state.Over() && !before.Over():
		end := endRemote(l)
		ending := end.Reason.Ending()
		n = Note{Event: settings.NotifyEnd, Text: wire.EndText(end), Class: ending.Class}
		if ending.Class == loop.ClassError {
			n.Event = settings.NotifyFailed
		}
		return n, about + l.StopReason + l.EndedAt.String(), ending.Class != loop.ClassInfo && ending.State != loop.StateInterrupted
	case state == loop.StatePaused && before != state:
		return Note{Event: settings.NotifyPaused, Text: "it has paused by itself", Class: wire.ClassWarning}, about, was.Busy && !was.Pausing
	case state == loop.StateWaiting && before != state && l.Retry != nil:
		r := l.Retry
		return Note{Event: settings.NotifyWaiting, Text: wire.WaitText(r.Reason, r.ResumeAt, now), Class: wire.ClassWarning},
			about, r.ResumeAt.Sub(now) > longWait
	}
	return n, "", false
}

// endRemote is an end, as far as a status tells it in words of ours.
func endRemote(l wire.LoopStatus) loop.End {
	end := loop.End{Reason: loop.StopReason(l.StopReason), Iterations: l.Iteration, Duration: l.Time.Spent}
	if c := l.Cost; c != nil {
		end.Cost, end.Unknown = stream.USD(c.Amount), c.Unknown
	}
	return end
}
