// Package stagnation is the policy of a loop that makes no progress: run after run leaves the files as they were, takes them
// back to an earlier state, or has its promise refuted as before. It counts such runs, and tells the next one of them. A run
// that it can't judge isn't counted.
package stagnation

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Policy judges one loop's progress. The record of the loop, its caller's, counts the runs in a row without progress.
// It is for one goroutine.
type Policy struct {
	// Repeated is the call that failed again and again in the last run, in words; "" for none.
	Repeated string
	// CutOff says that the process of the run before was killed: changes in the folder are that run's work.
	CutOff bool

	trees   stream.Recent[int] // the content of the files, and after which iteration it was first so
	now     changes.State      // of the folder, when it was looked at last; zero where nobody can tell
	byUser  bool               // the user has changed something since the last run
	prompt  string             // of the last run
	refuted string             // the last refutation of a promise, but for what is new each time
	how     string             // the fault of the last of these in a row
	alike   int                // so many of them changed nothing
	emitted map[string]bool    // the hats that handed over since anything was new
}

// Resume is the policy of a loop that goes on as its state file says.
func Resume(s loopstate.State) Policy {
	return Policy{Repeated: s.Stuck, CutOff: s.Begun && s.StopReason == "", refuted: withoutChance(s.Refutation)}
}

// These complete "the last 3 iterations".
const (
	changedNothing = "changed nothing"
	nothingNew     = "brought nothing new"
)

// Before takes note of the folder as the next run finds it, behind so many iterations. past are states of it in the
// iterations of another process.
func (p *Policy) Before(now changes.State, past []changes.Past, iterations int) {
	for _, it := range past {
		p.add(it.Tree, it.Iteration)
		p.now = changes.State{Tree: it.Tree}
	}
	before := p.now
	if p.now = now; now.Tree == "" {
		return
	}
	isOther := before.Tree != "" && now.Tree != before.Tree && !p.CutOff
	if isOther { // going back is up to the user
		p.trees = stream.Recent[int]{}
	}
	p.byUser = isOther || before.Aside != 0 && now.Aside != before.Aside
	p.CutOff = false
	p.add(now.Tree, iterations)
}

// add remembers a tree. It returns after which iteration it was there already.
func (p *Policy) add(tree string, iteration int) (earlier int, ok bool) {
	if earlier, ok = p.trees.Get(tree); !ok {
		p.trees.Put(tree, iteration)
	}
	return earlier, ok
}

// Run is a run that is over.
type Run struct {
	judge.Report
	Iteration   int
	Prompt      string
	IsTold      bool          // its user said something besides, before it or meanwhile
	Found, Left changes.State // the folder before and behind it
	Refutation  string        // of its promise; "" for none
	Tools       tooluse.Log
	IsText      bool   // its agent prints text, so nobody sees its tools
	Hat         string // that it wore; "" for none
}

// hasWaited says whether it waited on purpose, for something else.
func (r Run) hasWaited() bool {
	if r.IsText {
		return r.Exit.Duration >= tooluse.LongWork
	}
	return r.Tools.Waited
}

// CountUnchanged counts a run that is over: n runs in a row before it made no progress. It returns the new count, and a
// warning of it: the loop ends after as many as limit says, 0 is never. wroteBeyond says whether some of these files are none
// that snapshots have. It may take long, and is asked only where the run made no other progress.
func (p *Policy) CountUnchanged(r Run, n, limit int, wroteBeyond func(files []string) bool) (now int, warning string) {
	if p.byUser || r.IsTold || p.prompt != "" && p.prompt != r.Prompt {
		n, p.alike = 0, 0
	}
	p.byUser, p.prompt, p.Repeated, p.now = false, r.Prompt, r.Tools.Repeated(), r.Left
	now = n
	switch c, how := p.judge(r, wroteBeyond); c {
	case onward:
		now, p.how, p.alike, p.emitted = 0, "", 0, nil
	case still:
		now++
		p.how = how
		if p.alike++; how != changedNothing {
			p.alike = 0
		}
	}
	switch {
	case limit == 0:
		return 0, ""
	case now > n && now == toldFrom(limit) && now < limit:
		warning = fmt.Sprintf("%s: after %s the loop ends (--max-unchanged-iterations)", p.Text(now), inARow(limit))
	}
	return now, warning
}

