package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// memory is a state file in memory.
type memory struct {
	mu      sync.Mutex
	state   *loopstate.State // nil: no file; another one after each change
	broken  error            // what Load says instead
	refused error            // what Update says instead
	changes chan struct{}
	claims  int // the prompts that were taken to be run
	saves   []loopstate.State
}

func (m *memory) Path() string { return "ralph-loop.local.md" }

func (m *memory) Load() (loopstate.State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.broken != nil:
		return loopstate.State{}, m.broken
	case m.state == nil:
		return loopstate.State{}, fs.ErrNotExist
	}
	return *m.state, nil
}

func (m *memory) Create(s loopstate.State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != nil {
		return fs.ErrExist
	}
	m.state = &s
	return nil
}

func (m *memory) Claim(edit func(*loopstate.State) error) (loopstate.State, error) {
	s, err := m.Update(edit)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.claims++
	}
	return s, err
}

func (m *memory) Update(edit func(*loopstate.State) error) (loopstate.State, error) {
	for {
		m.mu.Lock()
		found := m.state
		m.mu.Unlock()
		s, err := m.Load()
		if err == nil {
			err = edit(&s)
		}
		m.mu.Lock()
		if m.refused != nil {
			err = m.refused
		}
		isChanged := err == nil && m.state != found // somebody else has written: it is made anew on top of that
		if err == nil && !isChanged {
			kept := s
			kept.Accept = false
			m.state = &kept
			m.saves = append(m.saves, s)
		}
		m.mu.Unlock()
		if isChanged {
			continue
		}
		if err == nil {
			m.signal()
		}
		return s, err
	}
}

func (m *memory) Leave(edit func(*loopstate.State) error) (loopstate.State, error) {
	return m.Update(edit)
}

func (m *memory) Transfer(edit func(*loopstate.State) error) (loopstate.State, error) {
	return m.Update(edit)
}

func (m *memory) Note(s loopstate.State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused != nil || m.state == nil {
		return m.refused
	}
	kept := m.state.With(s)
	m.state = &kept
	m.saves = append(m.saves, kept)
	return nil
}

func (m *memory) IsCleaned() bool { return false }

func (m *memory) Remove() error {
	m.mu.Lock()
	m.state = nil
	m.mu.Unlock()
	m.signal()
	return nil
}

func (m *memory) Watch(ctx context.Context) (<-chan struct{}, error) {
	out := make(chan struct{})
	go func() {
		defer close(out)
		for {
			select {
			case <-ctx.Done():
				return
			case <-m.changes:
			}
			select {
			case <-ctx.Done():
				return
			case out <- struct{}{}:
			}
		}
	}()
	return out, nil
}

func (m *memory) signal() {
	select {
	case m.changes <- struct{}{}:
	default:
	}
}

// edit changes the file as its user does, behind the loop's back. What isn't the user's stays.
func (m *memory) edit(change func(*loopstate.State)) {
	m.Update(func(s *loopstate.State) error {
		before := s.With(*s)
		change(s)
		*s = s.With(before)
		return nil
	})
}

// quietly is edit before anybody has looked.
func (m *memory) quietly(change func(*loopstate.State)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := *m.state
	change(&s)
	m.state = &s
}

// tell breaks or mends the file.
func (m *memory) tell(err error) {
	m.mu.Lock()
	m.broken = err
	m.mu.Unlock()
	m.signal()
}

// refuse makes writing fail, nil ends that.
func (m *memory) refuse(err error) {
	m.mu.Lock()
	m.refused = err
	m.mu.Unlock()
}

// run is one scripted run of the agent.
type run struct {
	events []stream.Event
	pace   time.Duration // before each event about its costs
	lasts  time.Duration // until it ends by itself; 0 is asUsual
	result stream.Result // Terminal, Lines and Turns are filled in
	code   int
	silent bool           // it prints nothing
	works  bool           // what it has started computes
	gone   bool           // there is no such program
	deaf   bool           // it doesn't end before the grace is over
	during func()         // called in mid-run
	talk   *talk          // it can be talked to
	atStop []stream.Event // what it says when it is ended
}

// says is a run whose last message is text.
func says(text string) run {
	return run{result: stream.Result{Text: text}}
}

// costs is a run of one turn that goes on with tools, and then ends.
func costs(usd float64, text string) run {
	usage := stream.Usage{Cost: stream.USD(usd), Tokens: stream.Tokens{Input: 10, Output: 5}}
	return run{
		events: []stream.Event{usage, stream.TurnEnd{StopReason: "toolUse", Usage: usage}},
		result: stream.Result{Text: text, Usage: usage},
	}
}

// fails is a run that ends with a failure.
func fails(kind stream.ErrorKind, message string) run {
	return run{result: stream.Result{Failure: &stream.Error{Kind: kind, Message: message}}}
}

// agents plays the runs in order; the last one again and again.
type agents struct {
	mu    sync.Mutex
	runs  []run
	specs []backends.Spec
	times []time.Time

	checks  []checked // of the command that verifies, in order; the last one again and again
	checkUp int       // how many were started
}

