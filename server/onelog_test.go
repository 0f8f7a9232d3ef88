package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// TestOneLog has a loop that goes from owner to owner: this process, whose feed
// lags when the client is slow, and others, whose journal is followed. The client
// listens, misses notifications and reads at any time. In the end it has all that
// was told, nothing lost and nothing twice.
func TestOneLog(t *testing.T) { oneLogs(t, 0, 6) }

func oneLogs(t *testing.T, from, to uint64) {
	t.Setenv(paths.EnvState, t.TempDir())
	for seed := from; seed < to; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { oneLog(t, seed) })
		})
	}
}

func oneLog(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	o := &ownedLoop{t: t, rnd: rnd, name: fmt.Sprint("ralph-", seed), canBlock: seed%12 == 0}
	c := &logClient{t: t, rnd: rnd, loop: o}
	o.meanwhile = c.meanwhile
	for range 2 + rnd.IntN(3) {
		o.own(rnd.IntN(3) > 0)
		for range 1 + rnd.IntN(3) {
			o.iterate()
		}
		o.letGo()
		c.hear(true)
	}
	for more := true; more; {
		more = c.read(0)
	}
	compareLogs(t, logOf(t, o.all), logOf(t, c.updates))
}

// compareLogs tells where two logs differ.
func compareLogs(t *testing.T, want, got map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%s: %.80q (%d bytes), want %.80q (%d)", key, got[key], len(got[key]), want[key], len(want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: %.200q is too much", key, got[key])
		}
	}
}

// logOf is what updates come to: each message with all its text, each call with
// its end, and how often there was anything else, by iterations.
func logOf(t *testing.T, updates []json.RawMessage) map[string]string {
	t.Helper()
	log, iteration := map[string]string{}, 0
	for _, raw := range updates {
		var u struct {
			SessionUpdate, MessageID, ParentToolCallID, ToolCallID, Status, Phase string
			Iteration                                                             int
			Content                                                               json.RawMessage
		}
		clienttest.Decode(t, raw, &u)
		content := clienttest.Seen{Content: u.Content}.Text(t)
		if u.Phase == wire.PhaseBegin {
			iteration = u.Iteration
		}
		message := fmt.Sprintf("%d %s/%s ", iteration, u.ParentToolCallID, u.MessageID)
		switch u.SessionUpdate {
		case wire.KindMessageChunk, wire.KindThoughtChunk:
			log[message+u.SessionUpdate] += content
		case wire.KindDiscard:
			delete(log, message+wire.KindMessageChunk)
			delete(log, message+wire.KindThoughtChunk)
			log[message+"discards"] += "|"
		case wire.KindToolCall:
			log[fmt.Sprintf("%d call %s", iteration, u.ToolCallID)] += "|"
		case wire.KindToolCallUpdate:
			if u.Status != wire.StatusInProgress {
				log[fmt.Sprintf("%d end of %s", iteration, u.ToolCallID)] += u.Status + " " + content + "|"
			}
		case wire.KindUsage:
			log["usage"] = string(raw)
		case wire.KindState:
		case wire.KindUserChunk:
			log[fmt.Sprintf("%d told", iteration)] += content + "|"
		default:
			var all map[string]any
			clienttest.Decode(t, raw, &all)
			if all["state"] == string(verify.Running) {
				continue // it says how things come about
			}
			delete(all, "title") // what can be done now isn't kept
			delete(all, "offers")
			log[fmt.Sprintf("%d %s", iteration, lsptest.JSON(all))] += "|"
		}
	}
	return log
}

// logClient is a client that follows a log.
type logClient struct {
	t       *testing.T
	rnd     *rand.Rand
	loop    *ownedLoop
	ed      *clienttest.Editor
	heard   int // notifications of the editor that it has looked at
	cursor  string
	updates []json.RawMessage
}

// meanwhile is what the client does now and then.
func (c *logClient) meanwhile() {
	switch c.rnd.IntN(12) {
	case 0:
		c.read(c.rnd.IntN(20))
	case 1, 2, 3:
		time.Sleep(time.Duration(c.rnd.IntN(120)) * time.Millisecond)
	case 4, 5:
		synctest.Wait()
		c.hear(true)
	case 6:
		if c.rnd.IntN(10) == 0 {
			c.hear(false)
		}
	}
}

// hear looks at the notifications that came, or misses them.
func (c *logClient) hear(listens bool) {
	if c.loop.ed != c.ed {
		c.ed, c.heard = c.loop.ed, 0
	}
	var news []wire.UpdateParams
	if c.ed == nil {
		news = c.loop.tail()
	} else {
		params, _ := clienttest.Received[wire.UpdateParams](c.ed, wire.MethodUpdate)
		news = params[c.heard:]
		c.heard = len(params)
	}
	for _, p := range news {
		switch {
		case !listens:
		case p.After == c.cursor && p.After != "":
			c.updates, c.cursor = append(c.updates, p.Updates...), p.Cursor
		case c.rnd.IntN(4) == 0:
			c.read(0)
		}
	}
}

