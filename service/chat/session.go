package chat

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Loops are what sessions ask for. *Window implements it.
type Loops interface {
	Start(ctx context.Context, p wire.StartParams, l service.Listener) (service.Begun, error)
	Resume(ctx context.Context, p wire.ResumeParams, l service.Listener) (service.Begun, error)
	Join(ctx context.Context, folder, loopID, cursor string, l service.Listener) (service.Followed, error)
	Run(ctx context.Context, c wire.Command) (wire.Notice, error)
	Known(folder string, past int) ([]wire.LoopStatus, error)
	Story(folder, loopID string) journal.Story
	Open(ctx context.Context, folder string)
}

// Face shows a session to its user. Its methods are called one at a time, from goroutines of the session; they may take
// as long as their reader does.
type Face interface {
	// Begun says that the session's turn is about a loop from now on.
	Begun(loopID string)
	// Stands says that its loop stands differently.
	Stands(now wire.LoopStatus)
	// Show shows an update of its loop, which data has in JSON. In a replay it happened before.
	Show(u wire.Update, data []byte, isReplay bool)
	// Tell tells its user something, in words.
	Tell(text string)
	// Ask asks what an agent waits to be told, for Session.Answer; Withdraw takes that back.
	Ask(q wire.Question)
	Withdraw(questionID string)
	// Instead asks whether to do something else than what was refused.
	Instead(r Refused, answer func(yes bool))
	// Ended says that its loop is over, behind all that is shown of it.
	Ended(now wire.LoopStatus, reason loop.StopReason)
}

// Refused is a start that isn't possible as it is, and what can be done instead.
type Refused struct {
	Question, Title, Why string
}

// Outcome is how a prompt's turn ended.
type Outcome struct {
	Ended     loop.StopReason // why its loop ended; "": it had none
	Cancelled bool            // by its user
	Err       error           // why no loop began; a *wire.Failure where that has a reason
}

// Session is a folder in which a client's user has loops, and the loop there that it is about. Its methods don't wait: what
// comes of them is told later.
type Session struct {
	Folder string
	// By says who answers agents' questions.
	By string

	ctx   context.Context
	loops Loops
	face  Face

	facing sync.Mutex // held while the face is told something

	mu        sync.Mutex
	orders    []func() // that are to be carried out in their order
	loopID    string   // of the loop that it is about
	cursor    string   // behind what was shown of it
	following *following
	turn      func(Outcome) // a prompt that waits for its loop's end
	cancelled bool          // by its user
	early     []func(error) // what was said before that
	held      *following    // the loop that the turn waits for; nil: none has begun
	agent     string        // who was told to be at work
	instead   func(bool)    // answers the last of Face.Instead
}

// following is a loop that is followed.
type following struct {
	service.Followed
	stands chan struct{}   // holds one signal
	aside  chan func()     // what is to be done between two of its updates
	over   chan struct{}   // nothing more is shown of it
	asked  map[string]bool // which of its questions were asked
	ended  *Outcome        // of a turn that comes to wait for it; nil: it isn't over
}

// NewSession makes one. ctx ends with its client.
func NewSession(ctx context.Context, loops Loops, face Face, folder, by string) *Session {
	return &Session{Folder: folder, By: by, ctx: ctx, loops: loops, face: face}
}

// order has something done behind what was ordered before.
func (s *Session) order(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders = append(s.orders, do)
	if len(s.orders) == 1 {
		go s.carryOut()
	}
}

func (s *Session) carryOut() {
	for {
		s.mu.Lock()
		next := s.orders[0]
		s.mu.Unlock()
		next()
		s.mu.Lock()
		s.orders = s.orders[1:]
		isLast := len(s.orders) == 0
		s.mu.Unlock()
		if isLast {
			return
		}
	}
}

// Wait waits until all that was ordered so far is carried out.
func (s *Session) Wait() {
	done := make(chan struct{})
	s.order(func() { close(done) })
	<-done
}

// tells tells the face something.
func (s *Session) tells(tell func(f Face)) {
	s.facing.Lock()
	defer s.facing.Unlock()
	tell(s.face)
}

func (s *Session) tell(text string) {
	if text = strings.TrimSpace(text); text != "" {
		s.tells(func(f Face) { f.Tell(text) })
	}
}

// LoopID is that of the loop that it is about, "" without one.
func (s *Session) LoopID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loopID
}

// IsBusy says whether a prompt waits for its loop's end.
func (s *Session) IsBusy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn != nil
}

