package server

import (
	"log/slog"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/documents"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/remote"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/server/transcript"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// manager answers commands. It only puts its parts together.
type manager struct {
	*session.Session
	version     string
	workspace   *folders.Workspace
	permissions *permission.Requests
	remote      *remote.Loops
	launcher    *launcher
	starter     *starter
	controls    *controls
	reader      *reader
	reviewer    *reviewer
	agents      *agents
	turns       turns.Turns
	commands    map[string]command
}

// newManager returns a manager without folders. Its docs are set before it is used.
func newManager(ed client.Editor, o Options, log *slog.Logger) *manager {
	e := session.New(ed, log)
	a := permission.New(e)
	w := folders.New(e, a)
	q := &questions{Session: e, workspace: w}
	m := &manager{Session: e, version: o.Version, workspace: w, permissions: a, agents: &agents{}}
	m.remote = remote.New(e, o.Remote, w, a)
	find := finder{e, w, m.remote}
	loops := service.Commands{Service: &service.Service{Files: e.Files, Remote: o.Remote}, Find: commanded{find}}
	m.launcher = &launcher{e, loops, w, q, a, o.Returns}
	m.starter = &starter{Session: e, version: o.Version, workspace: w, launcher: m.launcher, agents: m.agents, questions: q}
	m.controls = &controls{e, loops, w, m.remote, m.starter, a}
	m.reader = &reader{find, loops.Service}
	e.Stories = transcript.New(ed, m.reader.logOf)
	m.reviewer = &reviewer{e, loops, w}
	m.commands = m.table()
	// These know each other: an event in a folder may be a question, and its answer changes the folder.
	w.Left, w.Meet, m.starter.controls = q.offerToContinue, m.launcher.meet, m.controls
	q.launcher, q.starter, q.commands = m.launcher, m.starter, m.commands
	e.Status = feed.NewStatus(ed, m.snapshot)
	return m
}

// begin looks for the installed agents; called once after initialized, so that
// nothing of it delays the editor's start.
func (m *manager) begin() {
	m.Work.Go(func() { m.workspace.WatchTrees(m.Ctx) })
	m.remote.Run()
	m.Work.Go(func() {
		asking := m.Ctx
		for _, path := range m.workspace.List() {
			settings, _ := m.Files(path).Load()
			asking = backends.ForLoop(asking, settings.Sandbox, path)
		}
		m.agents.probe(asking)
		for _, path := range m.workspace.List() {
			m.Docs.Republish(path)
		}
	})
}

// snapshot is what ralph/status says of all loops, and of those elsewhere in general.
func (m *manager) snapshot() ([]wire.LoopStatus, string) {
	others, text := m.remote.List()
	return append(m.workspace.Statuses(), others...), text
}

// view is what documents show of the loops.
func (m *manager) view() documents.Env {
	return struct {
		*folders.Workspace
		*agents
		saver
		*plans
	}{m.workspace, m.agents, saver{m}, &plans{session: m.Session, workspace: m.workspace, logs: map[string]planLog{}}}
}
