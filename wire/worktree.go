package wire

import (
	"encoding/json"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// WorktreeParam is what a start says of a worktree: true, or the name of a branch; false
// and nothing are none.
type WorktreeParam struct {
	Wanted bool
	Branch string // "" is one that is named after the prompt
}

// UnmarshalJSON reads it.
func (p *WorktreeParam) UnmarshalJSON(data []byte) error {
	*p = WorktreeParam{}
	if json.Unmarshal(data, &p.Wanted) == nil {
		return nil
	}
	if json.Unmarshal(data, &p.Branch) != nil || p.Branch == "" {
		return errors.New("worktree: say true, or the name of a branch")
	}
	p.Wanted = true
	return nil
}

// MarshalJSON writes it.
func (p WorktreeParam) MarshalJSON() ([]byte, error) {
	if p.Branch != "" {
		return json.Marshal(p.Branch)
	}
	return json.Marshal(p.Wanted)
}

// Worktree is the worktree that a loop works in.
type Worktree struct {
	Branch     string `json:"branch"`
	Repository string `json:"repository"` // file URI of the folder that it was started in
	Path       string `json:"path"`       // file URI of its top; the loop's folder is that, or in it
}

func worktreeOf(t *worktree.Tree) *Worktree {
	if t == nil {
		return nil
	}
	return &Worktree{Branch: stream.Sanitize(t.Branch), Repository: FileURI(t.Repo), Path: FileURI(t.Path)}
}

// TreeIsGone is the row of a loop whose worktree isn't there any more.
var TreeIsGone = Detail{Label: "Removed", Text: "its worktree is gone: it has landed, or was discarded"}

// WorktreeRow says in a table which worktree a start would make.
func WorktreeRow(t worktree.Tree, withChanges bool) Detail {
	from := "from the last commit"
	switch {
	case withChanges:
		from = "from the files as they are"
	case !t.Made:
		from = "as it is"
	}
	return Detail{"Worktree", JoinFacts(Sentence(t.Branch)+", "+from, Sentence(t.Path))}
}
