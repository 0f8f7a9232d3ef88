package worktree

import (
	"fmt"
	"strings"
)

// Reason is why a landing is refused.
type Reason string

const (
	ReasonConflict    Reason = "conflict"    // both sides changed the same
	ReasonUncommitted Reason = "uncommitted" // it would touch the user's work that isn't committed
	ReasonUnderWay    Reason = "under_way"   // a merge or a rebase, of the user's or of the agent's
	ReasonDetached    Reason = "detached"    // the user is on no branch
	ReasonElsewhere   Reason = "elsewhere"   // the user is on a branch that hasn't what the loop began with
	ReasonStrayed     Reason = "strayed"     // the agent has left the loop's branch
	ReasonNobody      Reason = "nobody"      // git doesn't know who commits
	ReasonUnsigned    Reason = "unsigned"    // a commit can't be signed
	ReasonLocked      Reason = "locked"      // another git is at work, or was killed
	ReasonOldGit      Reason = "old_git"
	ReasonRunning     Reason = "running" // the loop
	ReasonMessage     Reason = "message" // there is no commit to take it
)

// Refused is the error of a landing that changed nothing at all.
type Refused struct {
	Reason Reason
	Text   string     // a sentence without its full stop
	Paths  []InTheWay // in the order of their names
	Fix    []string   // what to do next: commands, or parts of sentences
}

// InTheWay is a file that keeps work from landing.
type InTheWay struct {
	Path string // slashes, below the work tree's top
	Why  string // a part of a sentence
}

func (r *Refused) Error() string {
	text := r.Text
	if n := len(r.Paths); n > 0 {
		var names []string
		for _, p := range r.Paths[:min(n, 5)] {
			names = append(names, p.Path)
		}
		if n > 5 {
			names = append(names, fmt.Sprintf("%d more", n-5))
		}
		text += ": " + strings.Join(names, ", ")
	}
	if len(r.Fix) > 0 {
		text += "; " + strings.Join(r.Fix, "; or ")
	}
	return text
}

func refuse(why Reason, text string, fix ...string) *Refused {
	return &Refused{Reason: why, Text: text, Fix: fix}
}
