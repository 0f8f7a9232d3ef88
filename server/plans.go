package server

import (
	"sync"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/documents"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// plans finds what documents show of the plans of folders.
type plans struct {
	session   *session.Session
	workspace *folders.Workspace

	mu   sync.Mutex
	logs map[string]planLog // by folder
}

// planLog is the journal of a folder's last loop that had a plan.
type planLog struct {
	loopID string
	*journal.Reader
}

// PlansIn implements documents.Env.
func (p *plans) PlansIn(folder string) (known documents.Plans) {
	known.Settings, _ = p.session.Files(folder).Load() // an unreadable or untrusted file names no plan
	var err error
	if known.Loop, err = loop.FolderStatus(folder); err != nil { // no loop can go on: which one was the last?
		last, _ := loop.LastIn(folder)
		known.Loop = last.Status
	}
	if known.Loop.Plan == "" {
		return known
	}
	if s, ok := p.workspace.LoopIn(folder); ok && s.LoopID == known.Loop.LoopID && s.Backend != nil {
		known.Loop.Session.Backend = s.Backend.Name
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	log := p.logs[folder]
	if log.loopID != known.Loop.LoopID {
		reader, err := journal.Open(known.Loop.LoopID)
		if err != nil { // it isn't there yet, or any more
			return known
		}
		log = planLog{known.Loop.LoopID, reader}
		p.logs[folder] = log
	}
	outline, _ := log.Outline(p.session.Ctx)
	known.Deeds = map[string]documents.Deed{}
	for _, data := range outline.Iterations {
		if u, _ := wire.Decode(data).(wire.IterationEnd); u.Task != "" {
			known.Deeds[u.Task] = documents.Deed{Iteration: u.Iteration, Cost: u.Cost}
		}
	}
	return known
}
