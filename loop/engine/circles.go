package engine

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/deeds"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// circles are how the loop knows that it turns in them: iteration after iteration
// brings nothing new. Where it can't know, it doesn't. Only the engine's goroutine
// uses them; how many there are in a row, the state file has.
type circles struct {
	trees   stream.Recent[int] // the content of the files, and after which iteration it was first so
	now     changes.State      // of the folder, as it was looked at last
	byUser  bool               // somebody else changed it since
	cutOff  bool               // or an agent whose loop was killed
	prompt  string             // of the last run
	refuted string             // the last refutation of a promise, but for what is new each time
	how     string             // what was wrong with the last of those in a row
	alike   int                // so many of them changed nothing
	handed  map[string]bool    // the hats that handed over since anything was new
	stuck   string             // the call that failed again and again in the last run, in words
}

// course is where a run has brought the loop.
type course int

const (
	unsure  course = iota // it says nothing: the run failed, waited, or nobody can tell
	onward                // something is new
	turning               // nothing is
)

// passage is what there is to know of a run.
type passage struct {
	iteration     int
	before, after changes.State
	outcome       loop.Outcome
	hindered      bool        // by the provider, or by permissions that it hasn't
	promised      bool        // to be done
	refutation    string      // of that promise; "" for none
	waited        bool        // on purpose, for something else
	beyond        func() bool // it wrote where snapshots don't look
	byUser        bool        // the user has said or changed something before it
}

// These complete "the last 3 iterations".
const (
	changedNothing = "changed nothing"
	nothingNew     = "brought nothing new"
)

// find takes note of the folder as the next run finds it.
func (c *circles) find(now changes.State, iteration int) {
	if now.Tree == "" {
		return
	}
	isOther := c.now.Tree != "" && now.Tree != c.now.Tree && !c.cutOff
	if isOther { // to go back is up to the user
		c.trees = stream.Recent[int]{}
	}
	c.byUser = c.byUser || isOther || c.now.Aside != 0 && now.Aside != c.now.Aside
	c.now, c.cutOff = now, false
	c.add(now.Tree, iteration)
}

// takeUp begins with the trees of a loop that goes on.
func (c *circles) takeUp(trees []changes.Past) {
	for _, past := range trees {
		c.add(past.Tree, past.Iteration)
		c.now = changes.State{Tree: past.Tree}
	}
}

// add remembers a tree. It returns after which iteration it was there already.
func (c *circles) add(tree string, iteration int) (earlier int, ok bool) {
	if earlier, ok = c.trees.Get(tree); !ok {
		c.trees.Put(tree, iteration)
	}
	return earlier, ok
}

// judge says where a run has brought the loop, and how it turned.
func (c *circles) judge(p passage) (course, string) {
	isKnown := p.before.Tree != "" && p.after.Tree != ""
	isSame := isKnown && p.before == p.after && !p.after.Blind
	var isBack bool
	var earlier int
	if p.after.Tree != "" {
		earlier, isBack = c.add(p.after.Tree, p.iteration)
		isBack = isBack && isKnown && p.before.Tree != p.after.Tree && !p.after.Blind
	}
	isNew := isKnown && p.before.Tree != p.after.Tree && !isBack
	if p.refutation != "" {
		last := c.refuted
		if c.refuted = deeds.Lasting(p.refutation); c.refuted == last {
			return turning, "its promise was refuted as the one before"
		}
	}
	switch {
	case p.outcome != loop.OutcomeOK, p.hindered:
		if isNew {
			return onward, ""
		}
		return unsure, ""
	case isNew, p.beyond():
		return onward, ""
	case isBack:
		return turning, "the files are as they were " + afterIteration(earlier)
	case p.promised:
		return onward, ""
	case isSame && !p.waited:
		return turning, changedNothing
	case isKnown && p.before.Aside != p.after.Aside: // a commit, say
		return onward, ""
	}
	return unsure, ""
}

func afterIteration(n int) string {
	if n == 0 {
		return "before the loop"
	}
	return fmt.Sprintf("after iteration %d", n)
}

