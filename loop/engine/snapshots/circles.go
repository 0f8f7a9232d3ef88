package snapshots

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/deeds"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Circles are how the loop knows that it turns in them: iteration after iteration
// brings nothing new. Where it can't know, it doesn't. Only the engine's goroutine
// uses them; how many there are in a row, the state file has.
type Circles struct {
	Trees   stream.Recent[int] // the content of the files, and after which iteration it was first so
	Now     changes.State      // of the folder, as it was looked at last
	ByUser  bool               // somebody else changed it since
	CutOff  bool               // or an agent whose loop was killed
	prompt  string             // of the last run
	Refuted string             // the last refutation of a promise, but for what is new each time
	how     string             // what was wrong with the last of those in a row
	alike   int                // so many of them changed nothing
	handed  map[string]bool    // the hats that handed over since anything was new
	Stuck   string             // the call that failed again and again in the last run, in words
}

// course is where a run has brought the loop.
type course int

const (
	unsure  course = iota // it says nothing: the run failed, waited, or nobody can tell
	onward                // something is new
	turning               // nothing is
)

// Passage is what there is to know of a run.
type Passage struct {
	Iteration  int
	Prompt     string
	Told       bool // its user said something besides
	Outcome    loop.Outcome
	Hindered   bool   // by the provider, or by permissions that it hasn't
	Promised   bool   // to be done
	Refutation string // of that promise; "" for none
	Checked    bool   // what verifies its work may have written, too
	Waited     bool   // on purpose, for something else
	HandedBy   string // the hat that handed over, "" for none
	Deeds      *deeds.Deeds

	before, after changes.State
	byUser        bool // the user has said or changed something before it
	beyond        func() bool
}

// These complete "the last 3 iterations".
const (
	changedNothing = "changed nothing"
	nothingNew     = "brought nothing new"
)

// Find takes note of the folder as the next run finds it.
func (c *Circles) Find(now changes.State, iteration int) {
	if now.Tree == "" {
		return
	}
	isOther := c.Now.Tree != "" && now.Tree != c.Now.Tree && !c.CutOff
	if isOther { // to go back is up to the user
		c.Trees = stream.Recent[int]{}
	}
	c.ByUser = c.ByUser || isOther || c.Now.Aside != 0 && now.Aside != c.Now.Aside
	c.Now, c.CutOff = now, false
	c.add(now.Tree, iteration)
}

// TakeUp begins with the trees of a loop that goes on.
func (c *Circles) TakeUp(trees []changes.Past) {
	for _, past := range trees {
		c.add(past.Tree, past.Iteration)
		c.Now = changes.State{Tree: past.Tree}
	}
}

// add remembers a tree. It returns after which iteration it was there already.
func (c *Circles) add(tree string, iteration int) (earlier int, ok bool) {
	if earlier, ok = c.Trees.Get(tree); !ok {
		c.Trees.Put(tree, iteration)
	}
	return earlier, ok
}

// judge says where a run has brought the loop, and how it turned.
func (c *Circles) judge(p Passage) (course, string) {
	isKnown := p.before.Tree != "" && p.after.Tree != ""
	isSame := isKnown && p.before == p.after && !p.after.Blind
	var isBack bool
	var earlier int
	if p.after.Tree != "" {
		earlier, isBack = c.add(p.after.Tree, p.Iteration)
		isBack = isBack && isKnown && p.before.Tree != p.after.Tree && !p.after.Blind
	}
	isNew := isKnown && p.before.Tree != p.after.Tree && !isBack
	if p.Refutation != "" {
		last := c.Refuted
		if c.Refuted = deeds.Lasting(p.Refutation); c.Refuted == last {
			return turning, "its promise was refuted as the one before"
		}
	}
	switch {
	case p.Outcome != loop.OutcomeOK, p.Hindered:
		if isNew {
			return onward, ""
		}
		return unsure, ""
	case isNew, p.beyond():
		return onward, ""
	case isBack:
		return turning, "the files are as they were " + afterIteration(earlier)
	case p.Promised:
		return onward, ""
	case isSame && !p.Waited:
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

// Count says how many runs in a row have brought nothing new, after another one.
func (s *Taker) Count(n int, p Passage) int {
	c := &s.Circles
	p.before, p.after = s.Found, c.Now
	p.byUser = c.ByUser || p.Told || c.prompt != "" && c.prompt != p.Prompt
	c.ByUser, c.prompt, c.Stuck = false, p.Prompt, p.Deeds.StuckText()
	p.Waited = p.Waited || p.HandedBy != "" && c.isFirst(p.HandedBy) // who hands over waits for others
	p.beyond = func() bool { return s.wroteBeyond(p.Deeds.Wrote) }
	if p.Checked {
		s.Last = time.Time{} // what the check wrote is no run's work
	}
	return c.count(n, p)
}

// count is Count for a run of which all is known.
func (c *Circles) count(n int, p Passage) int {
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
func (c *Circles) isFirst(hat string) bool {
	if c.handed == nil {
		c.handed = map[string]bool{}
	}
	isFirst := !c.handed[hat]
	c.handed[hat] = true
	return isFirst
}

// Words say what came of the last n runs, of which each brought nothing new:
// "the last 3 iterations changed nothing".
func (c *Circles) Words(n int) string {
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

// ToldFrom is how many runs in a row without progress the next one is told of.
func ToldFrom(limit int) int { return min(3, (limit+1)/2) }

// Rule tells a run that the loop turns in circles, and what the one before tried
// again and again; "" when there is nothing to tell.
func (c *Circles) Rule(n, limit int) string {
	var said []string
	if limit > 0 && n >= ToldFrom(limit) {
		said = append(said, fmt.Sprintf("This loop makes no progress: %s. Don't do the same once more. Find out what is in the way and try something else, "+
			"or write down for the next iteration what is missing. After %s the loop ends.", c.Words(n), InARow(limit)))
	}
	if c.Stuck != "" {
		said = append(said, c.Stuck+" in the last iteration, each time with the same input. Find out why before you do that again.")
	}
	return strings.Join(said, "\n\n")
}

func InARow(limit int) string { return tell.Counted(limit, "such iteration") + " in a row" }

// wroteBeyond says whether an agent's tools wrote to a file that snapshots don't have.
func (s *Taker) wroteBeyond(files []string) bool {
	for _, file := range files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.Folder, file)
		}
		if s.Store != nil && !s.Store.Snapshots.Shows(s.Going, file) || s.bare != nil && !s.bare.Shows(file) {
			return true
		}
	}
	return false
}

// OnlyChanged says whether it is known that an iteration changed nothing but one file.
func (s *Taker) OnlyChanged(path string, iteration int, wrote []string) bool {
	if s.Store == nil || iteration == 0 || s.Now.Tree == "" || s.Now.Blind || s.Found.Aside != s.Now.Aside || s.wroteBeyond(wrote) {
		return false
	}
	files, err := s.Store.Diff.Files(s.Alive, changes.Range{From: iteration - 1, To: iteration}, nil)
	return err == nil && !slices.ContainsFunc(files, func(f changes.File) bool { return f.Path != path })
}
