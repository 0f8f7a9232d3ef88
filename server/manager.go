package server

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/documents"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/findings"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// manager answers commands. It only puts its parts together.
type manager struct {
	*env
	workspace   *workspace
	loops       *loops
	lookout     *lookout
	permissions *permissions
	afar        *afar
	launcher    *launcher
	starter     *starter
	controls    *controls
	reader      *reader
	reviewer    *reviewer
	agents      *agents
	turns       turns.Turns
	commands    map[string]command
}

// env is what all parts of a manager have.
type env struct {
	ed      client.Editor
	version string
	keep    Keep
	log     *slog.Logger
	user    dialog
	docs    openDocuments
	status  *feed.Status

	sessions journal.Sessions
	problems *findings.Problems // of the loops' checks

	ctx   context.Context // ends with the editor
	leave context.CancelFunc
	wg    sync.WaitGroup // everything that runs for a folder or a loop
}

// changed tells the editor that a loop's state changed; folder "" only that the status did.
func (e *env) changed(folder string) {
	e.status.Changed(true)
	if folder != "" {
		e.docs.Republish(folder)
	}
}

// openDocuments are the documents that the editor has open.
type openDocuments interface {
	Republish(folder string)                     // its loop changed
	OpenText(path string) (text string, ok bool) // as the editor has it, saved or not
}

// newManager returns a manager without folders. Its docs are set before it is used.
func newManager(ed client.Editor, o Options, log *slog.Logger) *manager {
	e := &env{ed: ed, version: o.Version, keep: o.Keep, log: log, user: dialog{ed, new(atomic.Bool)}, problems: findings.New(ed)}
	e.ctx, e.leave = context.WithCancel(context.Background())
	w := &workspace{env: e, opened: make(chan struct{}, 1), folders: map[string]*folder{}, asked: map[askedOf]bool{}}
	q := &questions{env: e, workspace: w}
	a := &permissions{env: e, asked: map[askedQuestion]*asking{}}
	m := &manager{env: e, workspace: w, loops: &loops{w}, lookout: &lookout{e, w, q, a}, permissions: a, agents: &agents{}}
	m.afar = &afar{env: e, place: o.Elsewhere, workspace: w, permissions: a}
	m.launcher = &launcher{e, w, m.lookout, q, a}
	m.starter = &starter{env: e, workspace: w, loops: m.loops, launcher: m.launcher, agents: m.agents, questions: q}
	m.controls = &controls{e, w, m.loops, m.lookout, m.starter, a, m.afar}
	m.reader = &reader{e, w, m.loops, m.lookout, m.afar}
	m.reviewer = &reviewer{e, w, q, m.afar}
	m.commands = m.table()
	// These know each other: what happens in a folder may be a question, whose
	// answer changes what happens there.
	w.lookout, m.starter.controls = m.lookout, m.controls
	q.launcher, q.starter, q.controls, q.commands = m.launcher, m.starter, m.controls, m.commands
	e.status = feed.NewStatus(ed, m.snapshot)
	return m
}

// begin looks for the installed agents; called once after initialized, so that
// nothing of it delays the editor's start.
func (m *manager) begin() {
	m.wg.Go(func() { m.workspace.watchTrees(m.ctx) })
	m.afar.run()
	m.wg.Go(func() {
		asking := m.ctx
		for _, path := range m.workspace.list() {
			settings, _ := m.files(path).Load()
			asking = backends.ForLoop(asking, settings.Sandbox, path)
		}
		m.agents.probe(asking)
		for _, path := range m.workspace.list() {
			m.docs.Republish(path)
		}
	})
}

// snapshot is what ralph/status says of all loops, and of those elsewhere in general.
func (m *manager) snapshot() ([]wire.LoopStatus, string) {
	others, text := m.afar.list()
	return append(m.loops.snapshot(), others...), text
}

// view is what documents show of the loops.
func (m *manager) view() documents.Env {
	return struct {
		*workspace
		*loops
		*agents
		saver
	}{m.workspace, m.loops, m.agents, saver{m}}
}