// Prompt takes what the user types: a start, a command, or while a loop runs a word to its agents. p has what
// the user chose for a start. done gets how the turn ended.
func (s *Session) Prompt(text string, p wire.StartParams, done func(Outcome)) {
	slash, isBeside := slashIn(text)
	if isBeside && (slash.Command != wire.CommandResume || !s.take(done)) {
		s.beside(slash, done)
		return
	}
	switch {
	case isBeside:
		s.order(func() { s.resume(wire.ResumeParams{LoopParams: s.here(), Text: slash.rest}) })
	case s.take(done):
		p.Folder, p.Text = wire.FileURI(s.Folder), text
		s.order(func() { s.startOrSteer(p) })
	case start.SlashOf(text) == start.SlashStart:
		s.answer("The loop of this session still runs: it can be told something, or ended with /cancel-ralph.", nil, done)
	default:
		s.Steer(text, func(said string, err error) { s.answer(said, err, done) })
	}
}

// answer ends a turn that isn't the loop's.
func (s *Session) answer(said string, err error, done func(Outcome)) {
	if err != nil {
		said = err.Error()
	}
	s.order(func() {
		s.tell(said)
		done(Outcome{})
	})
}

// here names the loop that the session's commands are about: the one that it follows, else the one of its folder.
func (s *Session) here() wire.LoopParams {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.following; f != nil {
		return wire.LoopParams{LoopID: f.LoopID(), Folder: wire.FileURI(f.Status().Folder)}
	}
	return wire.LoopParams{Folder: wire.FileURI(s.Folder)}
}

// run carries out a command.
func (s *Session) run(command string, argument any) (wire.Notice, error) {
	return s.loops.Run(s.ctx, wire.Command{Command: command, Arguments: []any{argument}})
}

// take makes a prompt the session's turn, if it has none.
func (s *Session) take(done func(Outcome)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		return false
	}
	s.turn, s.cancelled, s.held = done, false, nil
	return true
}

// startOrSteer begins a loop, unless the session's goes on without a turn: then its agents are told.
func (s *Session) startOrSteer(p wire.StartParams) {
	if typed, err := p.Typed(); err == nil && typed.Slash != "" {
		command, argument := wire.CommandCancel, any(wire.CancelParams{LoopParams: s.here()})
		if typed.Slash == start.SlashHelp {
			command, argument = wire.CommandHelp, wire.LoopParams{}
		}
		said, err := s.run(command, argument)
		s.tell(textOf(said, err))
		s.endTurn(Outcome{})
		return
	}
	f := s.goesOn()
	if f == nil || strings.HasPrefix(p.Text, "/") {
		s.start(p)
		return
	}
	s.hold(f)
	s.Steer(p.Text, func(said string, err error) { s.tell(textOf(wire.Info(said), err)) })
}

func textOf(said wire.Notice, err error) string {
	if err != nil {
		return err.Error()
	}
	return said.Text
}

// goesOn is the session's loop if it runs, nil else: somebody may have gone on with it.
func (s *Session) goesOn() *following {
	s.mu.Lock()
	f, loopID, cursor := s.following, s.loopID, s.cursor
	s.mu.Unlock()
	if f != nil || loopID == "" {
		return f
	}
	f = newFollowing()
	var err error
	if f.Followed, err = s.loops.Join(s.ctx, s.Folder, loopID, cursor, s.listener(f)); err != nil {
		return nil
	}
	s.follow(f)
	return f
}

func newFollowing() *following {
	return &following{stands: make(chan struct{}, 1), aside: make(chan func()), over: make(chan struct{}), asked: map[string]bool{}}
}

func (s *Session) listener(f *following) service.Listener {
	return service.Listener{
		Stands: func() {
			select {
			case f.stands <- struct{}{}:
			default: // it is looked at soon
			}
		},
		Notes: func(text string) { go s.tell(text) },
	}
}

func (s *Session) start(p wire.StartParams) {
	f := newFollowing()
	begun, err := s.loops.Start(s.ctx, p, s.listener(f))
	if err != nil {
		s.refused(err, wire.CommandStart, func(r wire.Remedy) {
			switch r.Word {
			case "trust":
				p.Trust = true
			case "replace":
				p.Replace = true
			default:
				s.resume(wire.ResumeParams{LoopParams: wire.LoopParams{Folder: p.Folder}})
				return
			}
			s.start(p)
		})
		return
	}
	s.mu.Lock()
	s.following, s.cursor, s.agent = nil, "", ""
	s.mu.Unlock()
	s.begin(f, begun)
}

// resume goes on with a loop. What it did before is known, or was shown when the session was loaded.
func (s *Session) resume(p wire.ResumeParams) {
	if f := s.goesOn(); f != nil { // it is paused, or waits
		if _, err := s.run(wire.CommandResume, p); err == nil {
			s.hold(f)
			return
		}
	}
	f := newFollowing()
	begun, err := s.loops.Resume(s.ctx, p, s.listener(f))
	if err != nil {
		s.refused(err, wire.CommandResume, func(wire.Remedy) {
			p.Trust = true
			s.resume(p)
		})
		return
	}
	s.begin(f, begun)
}

// begin follows a loop that has begun.
func (s *Session) begin(f *following, begun service.Begun) {
	for _, w := range begun.Warnings {
		s.tell(w)
	}
	f.Followed = begun.Followed
	s.hold(f)
	s.follow(f)
}

