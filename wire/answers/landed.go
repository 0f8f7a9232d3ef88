package answers

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// LandResult is what came of a landing. One that was refused changed nothing at all.
type LandResult struct {
	Text    string         `json:"text"`
	Class   wire.Class     `json:"class"`
	Commit  string         `json:"commit,omitempty"`  // where the user's branch is now
	Reason  string         `json:"reason,omitempty"`  // of a refusal: conflict, uncommitted...
	Refused []RefusedFile  `json:"refused,omitempty"` // the files that are in the way
	Next    []string       `json:"next,omitempty"`    // of a refusal: what to do, one of these
	Offers  []wire.Command `json:"offers,omitempty"`
}

// LandedOf tells what came of a landing.
func LandedOf(p wire.LandParams, done worktree.Landed) LandResult {
	r := LandResult{Class: wire.ClassOK, Commit: done.Commit}
	branch, into := wire.OneLine(done.Branch), wire.OneLine(done.Into)
	what := fmt.Sprintf("%s of %s on %s (%s)", format.Counted(done.Commits, "commit"), branch, into, format.Counted(done.Files, "file"))
	if n := len(done.Leftover); n > 0 && !done.Already {
		what += fmt.Sprintf(", %s committed first", filesNotCommitted(n))
	}
	switch {
	case done.Already:
		r.Text, r.Class = fmt.Sprintf("nothing to land: %s has all of %s", into, branch), wire.ClassInfo
	case p.DryRun:
		r.Text = "would land " + what
	default:
		r.Text = "landed " + what
	}
	switch {
	case done.Gone:
		r.Text += "; the worktree is removed"
	case done.Stays != "":
		r.Text += "; the worktree stays: " + wire.Whole(done.Stays)
		r.Class = wire.ClassWarning
	}
	return r
}

func filesNotCommitted(n int) string { return format.Counted(n, "uncommitted file") }

// NothingLanded begins what is said of a landing that was refused.
const NothingLanded = "nothing landed: "

// LandRefused tells why nothing was landed, and what can be done.
func LandRefused(p wire.LandParams, e *worktree.Refused) LandResult {
	r := LandResult{Text: NothingLanded + wire.OneLine(e.Error()), Class: wire.ClassWarning, Reason: string(e.Reason)}
	for _, f := range e.Paths {
		path := PathText(f.Path)
		r.Refused = append(r.Refused, RefusedFile{Path: path, Reason: f.Why, Text: wire.OneLine(path) + ": " + f.Why})
	}
	for _, next := range e.Fix {
		r.Next = append(r.Next, wire.Whole(next))
	}
	again := func(title string, change func(*wire.LandParams)) {
		with := p
		change(&with)
		r.Offers = append(r.Offers, wire.Command{Title: title, Command: wire.CommandLand, Arguments: []any{with}})
	}
	switch e.Reason {
	case worktree.ReasonRunning:
		r.Offers = []wire.Command{{Title: "Cancel the Loop", Command: wire.CommandCancel, Arguments: []any{p.LoopParams}}}
	case worktree.ReasonElsewhere:
		again("Land Squashed", func(p *wire.LandParams) { p.How = string(worktree.HowSquash) })
	case worktree.ReasonOldGit, worktree.ReasonMessage:
	default:
		again("Land Again", func(*wire.LandParams) {})
	}
	return r
}

// DiscardQuestion asks whether to discard a worktree, with what would be lost.
func DiscardQuestion(p wire.LandParams, would worktree.Discarded) LandResult {
	r := LandResult{Text: "Discard " + wire.OneLine(would.Branch) + "? " + lostText(would), Class: wire.ClassWarning}
	if !p.DryRun {
		yes := p
		yes.Confirmed = true
		r.Offers = []wire.Command{{Title: wire.TitleDiscardTree, Command: wire.CommandLand, Arguments: []any{yes}}}
	}
	return r
}

// lostText says what a discard takes away, and what keeps it.
func lostText(d worktree.Discarded) string {
	var lost []string
	if n := len(d.Commits); n > 0 {
		lost = append(lost, fmt.Sprintf("%s that didn't land (the last one: %s)", format.Counted(n, "commit"), wire.OneLine(d.Commits[0])))
	}
	if n := len(d.Leftover); n > 0 {
		lost = append(lost, filesNotCommitted(n)+" ("+wire.OneLine(namesText(pathTexts(d.Leftover)))+")")
	}
	if len(lost) == 0 {
		return "Nothing in it is lost but what git ignores."
	}
	return "It has " + strings.Join(lost, " and ") + ". " + wire.OneLine(d.Ref) + " keeps that; what git ignores is gone."
}

// DiscardedOf tells what became of a worktree that was discarded.
func DiscardedOf(d worktree.Discarded) LandResult {
	r := LandResult{Text: "discarded " + wire.OneLine(d.Branch), Class: wire.ClassOK}
	if d.Ref != "" {
		r.Text += "; back with: git branch " + format.ShellWord(d.Branch) + " " + format.ShellWord(d.Ref)
	}
	if d.Stays != "" {
		r.Text, r.Class = "the worktree of "+wire.OneLine(d.Branch)+" stays: "+wire.Whole(d.Stays), wire.ClassWarning
	}
	return r
}

// NothingDiscarded is the result of a discard that the user didn't want.
func NothingDiscarded() LandResult {
	return LandResult{Text: "nothing was discarded", Class: wire.ClassInfo}
}