// course is where a run has brought the loop.
type course int

const (
	unsure course = iota // it says nothing: the run failed, waited, or nobody can tell
	onward               // something is new
	still                // nothing is
)

// judge says where a run has brought the loop, and how it stood still.
func (p *Policy) judge(r Run, wroteBeyond func(files []string) bool) (course, string) {
	isKnown := r.Found.Tree != "" && r.Left.Tree != ""
	isOther := isKnown && r.Found.Tree != r.Left.Tree
	var isBack bool
	var earlier int
	if r.Left.Tree != "" {
		earlier, isBack = p.add(r.Left.Tree, r.Iteration)
		isBack = isBack && isOther && !r.Left.Blind
	}
	hasWaited := r.hasWaited() || r.Handed > 0 && p.isFirst(r.Hat) // a hat that hands over waits for others
	if r.Refutation != "" {
		last := p.refuted
		if p.refuted = withoutChance(r.Refutation); p.refuted == last {
			return still, "its promise was refuted as the one before"
		}
	}
	switch {
	case r.Outcome != loop.OutcomeOK, r.Refused(), len(r.Exit.Result.Denials) > 0:
		if isOther && !isBack {
			return onward, ""
		}
		return unsure, ""
	case isOther && !isBack, len(r.Tools.Wrote) > 0 && wroteBeyond(r.Tools.Wrote):
		return onward, ""
	case isBack:
		return still, "the files are as they were " + afterIteration(earlier)
	case r.Verdict.Matched:
		return onward, ""
	case isKnown && r.Found == r.Left && !r.Left.Blind && !hasWaited:
		return still, changedNothing
	case isKnown && r.Found.Aside != r.Left.Aside: // a commit, say
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

// isFirst takes note that a hat hands over, and says whether it is the first time since anything was
// new: handing over again and again is no progress.
func (p *Policy) isFirst(hat string) bool {
	if p.emitted == nil {
		p.emitted = map[string]bool{}
	}
	isFirst := !p.emitted[hat]
	p.emitted[hat] = true
	return isFirst
}

// Text says what came of the last n runs, none of which made progress: "the last 3 iterations changed nothing".
func (p *Policy) Text(n int) string {
	last := "the last " + format.Counted(n, "iteration")
	if n == 1 {
		last = "the last iteration"
	}
	switch {
	case p.alike >= n:
		return last + " " + changedNothing
	case p.how == changedNothing:
		return last + " " + nothingNew + ", and the last one " + changedNothing
	case p.how == "": // that was before a crash
		return last + " " + nothingNew
	}
	return last + " " + nothingNew + ": " + p.how
}

// toldFrom is how many runs in a row without progress the next one is told of.
func toldFrom(limit int) int { return min(3, (limit+1)/2) }

// Message is what the next run is told: that n runs in a row made no progress, and what the last one tried again and again; "" is
// nothing.
func (p *Policy) Message(n, limit int) string {
	var said []string
	if limit > 0 && n >= toldFrom(limit) {
		said = append(said, fmt.Sprintf("This loop makes no progress: %s. Don't do the same once more. Find out what is in the "+
			"way and try something else, "+
			"or write down for the next iteration what is missing. After %s the loop ends.", p.Text(n), inARow(limit)))
	}
	if p.Repeated != "" {
		said = append(said, p.Repeated+" in the last iteration, each time with the same input. Find out why before you do that again.")
	}
	return strings.Join(said, "\n\n")
}

func inARow(limit int) string { return format.Counted(limit, "such iteration") + " in a row" }
