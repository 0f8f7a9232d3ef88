package feed

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// The methods of work done progress that the server calls.
const (
	MethodProgress       = "$/progress"
	MethodProgressCreate = "window/workDoneProgress/create"
)

// reportInterval is how often progress and status are told at most, unless
// something happened that is to be seen at once.
const reportInterval = 250 * time.Millisecond

// ProgressToken returns the token of a loop's progress.
func ProgressToken(loopID string) string { return "ralph/" + loopID }

// ProgressParams are the parameters of $/progress.
type ProgressParams struct {
	Token string        `json:"token"`
	Value ProgressValue `json:"value"`
}

// ProgressValue is one message of a progress.
type ProgressValue struct {
	Kind        string `json:"kind"`                  // begin, report, end
	Title       string `json:"title,omitempty"`       // begin
	Cancellable bool   `json:"cancellable,omitempty"` // begin
	Message     string `json:"message,omitempty"`
	Percentage  *int   `json:"percentage,omitempty"` // begin and report of a loop that has a limit of iterations
}

// progressToken is the parameter of window/workDoneProgress/create.
type progressToken struct {
	Token string `json:"token"`
}

// progress shows a loop as one work done progress of the editor: a begin when
// the editor agreed, reports, and one end.
type progress struct {
	ed      client.Editor
	reports *pacer
	problem atomic.Pointer[string] // the last failure, until the agent goes on
	over    chan string            // how the loop ended, once
	ctx     context.Context        // done when nobody waits any more for the editor to agree
	cancel  context.CancelFunc
	done    sync.WaitGroup
	begun   chan struct{} // closed when the editor agreed, refused, or wasn't asked

	mu    sync.Mutex // guards what follows
	tell  func() ProgressValue
	token string
	shown ProgressValue // last; its kind is empty before the begin
}

func newProgress(ed client.Editor) *progress {
	p := &progress{ed: ed, over: make(chan string, 1), begun: make(chan struct{})}
	p.reports = newPacer(reportInterval, p.report)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// start asks the editor for a progress and begins it. Before that, changes are
// only noted.
func (p *progress) start(loopID string, status func() loop.Status) {
	if !p.ed.Client().WorkDoneProgress {
		close(p.begun)
		return
	}
	p.token = ProgressToken(loopID)
	p.tell = func() ProgressValue { return ReportOf(status(), p.problem.Load()) }
	p.done.Go(p.run)
}

// skip says that the progress isn't shown.
func (p *progress) skip() { close(p.begun) }

func (p *progress) run() {
	err := p.ed.Request(p.ctx, MethodProgressCreate, progressToken{p.token}, nil)
	if err != nil {
		close(p.begun)
		return // refused: the editor wants no progress
	}
	begin := p.tell()
	begin.Kind, begin.Title, begin.Cancellable = "begin", "Ralph", true
	p.mu.Lock()
	p.ed.Notify(MethodProgress, ProgressParams{p.token, begin})
	p.shown = begin
	p.mu.Unlock()
	close(p.begun)

	message := <-p.over
	p.reports.stop()
	p.ed.Forget(p.token)
	p.ed.Notify(MethodProgress, ProgressParams{p.token, ProgressValue{Kind: "end", Message: message}})
}

// beginPatience bounds how long a start waits for its progress.
const beginPatience = 100 * time.Millisecond

// awaitBegin waits a moment until the editor shows the progress: lsp-mode
// loses what it reads together with the answer to a command.
func (p *progress) awaitBegin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, beginPatience)
	defer cancel()
	select {
	case <-p.begun:
	case <-ctx.Done():
	}
}

// report says where the loop stands, unless that was said before.
func (p *progress) report() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown.Kind == "" {
		return
	}
	v := p.tell()
	if v.Message == p.shown.Message && reflect.DeepEqual(v.Percentage, p.shown.Percentage) {
		return
	}
	p.shown = v
	p.ed.NotifyLatest(p.token, MethodProgress, ProgressParams{p.token, v})
}

// changed says that something changed that a report may show.
func (p *progress) changed()    { p.reports.soon() }
func (p *progress) changedNow() { p.reports.now() }

// goesOn says that the agent works: earlier failures are history.
func (p *progress) goesOn() {
	if p.problem.Load() != nil {
		p.problem.Store(nil)
	}
	p.reports.soon()
}

// begins says that an iteration begins.
func (p *progress) begins() {
	p.problem.Store(nil)
	p.reports.now()
}

// failed shows a failure, if message isn't empty.
func (p *progress) failed(message string) {
	if message != "" {
		p.problem.Store(&message)
	}
	p.reports.now()
}

// end ends the progress with a message; further ones are ignored.
func (p *progress) end(message string) {
	select {
	case p.over <- message:
	default:
	}
}

// close ends the progress if nothing else did, and waits until it is over.
func (p *progress) close() {
	p.end("ended")
	p.cancel()
	p.done.Wait()
	p.reports.stop()
}

// ReportOf returns what a progress says about a running loop:
// "3/50 · $1.42 · bash go test ./...".
func ReportOf(s loop.Status, problem *string) ProgressValue {
	v := ProgressValue{Kind: "report"}
	iteration, limit := max(s.Iteration, 1), s.Limits.MaxIterations
	if limit > 0 {
		v.Percentage = new(min((iteration-1)*100/limit, 100))
	}
	v.Message = wire.Line(s, problem, time.Time{})
	return v
}