func (a *agents) start(spec backends.Spec) (progress.Agent, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if spec.Raw != nil {
		return a.startCheck(spec)
	}
	n := min(len(a.specs), len(a.runs)-1)
	a.specs, a.times = append(a.specs, spec), append(a.times, time.Now())
	if a.runs[n].gone {
		return nil, errors.New("no such program")
	}
	p := &played{run: a.runs[n], spec: spec, stop: make(chan time.Duration, 10), done: make(chan backends.Exit, 1)}
	go p.play()
	if p.talk != nil {
		return listener{p}, nil
	}
	return p, nil
}

// played is a running scripted agent.
type played struct {
	run
	spec backends.Spec
	stop chan time.Duration
	done chan backends.Exit
}

func (p *played) PID() int          { return 1 }
func (p *played) StartMark() string { return "start" }
func (p *played) Used() time.Duration {
	if p.works {
		return time.Duration(time.Now().UnixNano())
	}
	return 0
}
func (p *played) Stop(grace time.Duration) { p.stop <- grace }
func (p *played) Wait() backends.Exit      { return <-p.done }

// hear has the loop hear what an agent says that was started so.
func hear(spec backends.Spec, e stream.Event) {
	spec.Handler.Handle(e)
	spec.Rest()
}

// asUsual is how long what a test says nothing of lasts: a second of a bubble's time, which begins
// with the year 2000, and as good as none of the clock's.
func asUsual() time.Duration {
	if time.Now().Year() < 2020 {
		return time.Second
	}
	return time.Millisecond
}

func (p *played) play() {
	begin := time.Now()
	time.Sleep(time.Millisecond)
	var told stream.Usage
answers:
	for _, e := range p.events {
		if paid, ok := e.(stream.Usage); ok && p.pace > 0 {
			select {
			case <-time.After(p.pace):
			case grace := <-p.stop: // in the middle of an answer, of which nothing is told
				p.stop <- grace
				p.result.Usage, p.result.Text = told, ""
				break answers
			}
			told = paid
		}
		p.spec.OnOutput()
		hear(p.spec, e)
	}
	if p.during != nil {
		p.during()
	}
	exit := backends.Exit{Code: p.code, Result: p.result}
	if exit.Result.Topics == nil {
		exit.Result.Topics, exit.Result.TopicMisses = promises.Topics(p.result.Text)
	}
	exit.Result.Terminal = p.code == 0
	if !p.silent {
		exit.Result.Lines = 5
		p.spec.OnOutput()
	}
	select {
	case <-time.After(cmp.Or(p.lasts, asUsual())):
	case grace := <-p.stop:
		exit.Stopped, exit.Result.Terminal = true, false
		for _, e := range p.atStop {
			hear(p.spec, e)
		}
		if p.deaf {
			time.Sleep(grace)
		}
	}
	exit.Duration = time.Since(begin)
	hear(p.spec, stream.Complete{Result: exit.Result})
	p.done <- exit
}

// watcher is an Observer that notes the loop's events as short lines.
type watcher struct {
	mu    sync.Mutex
	lines []string
	agent []stream.Event
	ends  []loop.IterationEnd
	then  func(stream.Event) // does something behind an agent's event; may be nil
}

func (w *watcher) Handle(e stream.Event) {
	w.mu.Lock()
	w.agent = append(w.agent, e)
	then := w.then
	w.mu.Unlock()
	if then != nil {
		then(e)
	}
}

func (w *watcher) HandleLoop(e loop.Event) {
	line := ""
	switch e := e.(type) {
	case loop.StateChanged:
		line = fmt.Sprintf("state %s %s", e.State, e.Reason)
	case loop.Asked:
		line = "asked " + e.Title
	case loop.Answered:
		line = "answered " + e.Kind
	case loop.IterationStart:
		line = fmt.Sprintf("begin %s", format.OfMax(e.Iteration, e.MaxIterations))
	case loop.IterationEnd:
		line = fmt.Sprintf("end %d %s %s", e.Iteration, e.Outcome, e.Error)
		w.mu.Lock()
		w.ends = append(w.ends, e)
		w.mu.Unlock()
	case loop.Goal:
		line = fmt.Sprintf("goal %s %s", e.Promise, e.From)
	case loop.NearMiss:
		line = fmt.Sprintf("near miss: %s (%s) %q", e.Found, e.Why, e.Offer.Promises)
	case loop.SteeringMessage:
		line = fmt.Sprintf("guidance %s %s: %s", e.ID, e.State, e.Text)
	case loop.Warning:
		line = "warning: " + e.Message
		if e.Offer.Promises != nil {
			line += fmt.Sprintf(" %q", e.Offer.Promises)
		}
	case loop.LimitsChanged:
		line = fmt.Sprintf("limits: %d iterations, $%v", e.Limits.MaxIterations, e.Limits.MaxCostUSD)
	case loop.Published:
		line = fmt.Sprintf("published %s: %s", e.Topic, e.Payload)
	case loop.Told:
		line = "told " + e.Text
	case loop.Verify:
		line = fmt.Sprintf("verify %s: %s %s", e.State, e.Command, e.Why)
		if e.Offer.Unchecked {
			line += " (what now?)"
		}
	case loop.End:
		line = fmt.Sprintf("over: %s after %d", e.Reason, e.Iterations)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, strings.TrimSpace(line))
}

// has says whether a line of the log contains text.
func (w *watcher) has(text string) bool { return w.count(text) > 0 }

func (w *watcher) count(text string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}