// hold makes the turn one of a loop: it lasts until that ends, which it may have done meanwhile.
func (s *Session) hold(f *following) {
	s.mu.Lock()
	s.loopID, s.held = f.LoopID(), f
	isCancelled, early := s.cancelled, s.early
	if f.ended != nil {
		s.mu.Unlock()
		s.endTurn(*f.ended)
		return
	}
	s.following, s.early = f, nil
	s.mu.Unlock()
	s.tells(func(face Face) {
		face.Begun(f.LoopID())
		face.Stands(statusOf(f))
	})
	for _, say := range early {
		say(nil)
	}
	if isCancelled {
		s.interrupt()
	}
}

func statusOf(f service.Followed) wire.LoopStatus { return wire.StatusOf(f.Status(), f.Owns()) }

// Steer tells the agents of the loop something, once it has begun.
func (s *Session) Steer(text string, done func(said string, err error)) {
	say := func(err error) {
		if err != nil {
			done("", err)
			return
		}
		s.order(func() {
			said, err := s.run(wire.CommandSteer, wire.SteerParams{LoopParams: s.here(), Text: text})
			done(said.Text, err)
		})
	}
	s.mu.Lock()
	isEarly := s.turn != nil && s.held == nil
	if isEarly {
		s.early = append(s.early, say)
	}
	s.mu.Unlock()
	if !isEarly {
		say(nil)
	}
}

// Interrupt is the user's stop: the loop is interrupted, and can go on. One that is still to begin, begins not or ends then.
func (s *Session) Interrupt() {
	s.mu.Lock()
	s.cancelled = true
	instead := s.instead
	s.mu.Unlock()
	if instead != nil {
		instead(false)
	}
	go s.interrupt()
}

// interrupt ends the session's loop so that it can go on, unless another one is to begin.
func (s *Session) interrupt() {
	s.mu.Lock()
	isRunning := s.following != nil && (s.turn == nil || s.held != nil)
	s.mu.Unlock()
	if !isRunning {
		return
	}
	stop := wire.CancelParams{LoopParams: s.here(), When: wire.WhenInterrupt}
	if _, err := s.run(wire.CommandCancel, stop); err != nil && !errors.Is(err, loop.ErrNotRunning) {
		s.tell(err.Error())
	}
}

// Close ends the turn: its loop is interrupted, unless it goes on without a window. Then the loop is let go of.
func (s *Session) Close(done func()) {
	s.mu.Lock()
	inTurn, held := s.turn != nil, s.held
	s.mu.Unlock()
	if inTurn && (held == nil || !held.Status().Detached) {
		s.Interrupt()
	}
	s.order(func() {
		s.letGo()
		done()
	})
}

// endTurn ends the turn under way, if there is one. What was said before a loop began is refused behind that: it may begin
// the next turn.
func (s *Session) endTurn(o Outcome) {
	s.mu.Lock()
	done, early := s.turn, s.early
	s.turn, s.early = nil, nil
	o.Cancelled = o.Cancelled || s.cancelled
	s.mu.Unlock()
	if done != nil {
		done(o)
	}
	for _, say := range early {
		say(cmp.Or(o.Err, errNoLoop))
	}
}

var errNoLoop = errors.New("no loop has begun")

// refused says why a loop didn't start. Where something else can be done its user is asked. Only the safest is offered.
func (s *Session) refused(err error, command string, instead func(wire.Remedy)) {
	fail := func() { s.endTurn(Outcome{Err: err}) }
	known := service.FailureOf(err)
	if known == nil {
		fail()
		return
	}
	remedies := wire.RemediesFor(known.Reason, command)
	if len(remedies) == 0 || !strings.HasPrefix(remedies[0].Command, "ralph.loop.") { // no loop comes of the others
		fail()
		return
	}
	question, _ := known.Data["question"].(string)
	r := Refused{cmp.Or(question, err.Error()+": "+remedies[0].Title+"?"), remedies[0].Title, err.Error()}
	var once sync.Once
	answer := func(yes bool) {
		once.Do(func() {
			s.order(func() {
				if yes {
					instead(remedies[0])
				} else {
					fail()
				}
			})
		})
	}
	s.mu.Lock()
	s.instead = answer
	isCancelled := s.cancelled
	s.mu.Unlock()
	if isCancelled {
		answer(false)
		return
	}
	s.tells(func(f Face) { f.Instead(r, answer) })
}

// Answer answers an agent's question. One that needs no answer any more isn't told.
func (s *Session) Answer(questionID string, a ask.Answer) {
	s.mu.Lock()
	f := s.following
	s.mu.Unlock()
	if f == nil {
		return
	}
	a.By = s.By
	go func() {
		if err := f.Answer(questionID, a); err != nil && !errors.Is(err, ask.ErrNoQuestion) && !errors.Is(err, loop.ErrNotRunning) {
			s.tell("the answer didn't reach the agent: " + err.Error())
		}
	}()
}
