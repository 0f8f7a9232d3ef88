// Package looptest plays the loops of sessions, for tests of what shows them.
package looptest

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Loops are what a test plays. What they hold is set before it is asked for.
type Loops struct {
	Asked   chan string           // each command with its argument: "ralph.loop.steer {...}"
	Errors  map[string]error      // what commands fail with
	Texts   map[string]string     // what commands say, else
	Before  map[string]func()     // what happens before a command is answered
	Begins  []string              // updates that a loop begins with
	Listed  []wire.LoopStatus     // in each folder
	Stories map[string][]string   // updates of loops of the past
	Found   answers.AgentsResult  // which agents there are
	Roles   answers.HatsResult    // and hats
	Changed answers.ChangesResult // what the loops did
	Content answers.FileResult    // of each file

	mu    sync.Mutex
	loops map[string]*Loop
}

// New makes some that nothing is known of.
func New() *Loops {
	return &Loops{
		Asked: make(chan string, 1000), Errors: map[string]error{}, Texts: map[string]string{}, Before: map[string]func(){},
		Stories: map[string][]string{},
		loops:   map[string]*Loop{},
	}
}

// Loop is the loop with an id, as it was followed last.
func (l *Loops) Loop(id string) *Loop {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loops[id]
}

// Set changes something while it may be asked for.
func (l *Loops) Set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *Loops) note(command string, argument any) (text string, err error) {
	l.mu.Lock()
	before, text, err := l.Before[command], l.Texts[command], l.Errors[command]
	l.mu.Unlock()
	if before != nil {
		before()
	}
	about, _ := json.Marshal(argument) // ours can be written
	l.Asked <- command + " " + string(about)
	return text, err
}

func (l *Loops) begin(id, folder string, on service.Listener) *Loop {
	it := &Loop{
		status: loop.Status{LoopID: id, Folder: folder, State: loop.StateRunning, Iteration: 1, Limits: loop.Limits{MaxIterations: 5}},
		on:     on, news: make(chan struct{}, 1), over: make(chan struct{}), Answers: make(chan ask.Answer, 10),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loops[id] = it
	it.Tell(l.Begins...)
	return it
}

// Start implements chat.Loops.
func (l *Loops) Start(_ context.Context, p wire.StartParams, on service.Listener) (service.Begun, error) {
	if _, err := l.note(wire.CommandStart, p); err != nil {
		return service.Begun{}, err
	}
	folder, err := wire.PathOf(p.Folder)
	return service.Begun{Followed: l.begin("ralph-a", folder, on)}, err
}

// Resume implements chat.Loops.
func (l *Loops) Resume(_ context.Context, p wire.ResumeParams, on service.Listener) (service.Begun, error) {
	if _, err := l.note(wire.CommandResume, p); err != nil {
		return service.Begun{}, err
	}
	folder, err := wire.PathOf(p.Folder)
	return service.Begun{Followed: l.begin(cmp.Or(p.LoopID, "ralph-a"), folder, on)}, err
}

// Join implements chat.Loops. What the loop did until then isn't told.
func (l *Loops) Join(_ context.Context, folder, loopID, cursor string, on service.Listener) (service.Followed, error) {
	if _, err := l.note("join", cursor); err != nil {
		return nil, err
	}
	for _, listed := range l.Listed {
		if listed.LoopID == loopID && listed.Live {
			it := l.begin(loopID, folder, on)
			it.status.Detached = listed.Detached
			return it, nil
		}
	}
	return nil, loop.ErrNotRunning
}

// Run implements chat.Loops.
func (l *Loops) Run(_ context.Context, c wire.Command) (wire.Notice, error) {
	text, err := l.note(c.Command, c.Arguments[0])
	return wire.Info(text), err
}

// Known implements chat.Loops.
func (l *Loops) Known(string, int) ([]wire.LoopStatus, error) { return l.Listed, nil }

// Open implements chat.Loops.
func (l *Loops) Open(context.Context, string) {}

// Hats are those of each folder.
func (l *Loops) Hats(string) answers.HatsResult { return l.Roles }

// Agents are those of each folder.
func (l *Loops) Agents(context.Context, string) answers.AgentsResult { return l.Found }

// Changes are those of each loop.
func (l *Loops) Changes(_ context.Context, p wire.ChangesParams) (answers.ChangesResult, error) {
	_, err := l.note(wire.CommandChanges, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Changed, err
}

// File is the content of each file.
func (l *Loops) File(_ context.Context, p answers.FileParams) (answers.FileResult, error) {
	_, err := l.note(wire.CommandFile, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Content, err
}

// Story implements chat.Loops.
func (l *Loops) Story(_, loopID string) journal.Story {
	l.mu.Lock()
	defer l.mu.Unlock()
	return story(l.Stories[loopID])
}

// story is one in a page.
type story []string

func (s story) Read(_ context.Context, after string, _ journal.Options) (journal.Page, error) {
	if after != "" {
		return journal.Page{Cursor: after}, nil
	}
	return journal.Page{Items: itemsOf(s), Cursor: "past"}, nil
}

func (s story) Outline(context.Context) (wire.Outline, error) {
	return wire.Outline{Cursor: "past"}, nil
}

func itemsOf(updates []string) (items []journal.Item) {
	for _, u := range updates {
		items = append(items, journal.Item{JSON: []byte(u)})
	}
	return items
}

// Loop is one that is followed.
type Loop struct {
	Answers chan ask.Answer // to its questions

	on   service.Listener
	news chan struct{}
	over chan struct{}

	mu     sync.Mutex
	items  []journal.Item
	told   int
	status loop.Status
	end    loop.End
	left   bool
}

// Tell tells what happened. An end is the last.
func (l *Loop) Tell(updates ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, itemsOf(updates)...)
	select {
	case l.news <- struct{}{}:
	default:
	}
	for _, u := range updates {
		if end, ok := wire.Decode([]byte(u)).(wire.End); ok {
			l.status.State, l.status.StopReason = loop.StateEnded, loop.StopReason(end.Reason)
			l.end = loop.End{Reason: l.status.StopReason, Iterations: 3, Status: l.status}
			close(l.over)
		}
	}
}

// Stand changes how it stands.
func (l *Loop) Stand(change func(*loop.Status)) {
	l.mu.Lock()
	change(&l.status)
	l.mu.Unlock()
	l.on.Stands()
}

// Ask has an agent ask something; without a question it takes back what it has asked.
func (l *Loop) Ask(questions ...ask.Question) {
	l.Stand(func(s *loop.Status) { s.Questions = questions })
}

// LoopID implements service.Followed, and so do the others.
func (l *Loop) LoopID() string { return l.Status().LoopID }

// Status is how it stands.
func (l *Loop) Status() loop.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// Owns is true of all.
func (l *Loop) Owns() bool { return true }

// News has a signal when something was told.
func (l *Loop) News() <-chan struct{} { return l.news }

// Over is closed behind the end.
func (l *Loop) Over() <-chan struct{} { return l.over }

// HasLeft says whether it was closed before its end.
func (l *Loop) HasLeft() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// End is how it ended.
func (l *Loop) End() (loop.End, error) { return l.end, nil }

// Answer takes an answer.
func (l *Loop) Answer(_ string, a ask.Answer) error { l.Answers <- a; return nil }

// Close lets go of it.
func (l *Loop) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = true
}

// Next is all that was told.
func (l *Loop) Next(bool) (journal.Page, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	page := journal.Page{Items: l.items}
	l.told += len(l.items)
	l.items, page.Cursor = nil, "c"+strconv.Itoa(l.told)
	return page, 0
}
