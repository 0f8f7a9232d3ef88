package wire

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// LandParams is the argument of ralph.loop.land: what a loop did in its worktree comes
// to the user's branch, or is discarded. The loop is named by its id or its branch,
// and a folder of the repository, or by the folder of the worktree.
type LandParams struct {
	LoopParams
	Text      string `json:"text,omitempty"`      // the loop and flags as a person types them: "fix-it --squash"
	How       string `json:"how,omitempty"`       // "merge", if it isn't said, "squash" or "rebase"
	Message   string `json:"message,omitempty"`   // of the commit that landing makes
	Keep      bool   `json:"keep,omitempty"`      // the worktree and its branch stay
	Discard   bool   `json:"discard,omitempty"`   // don't land it: remove the worktree and its branch
	Confirmed bool   `json:"confirmed,omitempty"` // the user knows what is discarded; else it is only told
	DryRun    bool   `json:"dryRun,omitempty"`    // nothing is written, and nobody asked
}

// Typed reads what the user typed; the other keys win over it.
func (p *LandParams) Typed() error {
	l, err := start.ParseLanding(p.Text)
	if err != nil {
		return err
	}
	return p.Take(l)
}

// Take takes what a landing is asked for by flags.
func (p *LandParams) Take(l start.Landing) error {
	how, err := l.How()
	if err != nil {
		return err
	}
	p.LoopID, p.Message, p.How, p.Text = cmp.Or(p.LoopID, l.Name), cmp.Or(p.Message, l.Message), cmp.Or(p.How, string(how)), ""
	p.Keep, p.Discard, p.DryRun = p.Keep || l.Keep, p.Discard || l.Discard, p.DryRun || l.DryRun
	return nil
}

// Options are what the parameters ask for. The error says what can't be.
func (p LandParams) Options() (worktree.LandOptions, error) {
	o := worktree.LandOptions{How: worktree.How(p.How), Message: p.Message, Keep: p.Keep, DryRun: p.DryRun}
	switch o.How {
	case worktree.HowMerge, worktree.HowSquash, worktree.HowRebase:
		return o, nil
	}
	return o, fmt.Errorf("how is %q: say merge, squash or rebase", p.How)
}

// LandResult is what came of a landing. One that was refused changed nothing at all.
type LandResult struct {
	Text    string        `json:"text"`
	Class   Class         `json:"class"`
	Commit  string        `json:"commit,omitempty"`  // where the user's branch is now
	Reason  string        `json:"reason,omitempty"`  // of a refusal: a worktree.Reason
	Refused []RefusedFile `json:"refused,omitempty"` // the files that are in the way
	Next    []string      `json:"next,omitempty"`    // of a refusal: what to do, one of these
	Offers  []Command     `json:"offers,omitempty"`
}

// LandedOf tells what came of a landing.
func LandedOf(p LandParams, done worktree.Landed) LandResult {
	r := LandResult{Class: ClassOK, Commit: done.Commit}
	branch, into := OneLine(done.Branch), OneLine(done.Into)
	what := fmt.Sprintf("%s of %s on %s (%s)", tell.Counted(done.Commits, "commit"), branch, into, tell.Counted(done.Files, "file"))
	if n := len(done.Leftover); n > 0 && !done.Already {
		what += fmt.Sprintf(", %s committed first", filesNotCommitted(n))
	}
	switch {
	case done.Already:
		r.Text, r.Class = fmt.Sprintf("nothing to land: %s has all of %s", into, branch), ClassInfo
	case p.DryRun:
		r.Text = "would land " + what
	default:
		r.Text = "landed " + what
	}
	switch {
	case done.Gone:
		r.Text += "; the worktree is removed"
	case done.Stays != "":
		r.Text += "; the worktree stays: " + whole(done.Stays)
		r.Class = ClassWarning
	}
	return r
}

// whole is a text in one line that ends with a command line: half of one is of no use.
func whole(s string) string { return stream.Line(s, maxProblem) }