func (c *logClient) read(limit int) (more bool) {
	c.t.Helper()
	page, err := c.loop.read(c.t.Context(), c.cursor, journal.Options{Limit: limit, Bytes: 1 << (11 + c.rnd.IntN(11)), Thinking: true})
	if err != nil || page.Reset {
		c.t.Fatalf("reading behind %s: reset %v, %v", c.cursor, page.Reset, err)
	}
	c.updates, c.cursor = append(c.updates, page.Updates(false)...), page.Cursor
	return page.More
}

// ownedLoop is a loop as its owners tell of it.
type ownedLoop struct {
	t         *testing.T
	rnd       *rand.Rand
	name      string
	meanwhile func()

	recorder  *journal.Recorder
	log       *journal.Log
	projector wire.Projector
	all       []json.RawMessage  // that was told
	ed        *clienttest.Editor // nil: another process drives it
	feed      *feed.Feed
	canBlock  bool                          // in one iteration the editor doesn't read
	block     atomic.Pointer[chan struct{}] // until that is closed
	tailed    string                        // how far another process' journal was told of
	iteration int
	ids       int
	spent     stream.Usage // of the iteration
	earlier   stream.Cost  // of those before
}

// own takes the loop up, here or elsewhere.
func (o *ownedLoop) own(here bool) {
	o.ed, o.feed, o.tailed, o.projector = nil, nil, "", wire.Projector{}
	if here {
		o.ed = &clienttest.Editor{Is: client.Info{OptedIn: true, Updates: true, Thinking: true}, Sends: o.whenItReads}
		o.feed = feed.New(o.ed, func(bool) {}, func(journal.Item) {})
	}
	o.recorder = journal.NewRecorder(nobody{})
	o.log = o.recorder.Open(o.name, true)
	if here {
		o.feed.Start("l1", clienttest.StoryOf(o.log, 0), func() loop.Status { return loop.Status{State: loop.StateRunning} }, false)
	}
	o.tell(loop.Warning{Message: o.id("w")})
}

// nobody looks at another process' loop but through its journal.
type nobody struct{}

func (nobody) Handle(stream.Event)   {}
func (nobody) HandleLoop(loop.Event) {}

// whenItReads waits while the editor doesn't read.
func (o *ownedLoop) whenItReads(ctx context.Context) error {
	block := o.block.Load()
	if block == nil {
		return nil
	}
	select {
	case <-*block:
		return nil
	case <-time.After(time.Hour):
		return errors.New("nobody reads")
	}
}

func (o *ownedLoop) letGo() {
	o.tell(loop.End{Reason: loop.StopInterrupted, Iterations: o.iteration})
	if o.feed != nil {
		o.log.Close()
		<-o.feed.Done()
		o.feed.Close()
	}
	if !o.log.Kept() {
		o.t.Error("the loop is over and not all of it is kept")
	}
}

func (o *ownedLoop) read(ctx context.Context, after string, options journal.Options) (journal.Page, error) {
	if o.feed != nil {
		return o.log.Read(ctx, after, options)
	}
	kept, err := journal.Open(o.name)
	if err != nil {
		return journal.Page{}, err
	}
	return kept.Read(ctx, after, options)
}

// tail is what a client hears of another process' loop.
func (o *ownedLoop) tail() (news []wire.UpdateParams) {
	kept, err := journal.Open(o.name)
	if err == nil && o.tailed == "" {
		o.tailed, err = kept.End()
	}
	for more := true; more && err == nil; {
		var page journal.Page
		page, err = kept.Read(o.t.Context(), o.tailed, journal.Options{Bytes: 4 << 10, Thinking: true, OneIteration: true})
		news = append(news, wire.UpdateParams{After: o.tailed, Cursor: page.Cursor, Updates: page.Updates(false)})
		o.tailed, more = page.Cursor, page.More
	}
	must.OK(o.t, err)
	return news
}

func (o *ownedLoop) id(prefix string) string {
	o.ids++
	return fmt.Sprintf("%s%d", prefix, o.ids)
}

// tell tells of the loop.
func (o *ownedLoop) tell(e loop.Event) {
	for _, u := range o.projector.Unfinished(e) {
		o.told(u)
	}
	o.told(o.projector.Loop(e))
	o.recorder.HandleLoop(e)
	o.meanwhile()
}

// says tells of the agent.
func (o *ownedLoop) says(events ...stream.Event) {
	for _, e := range events {
		o.told(o.projector.Event(e))
		o.recorder.Handle(e)
		o.meanwhile()
	}
}

// told keeps what is to arrive.
func (o *ownedLoop) told(u wire.Update) {
	if u != nil {
		o.all = append(o.all, lsptest.JSON(u))
	}
}

