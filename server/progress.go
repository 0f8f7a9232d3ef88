package server

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"ralph-lsp/loop"
	"ralph-lsp/stream"
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
	ed      editor
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

func newProgress(ed editor) *progress {
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
	p.tell = func() ProgressValue { return progressReport(status(), p.problem.Load()) }
	p.done.Go(p.run)
}

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
	if v.Message == p.shown.Message && samePercentage(v, p.shown) {
		return
	}
	p.shown = v
	p.ed.NotifyLatest(p.token, MethodProgress, ProgressParams{p.token, v})
}

func samePercentage(a, b ProgressValue) bool { return reflect.DeepEqual(a.Percentage, b.Percentage) }

// changed says that something changed that a report may show.
func (p *progress) changed()    { p.reports.soon() }
func (p *progress) changedNow() { p.reports.now() }

// goesOn says that the agent works: what failed before is history.
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

// progressReport is what a progress says about a running loop:
// "3/50 · $1.42 · bash go test ./...".
func progressReport(s loop.Status, problem *string) ProgressValue {
	v := ProgressValue{Kind: "report"}
	iteration, limit := max(s.Iteration, 1), s.Limits.MaxIterations
	if limit > 0 {
		v.Percentage = new(min((iteration-1)*100/limit, 100))
	}
	v.Message = stream.Plain(JoinFacts(OfMax(iteration, limit), costText(s.Cost, s.CostIncomplete), activity(s, problem)))
	return v
}

// activity is what a loop does right now.
func activity(s loop.Status, problem *string) string {
	switch {
	case s.State == loop.StateStarting:
		return JoinFacts(s.Session.Backend, "starting")
	case s.State == loop.StatePaused:
		return "paused"
	case s.State == loop.StateCancelling:
		return "stopping"
	case s.Retry != nil:
		return JoinFacts(waitText(s.Retry.Reason, s.Retry.ResumeAt), problemText(problem))
	case s.Tool != nil:
		call := ProjectToolCall(s.Tool.Call)
		if call.Title == call.Name {
			return oneLine(call.Name)
		}
		return oneLine(call.Name) + " " + call.Title
	case problem != nil:
		return problemText(problem)
	case s.LastLine != "":
		return oneLine(s.LastLine)
	}
	return "working"
}

func problemText(problem *string) string {
	if problem == nil {
		return ""
	}
	return oneLine("error: " + *problem)
}

// waitText says what a loop waits for: "waiting (rate limit) until 14:05".
func waitText(reason string, until time.Time) string {
	text := "waiting"
	if reason != "" {
		text += " (" + oneLine(loop.WaitText(reason)) + ")"
	}
	if !until.IsZero() {
		text += " until " + until.Local().Format("15:04")
	}
	return text
}

// endings say why a loop ended that kept no promise.
var endings = map[loop.StopReason]string{
	loop.StopMaxIterations:    "stopped: iteration limit reached",
	loop.StopMaxCost:          "stopped: cost limit reached",
	loop.StopMaxTime:          "stopped: time limit reached",
	loop.StopCancelled:        "cancelled",
	loop.StopStateRemoved:     "cancelled: state file removed",
	loop.StopInterrupted:      "interrupted",
	loop.StopFailures:         "failed: too many failures in a row",
	loop.StopPermissionDenied: "failed: the agent was refused permission",
	loop.StopStalled:          "failed: the agent fell silent",
	loop.StopBackendError:     "failed: the agent could not be started",
	loop.StopBadStateFile:     "failed: the state file can't be used",
}

// Ending says why a loop ended that kept no promise; "" for a reason that isn't known.
func Ending(r loop.StopReason) string { return endings[r] }

// endText says in one line how a loop ended:
// "done: DONE after 7 iterations · $3.10 · 12m".
func endText(e loop.End) string {
	what, known := endings[e.Reason]
	switch {
	case e.Reason == loop.StopPromise:
		what = "done: " + oneLine(e.Promise)
	case !known:
		what = "ended: " + string(e.Reason)
	}
	after := "after " + Counted(e.Iterations, "iteration")
	return JoinFacts(what+" "+after, costText(e.Cost, false), roughly(e.Duration), oneLine(e.Error))
}

// costText writes a cost, or "" when it is unknown: unknown is never $0.00.
func costText(c stream.Cost, incomplete bool) string {
	if c = believed(c); !c.Known {
		return ""
	}
	text := fmt.Sprintf("$%.2f", c.USD)
	if incomplete {
		text = "at least " + text
	}
	return text
}

// roughly writes a duration as people say it: 45s, 12m, 1h02m.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
