package server

import (
	"context"
	"time"

	"ralph-lsp/loop"
)

// maxPast is how many loops of a folder are remembered.
const maxPast = 100

// HistoryParams is the argument of ralph.loop.history.
type HistoryParams struct {
	Folder string `json:"folder,omitempty"` // file URI
	Limit  int    `json:"limit,omitempty"`  // 0: all that is known
}

// HistoryResult lists the loops that ended in a folder, newest first.
type HistoryResult struct {
	Loops []PastLoop `json:"loops"`
}

// PastLoop is a loop that ended.
type PastLoop struct {
	LoopID     string    `json:"loopId"`
	Backend    string    `json:"backend,omitempty"`
	StartedAt  time.Time `json:"startedAt"`
	StopReason string    `json:"stopReason"`
	Promise    string    `json:"promise,omitempty"`
	Iterations int       `json:"iterations"`
	CostUSD    *float64  `json:"costUsd,omitempty"`
	Tokens     *Tokens   `json:"tokens,omitempty"`
	DurationMs int64     `json:"durationMs"`
	Error      string    `json:"error,omitempty"`
}

func pastLoop(r *managed, end loop.End) PastLoop {
	st := r.Status()
	return PastLoop{
		LoopID: st.LoopID, Backend: st.Session.Backend, StartedAt: st.StartedAt,
		StopReason: string(end.Reason), Promise: end.Promise, Iterations: end.Iterations,
		CostUSD: dollars(end.Cost), Tokens: projectTokens(end.Tokens), DurationMs: end.Duration.Milliseconds(), Error: end.Error,
	}
}

// history lists the loops that this process ran in a folder.
func (m *manager) history(_ context.Context, p HistoryParams) (any, error) {
	path, err := m.folderPath(p.Folder)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	past := []PastLoop{}
	if f := m.folders[path]; f != nil {
		past = append(past, f.past...)
	}
	if p.Limit > 0 {
		past = past[:min(p.Limit, len(past))]
	}
	return HistoryResult{past}, nil
}