// iterate runs one iteration. In some the editor doesn't read, while more is
// said than is kept for it.
func (o *ownedLoop) iterate() {
	o.iteration++
	o.tell(loop.IterationStart{Iteration: o.iteration, Spent: o.earlier})
	o.spent = stream.Usage{}
	o.tell(loop.Goal{Promise: "DONE"})
	o.tell(loop.Told{Text: o.id("guidance ")})
	o.says(stream.SessionStart{Backend: "pi", Provider: "p", Model: "m", SessionID: o.id("s")})
	much := o.feed != nil && o.canBlock // seldom: it takes long
	o.canBlock = o.canBlock && !much
	block := make(chan struct{})
	if much {
		o.block.Store(&block)
	}
	for i := range 1 + o.rnd.IntN(6) {
		o.turn(much && i == 0)
	}
	outcome := loop.OutcomeOK
	if o.rnd.IntN(3) == 0 { // cut off
		outcome = loop.OutcomeCancelled
		o.message(false)
		o.says(o.call("", "bash"), o.call("", "Task"))
	}
	if much {
		o.block.Store(nil)
		close(block)
		synctest.Wait()
	}
	o.earlier = o.earlier.Plus(o.spent.Cost)
	for range o.rnd.IntN(3) {
		o.tell(loop.Published{Topic: o.id("topic"), Payload: "x"})
	}
	o.tell(loop.IterationEnd{Iteration: o.iteration, Outcome: outcome, Cost: o.spent.Cost})
}

// message says a message in pieces and returns its text.
func (o *ownedLoop) message(much bool) (id, text string) {
	id = o.id("m")
	for range o.rnd.IntN(3) {
		o.says(stream.Thinking{Delta: o.id("thought "), MessageID: id})
	}
	for range 1 + o.rnd.IntN(8) {
		piece := o.id("wörd ") + " "
		if much {
			piece += strings.Repeat("x", wire.MaxText)
		}
		text += piece
		o.says(stream.Text{Delta: piece, MessageID: id})
	}
	return id, text
}

func (o *ownedLoop) call(parent, name string) stream.ToolCall {
	return stream.ToolCall{ID: o.id("t"), Name: name, Input: json.RawMessage(`{"command":"x"}`), ParentToolCallID: parent}
}

func (o *ownedLoop) result(c stream.ToolCall) stream.ToolResult {
	r := stream.ToolResult{ID: c.ID, Output: o.id("output "), IsError: o.rnd.IntN(4) == 0, ParentToolCallID: c.ParentToolCallID}
	if _, ok := c.Subagent(); ok && o.rnd.IntN(2) == 0 {
		r.Spent = stream.Spent{Cost: stream.USD(0.25), Tokens: int64(o.ids), Duration: stream.Duration(time.Second)}
	}
	return r
}

// turn is one answer of the model, with what its tools do.
func (o *ownedLoop) turn(much bool) {
	switch o.rnd.IntN(8) {
	case 0:
		o.says(stream.Error{Message: o.id("error ")}, stream.Retry{Attempt: o.ids})
	case 1:
		o.says(stream.Compaction{Done: true, Reason: o.id("c")})
	case 2:
		id, _ := o.message(false)
		o.says(stream.MessageEnd{MessageID: id, Discarded: true})
	case 3:
		o.tell(loop.SteeringMessage{ID: o.id("g"), State: loop.SteeringQueued})
		o.tell(loop.Verify{Gate: verify.CommandGate, State: verify.Running, Command: "make", Output: o.id("output ")})
		o.tell(loop.Verify{Gate: verify.CommandGate, State: verify.Refuted, Command: "make", Why: o.id("why ")})
	}
	repeat := 1
	if much {
		repeat = 30
	}
	for range repeat {
		id, text := o.message(much)
		o.says(stream.MessageEnd{MessageID: id, Text: text})
		o.tools(much)
		o.spent.Tokens.Input++
		o.spent.Context = 1
		o.spent.Cost = o.spent.Cost.Plus(stream.USD(0.5))
		o.says(stream.TurnEnd{Usage: stream.Usage{Tokens: stream.Tokens{Input: 1}, Context: 1, Cost: stream.USD(0.5)}}, o.spent)
	}
}

// tools runs some tools at once, subagents among them.
func (o *ownedLoop) tools(much bool) {
	var open []stream.ToolCall
	for range o.rnd.IntN(4) {
		c := o.call("", "Task")
		o.says(c)
		open = append(open, c)
	}
	for len(open) > 0 {
		i := o.rnd.IntN(len(open))
		if c := open[i]; o.rnd.IntN(2) == 0 {
			o.says(o.result(c))
			open = slices.Delete(open, i, i+1)
		} else {
			o.subagent(c.ID, much)
		}
	}
}

func (o *ownedLoop) subagent(parent string, much bool) {
	id, text := o.id("m"), ""
	for range 1 + o.rnd.IntN(3) {
		piece := o.id("sub ") + " "
		if much {
			piece += strings.Repeat("y", wire.MaxText/2)
		}
		text += piece
		o.says(stream.Text{Delta: piece, MessageID: id, ParentToolCallID: parent})
	}
	if o.rnd.IntN(4) == 0 {
		o.says(stream.MessageEnd{MessageID: id, ParentToolCallID: parent, Discarded: true})
		return
	}
	c := o.call(parent, "bash")
	o.says(stream.MessageEnd{MessageID: id, Text: text, ParentToolCallID: parent}, c, stream.ToolProgress{ID: c.ID, Output: "half"}, o.result(c))
}