func filesNotCommitted(n int) string { return tell.Counted(n, "uncommitted file") }

// NothingLanded begins what is said of a landing that was refused.
const NothingLanded = "nothing landed: "

// LandRefused tells why nothing was landed, and what can be done.
func LandRefused(p LandParams, e *worktree.Refused) LandResult {
	r := LandResult{Text: NothingLanded + OneLine(e.Error()), Class: ClassWarning, Reason: string(e.Reason)}
	for _, f := range e.Paths {
		path := PathText(f.Path)
		r.Refused = append(r.Refused, RefusedFile{Path: path, Reason: f.Why, Text: OneLine(path) + ": " + f.Why})
	}
	for _, next := range e.Fix {
		r.Next = append(r.Next, whole(next))
	}
	again := func(title string, change func(*LandParams)) {
		with := p
		change(&with)
		r.Offers = append(r.Offers, Command{title, CommandLand, []any{with}})
	}
	switch e.Reason {
	case worktree.ReasonRunning:
		r.Offers = []Command{{"Cancel the Loop", CommandCancel, []any{p.LoopParams}}}
	case worktree.ReasonElsewhere:
		again("Land Squashed", func(p *LandParams) { p.How = string(worktree.HowSquash) })
	case worktree.ReasonOldGit, worktree.ReasonMessage:
	default:
		again("Land Again", func(*LandParams) {})
	}
	return r
}

// DiscardQuestion asks whether to discard a worktree, with what would be lost.
func DiscardQuestion(p LandParams, would worktree.Discarded) LandResult {
	r := LandResult{Text: "Discard " + OneLine(would.Branch) + "? " + lostText(would), Class: ClassWarning}
	if !p.DryRun {
		yes := p
		yes.Confirmed = true
		r.Offers = []Command{{TitleDiscardTree, CommandLand, []any{yes}}}
	}
	return r
}

// TitleDiscardTree is the word for removing a worktree with what is in it.
const TitleDiscardTree = "Discard Worktree"

// lostText says what a discard takes away, and what keeps it.
func lostText(d worktree.Discarded) string {
	var lost []string
	if n := len(d.Commits); n > 0 {
		lost = append(lost, fmt.Sprintf("%s that didn't land (the last one: %s)", tell.Counted(n, "commit"), OneLine(d.Commits[0])))
	}
	if n := len(d.Leftover); n > 0 {
		lost = append(lost, filesNotCommitted(n)+" ("+OneLine(namesText(pathTexts(d.Leftover)))+")")
	}
	if len(lost) == 0 {
		return "Nothing in it is lost but what git ignores."
	}
	return "It has " + strings.Join(lost, " and ") + ". " + OneLine(d.Ref) + " keeps that; what git ignores is gone."
}

// DiscardedOf tells what became of a worktree that was discarded.
func DiscardedOf(d worktree.Discarded) LandResult {
	r := LandResult{Text: "discarded " + OneLine(d.Branch), Class: ClassOK}
	if d.Ref != "" {
		r.Text += "; back with: git branch " + tell.ShellWord(whole(d.Branch)) + " " + tell.ShellWord(whole(d.Ref))
	}
	if d.Stays != "" {
		r.Text, r.Class = "the worktree of "+OneLine(d.Branch)+" stays: "+whole(d.Stays), ClassWarning
	}
	return r
}

// NothingDiscarded is the result of a discard that the user didn't want.
func NothingDiscarded() LandResult {
	return LandResult{Text: "nothing was discarded", Class: ClassInfo}
}

// offersOfTree are what can be done with the worktree of a loop that is over.
func offersOfTree(s loop.Status) []Command {
	if s.Worktree == nil {
		return nil
	}
	it := LoopParams{LoopID: s.LoopID, Folder: FileURI(s.Folder)}
	return []Command{
		{"Land", CommandLand, []any{LandParams{LoopParams: it}}},
		{TitleDiscardTree, CommandLand, []any{LandParams{LoopParams: it, Discard: true}}},
	}
}