// count says how many runs in a row have brought nothing new, after another one.
func (c *circles) count(n int, p passage) int {
	if p.byUser {
		n, c.alike = 0, 0
	}
	where, how := c.judge(p)
	switch where {
	case onward:
		n, c.how, c.alike, c.handed = 0, "", 0, nil
	case turning:
		n++
		c.how = how
		if c.alike++; how != changedNothing {
			c.alike = 0
		}
	}
	return n
}

// isFirst takes note that a hat hands over, and says whether it is the first time since anything was
// new: to hand over again and again is no progress.
func (c *circles) isFirst(hat string) bool {
	if c.handed == nil {
		c.handed = map[string]bool{}
	}
	isFirst := !c.handed[hat]
	c.handed[hat] = true
	return isFirst
}

// words say what came of the last n runs, of which each brought nothing new:
// "the last 3 iterations changed nothing".
func (c *circles) words(n int) string {
	last := "the last " + tell.Counted(n, "iteration")
	if n == 1 {
		last = "the last iteration"
	}
	switch {
	case c.alike >= n:
		return last + " " + changedNothing
	case c.how == changedNothing:
		return last + " " + nothingNew + ", and the last one " + changedNothing
	case c.how == "": // that was before a crash
		return last + " " + nothingNew
	}
	return last + " " + nothingNew + ": " + c.how
}

// toldFrom is how many runs in a row without progress the next one is told of.
func toldFrom(limit int) int { return min(3, (limit+1)/2) }

// rule tells a run that the loop turns in circles, and what the one before tried
// again and again; "" when there is nothing to tell.
func (c *circles) rule(n, limit int) string {
	var said []string
	if limit > 0 && n >= toldFrom(limit) {
		said = append(said, fmt.Sprintf("This loop doesn't get on: %s. Don't do the same once more. Find out what is in the way and try something else, "+
			"or write down for the next iteration what is missing. After %s the loop ends.", c.words(n), inARow(limit)))
	}
	if c.stuck != "" {
		said = append(said, c.stuck+" in the last iteration, each time with the same input. Find out why before you do that again.")
	}
	return strings.Join(said, "\n\n")
}

func inARow(limit int) string { return tell.Counted(limit, "such iteration") + " in a row" }

// noteProgress counts a run that brought nothing new, and warns in time.
func (l *Loop) noteProgress(plan setup.Run, r report) {
	c := &l.snapshots.circles
	p := passage{
		iteration: plan.Iteration, before: l.snapshots.found, after: c.now,
		outcome: r.outcome, hindered: r.refused() || len(r.exit.Result.Denials) > 0, promised: r.verdict.Matched,
		byUser: c.byUser || len(plan.Guidance) > 0 || c.prompt != "" && c.prompt != plan.Prompt,
	}
	c.byUser, c.prompt = false, plan.Prompt
	var now progress
	l.look(func(p *progress) { now = *p })
	if p.promised && r.checked && !r.passed {
		p.refutation = now.proof.refutation
	}
	p.waited, c.stuck = now.deeds.Waited, now.deeds.StuckText()
	if l.cfg.Worn(plan.Turn.Hat.Name).Backend.Output == decode.FormatText { // nobody sees its tools
		p.waited = r.exit.Duration >= deeds.LongWork
	}
	p.waited = p.waited || r.handed > 0 && c.isFirst(plan.Turn.Hat.Name) // who hands over waits for others
	p.beyond = func() bool { return l.snapshots.wroteBeyond(now.deeds.Wrote) }
	if r.checked {
		l.snapshots.last = time.Time{} // what the check wrote is no run's work
	}
	was, limit := now.counts.NoProgress, now.status.Limits.MaxUnchanged
	n := c.count(was, p)
	if limit == 0 {
		n = 0
	}
	l.change(func(p *progress) { p.counts.NoProgress = n })
	if n > was && n == toldFrom(limit) && n < limit {
		l.emit(loop.Warning{Message: fmt.Sprintf("%s: after %s the loop ends (--max-unchanged-iterations)", c.words(n), inARow(limit))})
	}
}

// wroteBeyond says whether an agent's tools wrote to a file that snapshots don't have.
func (s *snapshots) wroteBeyond(files []string) bool {
	for _, file := range files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.folder, file)
		}
		if s.store != nil && !s.store.Shows(s.going, file) || s.bare != nil && !s.bare.Shows(file) {
			return true
		}
	}
	return false
}
