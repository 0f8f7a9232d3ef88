package wire

import (
	"cmp"
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// LandParams is the argument of ralph.loop.land: the work of a loop in its worktree is merged into the user's branch,
// or discarded. The loop is named by its id or its branch with a folder of the repository, or by the folder of the
// worktree.
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

// TitleDiscardTree is the word for removing a worktree with what is in it.
const TitleDiscardTree = "Discard Worktree"

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
