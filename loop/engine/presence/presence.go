// Package presence is what other processes find of a loop that this one drives: the lock of its folder, the record that says
// how it stands, its socket, and what the user's registry has of it. It knows no engine, which only tells how the loop stands
// (setup.Presence).
package presence

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// Presence is a setup.Presence of the loop of a folder, which is locked.
type Presence struct {
	File *loopstate.File

	cfg     setup.Config
	windows control.Host
	session setup.Session
	stood   func() // see setup.Host
	folder  string // without links
	lock    *loopstate.Lock
	server  *control.Server // nil: nobody can ask the loop

	mu    sync.Mutex
	owner loopstate.Owner
	entry registry.Entry
}

var _ setup.Presence = (*Presence)(nil)

// Take locks the folder of a loop that is to be driven here, and ends what a dead owner has left running. It looks first for
// what the configuration names, and adds what it finds there. host has the windows and the session by then.
//
// Errors: what is wrong with the configuration, *loopstate.LockedError, *loopstate.OutsideError, and what the system says.
func Take(cfg *setup.Config, host setup.Host) (*Presence, error) {
	file, err := loopstate.Open(cfg.Folder)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(cfg.Check(), file.CanKeep()); err != nil {
		return nil, err
	}
	file.IsLeft, file.IsFleets = cfg.Once && cfg.Continue, host.Stay != nil
	p := &Presence{File: file, cfg: *cfg, windows: host.Windows, session: host.Session, stood: host.Stood, folder: paths.Real(cfg.Folder)}
	machine, _ := os.Hostname()
	p.owner = loopstate.Owner{PID: os.Getpid(), Host: machine, StartedAt: time.Now().Truncate(time.Millisecond), Version: cfg.Version}
	if p.lock, err = file.Lock(p.owner); err != nil {
		return nil, loopstate.Advised(err)
	}
	if previous, ok := p.lock.Previous(); ok { // it died before it could end its agents, which is no reason not to start
		_ = loop.EndRemains(previous)
	}
	return p, nil
}

// Takes implements setup.Presence.
func (p *Presence) Takes(id string) (verdicts string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owner.LoopID = id
	p.write()
	return p.lock.RecordPath()
}

// write writes the owner's record. The caller holds mu.
func (p *Presence) write() { _ = p.lock.SetOwner(p.owner) } // it only helps; the lock is what counts

// Stands implements setup.Presence.
func (p *Presence) Stands(s setup.Standing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := loopstate.Standing{Control: p.owner.Control, Deaf: p.owner.Deaf, Leaving: s.IsLeaving, Live: s.IsLive}
	if s.IsAtWork {
		said.WorksAt = p.worksAt(s.Status)
	}
	s.Status.Elapsed = 0
	said.Status = progress.Recorded(s.Status)
	for _, r := range s.Remains {
		if r.Mark > 0 {
			said.Reapers = append(said.Reapers, loopstate.Reaper{PID: r.Reaper.PID, ProcessStart: r.Reaper.Start, Mark: r.Mark})
		}
	}
	if len(said.Reapers) == 0 {
		for _, a := range s.Agents {
			said.Agents = append(said.Agents, loopstate.Agent{PID: a.PID, ProcessStart: a.Start})
		}
	}
	isNews := !reflect.DeepEqual(p.owner.Standing, said)
	p.owner.Standing = said
	p.write()
	p.describe(s)
	if isNews && p.stood != nil {
		p.stood()
	}
}

// slack is how much later than before a work may seem to have begun, so that nothing is written.
const slack = time.Second / 2

// worksAt is when the work would have begun that a loop has behind it, had it gone on without a break: while an agent works,
// that stays the same, and nothing is written. The caller holds mu.
func (p *Presence) worksAt(now loop.Status) time.Time {
	// By the wall clock, as readers of the record count on from it: the other one stands still while the machine sleeps.
	began, before := time.Now().Round(0).Add(-now.Elapsed), p.owner.WorksAt
	isAsking := false // nobody tells its time meanwhile
	for _, q := range now.Questions {
		isAsking = isAsking || q.HoldsAgent()
	}
	if !before.IsZero() && (isAsking || began.Sub(before).Abs() < slack) {
		return before
	}
	return began
}

// describe has the registry know the loop by what may change of it. The caller holds mu.
func (p *Presence) describe(s setup.Standing) {
	now := s.Status
	e := registry.Entry{
		LoopID: p.owner.LoopID, Folder: p.folder, Title: now.Title, Backend: p.cfg.Backend.Name, Plan: p.cfg.Values.Plan,
		Iteration: now.Iteration, StartedAt: now.StartedAt, SessionFile: now.SessionFile,
	}
	if e.SessionFile != "" && len(s.Prompt) <= registry.MaxPrompt {
		e.Prompt = s.Prompt
	}
	if old := p.entry; old.LoopID == "" || old.Iteration == e.Iteration && old.Title == e.Title && old.SessionFile == e.SessionFile {
		p.entry = e // not registered yet, or nothing new
		return
	}
	p.entry = e
	_ = p.File.Describe(e)
}

// Opens implements setup.Presence.
func (p *Presence) Opens(do func(pid int, q loop.Request) loop.Reply) (deaf string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.File.Register(p.entry) // the end tells what can't be kept
	registry.Supersede(p.folder, p.owner.LoopID)
	dir, err := registry.Dir(p.folder, p.owner.LoopID)
	if err == nil {
		p.server, err = control.Serve(filepath.Join(dir, registry.SocketName), loop.Answering(do), p.windows)
	}
	if err != nil {
		p.owner.Deaf = loop.OneLine(err.Error())
	} else {
		p.owner.Control = p.server.Path
	}
	p.write()
	return p.owner.Deaf
}

// Ends implements setup.Presence.
func (p *Presence) Ends(at time.Time, end loop.End, goesOn string) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entry
	e.Iteration, e.EndedAt, e.State = end.Iterations, at, goesOn
	if e.End, err = json.Marshal(end); err != nil {
		return err
	}
	return p.File.Register(e)
}

// Leave implements setup.Presence.
func (p *Presence) Leave(end *loop.End) { p.leave(end, p.Free) }

// Abandon implements setup.Presence.
func (p *Presence) Abandon(end loop.End) { p.leave(&end, func() {}) }

func (p *Presence) leave(end *loop.End, free func()) {
	p.server.Close()
	if p.session == nil {
		free()
		return
	}
	p.session.Close(end, free)
}

// Free implements setup.Presence.
func (p *Presence) Free() { _ = p.lock.Release() }
