package answers

import (
	"cmp"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// HistoryParams is the argument of ralph.loop.history.
type HistoryParams struct {
	Folder string `json:"folder,omitempty"` // file URI
	Limit  int    `json:"limit,omitempty"`  // 0: all that is known
}

// HistoryResult lists the loops that ended in a folder, newest first.
type HistoryResult struct {
	Loops []PastLoop `json:"loops"`
}

// PastLoop is a loop that ended, or was interrupted: then it lacks what only an end tells.
type PastLoop struct {
	LoopID         string          `json:"loopId"`
	Title          string          `json:"title"` // of the prompt, one line
	Backend        string          `json:"backend,omitempty"`
	StartedAt      time.Time       `json:"startedAt"`
	StopReason     string          `json:"stopReason"`
	Promise        string          `json:"promise,omitempty"`
	Iterations     int             `json:"iterations"`
	Cost           stream.Cost     `json:"costUsd,omitzero"`
	Tokens         stream.Tokens   `json:"tokens,omitzero"`
	Duration       stream.Duration `json:"durationMs"`
	Error          string          `json:"error,omitempty"`
	SessionFileURI string          `json:"sessionFileUri"`
	Branch         string          `json:"branch,omitempty"`   // of the worktree that it worked in
	LandedOn       string          `json:"landedOn,omitempty"` // the branch that has its work, where the worktree has landed
	Commit         string          `json:"commit,omitempty"`   // of that branch then
	Text           string          `json:"text"`               // how it ended, and what became of its branch, in one line
	Class          wire.Class      `json:"class"`
	Can            []string        `json:"can,omitempty"`   // each a Can
	Talks          []wire.Talk     `json:"talks,omitempty"` // as in a status
}

// PromptsParams is the argument of ralph.loop.prompts.
type PromptsParams struct {
	Folder string `json:"folder,omitempty"` // file URI; "": all that are open
	Limit  int    `json:"limit,omitempty"`  // 0: as many as there may be
}

// PromptsResult lists what the last 1000 loops were started with: each prompt once, the newest first, at most 20, and
// none above 64 KiB.
type PromptsResult struct {
	Prompts []PastPrompt `json:"prompts"`
}

// PastPrompt is what loops were started with.
type PastPrompt struct {
	Text   string    `json:"text"`   // as it was given
	Title  string    `json:"title"`  // of it, one line
	At     time.Time `json:"at"`     // of the last start
	Folder string    `json:"folder"` // file URI, of the last start
	Uses   int       `json:"uses"`   // loops that were started with it
}

// PastIn is PastOf, with the worktree.
func PastIn(p loop.Past) PastLoop {
	past := PastOf(p)
	if t := p.Tree; t != nil {
		past.Branch, past.LandedOn, past.Commit = stream.Sanitize(t.Branch), stream.Sanitize(t.Into), t.Commit
		past.Text = wire.JoinFacts(past.Text, FateText(*t))
	}
	return past
}

// FateText says what became of a worktree.
func FateText(t worktree.Past) string {
	branch := stream.Sanitize(t.Branch)
	switch {
	case t.Fate == worktree.FateLanded && t.Commit != "":
		return branch + " landed on " + stream.Sanitize(t.Into) + " (" + t.Commit[:min(len(t.Commit), 9)] + ")"
	case t.Fate == worktree.FateLanded:
		return branch + " landed on " + stream.Sanitize(t.Into)
	case t.Ref != "":
		return branch + " was discarded, " + stream.Sanitize(t.Ref) + " has it"
	case t.Fate == worktree.FateDiscarded:
		return branch + " was discarded"
	case t.Here:
		return "in the worktree of " + branch
	}
	return "the worktree of " + branch + " is gone"
}

// PastOf returns the wire's form of a loop that is kept. One without an end
// was interrupted.
func PastOf(p loop.Past) PastLoop {
	past := PastLoop{
		LoopID: p.LoopID, Title: cmp.Or(stream.Sanitize(p.Title), p.LoopID), Backend: p.Backend, StartedAt: history.TimeOf(p.StartedAt),
		StopReason: string(loop.StopInterrupted), Iterations: p.Iteration, SessionFileURI: wire.FileURI(p.SessionFile),
		Can: []string{wire.CanReview, wire.CanUndo},
	}
	ending := loop.StopInterrupted.Ending()
	past.Text, past.Class = ending.With(" after "+format.Counted(p.Iteration, "iteration")), ending.Class
	if end, ok := loop.RecordOf(p.Entry); ok {
		past.Text, past.Class = wire.EndText(end), end.Reason.Ending().Class
		past.StopReason, past.Promise, past.Iterations, past.Error = string(end.Reason), end.Promise, end.Iterations, stream.Sanitize(end.Error)
		past.Cost, past.Duration, past.Tokens = wire.CostOf(end.Cost), end.Duration, history.TokensOf(end.Tokens)
	}
	return past
}
