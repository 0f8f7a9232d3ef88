package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Begin lets a process begin a loop, and remembers that this user started it: the loop may go on later without asking
// for trust again. prepare, which may be nil, gets the connection before the process writes anything. Its errors are
// those of client.Connection.Begin.
func Begin(cfg setup.Config, files config.Files, hello client.Hello, prepare func(*client.Connection)) (*client.Connection, error) {
	data, err := cfg.Encode()
	if err != nil {
		return nil, err
	}
	c, err := client.Spawn()
	if err != nil {
		return nil, err
	}
	if prepare != nil {
		prepare(c)
	}
	if err := c.Begin(data, hello); err != nil {
		return nil, err
	}
	start.Remember(files, cfg, c.LoopID())
	return c, nil
}

// Models has loops for the models of a client that shows nothing of them. Its loops are the client's: they end with it, but for those
// that are to be kept.
type Models struct {
	*Service
	Starter
	// Returns is how long a loop goes on without the client, in which an editor's window of the folder may take it.
	Returns time.Duration

	mu    sync.Mutex
	loops map[string]*client.Connection
}

// Call does what a model asks for, see Tools.Call. The folders are file URIs.
func (m *Models) Call(ctx context.Context, p answers.ToolParams) (answers.ToolResult, error) {
	var folders []string
	for _, uri := range p.Folders {
		path, err := wire.PathOf(uri)
		if err != nil {
			return answers.ToolResult{}, wire.Failed(wire.ReasonNoFolder, err)
		}
		folders = append(folders, path)
	}
	tools := Tools{
		Loops: func(context.Context) ([]wire.LoopStatus, error) { return m.loopsIn(folders), nil },
		Preview: func(ctx context.Context, p wire.StartParams) (would answers.DryRunResult, err error) {
			wanted, err := m.request(p)
			if err != nil {
				return would, err
			}
			return m.Preview(ctx, wanted, nil)
		},
		Changes: func(ctx context.Context, p wire.LoopParams) (result answers.ChangesResult, err error) {
			work, err := m.Work(ctx, Which{LoopID: p.LoopID, Folders: folders})
			if err != nil {
				return result, err
			}
			found, err := work.Changes(ctx, ChangesRequest{})
			return answers.ChangesOf(wire.ChangesParams{}, work.Folder, found.Files, found.Iterations), err
		},
	}
	result, err := tools.Call(ctx, p, folders)
	return result, asTold(err)
}

// asTold is an error in the words that all clients are told.
func asTold(err error) error {
	if f := Told(err); f != nil {
		return f
	}
	return err
}

// loopsIn are the loops of folders and of their worktrees, or those that ended there last; those first that need their user.
func (m *Models) loopsIn(folders []string) []wire.LoopStatus {
	known := map[string]loop.Status{}
	add := func(st loop.Status) {
		if last := st.Last; st.State == wire.StateIdle && last != nil {
			st = last.Status
			st.State, st.Last = loop.StateEnded, last
		}
		if st.State != wire.StateIdle {
			known[st.LoopID] = st
		}
	}
	for _, folder := range folders {
		if here, err := m.LoopIn(folder); err == nil {
			add(here)
		}
		elsewhere, _ := m.LoopsInTrees(folder)
		for _, st := range elsewhere {
			add(st)
		}
	}
	mine := m.own()
	for id, st := range mine { // even if their state files say otherwise by now
		known[id] = st
	}
	loops := []wire.LoopStatus{}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		_, isMine := mine[id]
		loops = append(loops, wire.StatusOf(known[id], isMine))
	}
	wire.TellApart(loops)
	return wire.SortByNeed(loops)
}

// own are the client's loops that run, by their ids.
func (m *Models) own() map[string]loop.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := map[string]loop.Status{}
	for id, c := range m.loops {
		own[id] = c.Status()
	}
	return own
}

func (m *Models) request(p wire.StartParams) (Start, error) {
	folder, err := wire.PathOf(p.Folder)
	if err != nil {
		return Start{}, wire.Failed(wire.ReasonNoFolder, err)
	}
	return m.Request(folder, p)
}

// Agreed does what an offer says that Call has made, once the client's user has agreed to it.
func (m *Models) Agreed(ctx context.Context, offer wire.Command) (answers.Reply, error) {
	reply, err := m.agreed(ctx, offer)
	return reply, asTold(err)
}

func (m *Models) agreed(ctx context.Context, offer wire.Command) (answers.Reply, error) {
	switch p := offer.Arguments[0].(type) {
	case *wire.StartParams:
		return m.start(ctx, *p)
	case *wire.SteerParams:
		folder, err := wire.PathOf(p.Folder)
		if err != nil {
			return answers.Reply{}, err
		}
		done, err := m.Do(loop.Other{Folder: folder, LoopID: p.LoopID}, Steer{loop.Steering{Text: p.Text, Once: p.Once}})
		return answers.Reply{LoopID: done.LoopID, Text: done.Text}, err
	}
	return answers.Reply{}, fmt.Errorf("nothing offers %s", offer.Command)
}

func (m *Models) start(ctx context.Context, p wire.StartParams) (answers.Reply, error) {
	wanted, err := m.request(p)
	if err != nil {
		return answers.Reply{}, err
	}
	files := m.Starter.Files(wanted.Folder)
	settings, err := LoadSettings(files)
	if err != nil {
		return answers.Reply{}, err
	}
	cfg, _, err := m.Config(ctx, wanted, settings)
	if err != nil {
		return answers.Reply{}, err
	}
	if _, _, err := CheckStart(cfg); err != nil {
		return answers.Reply{}, err
	}
	c, err := Begin(cfg, files, m.hello(cfg), nil)
	if err != nil {
		return answers.Reply{}, err
	}
	m.hold(c)
	reply := answers.Reply{LoopID: c.LoopID()}
	for _, warning := range cfg.Warnings {
		reply.Warnings = append(reply.Warnings, wire.Whole(warning))
	}
	return reply, nil
}

// hello is what the client's window says of itself, to the process of a loop with a configuration.
func (m *Models) hello(cfg setup.Config) client.Hello {
	return client.Hello{Editor: true, Returns: m.Returns, Answers: true, Owns: cfg.Said.OnClose != settings.OnCloseKeep}
}

// hold keeps a loop of the client's connected until it is over. Its updates are in its log.
func (m *Models) hold(c *client.Connection) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loops == nil {
		m.loops = map[string]*client.Connection{}
	}
	m.loops[c.LoopID()] = c
	go func() {
		for {
			select {
			case <-c.News():
				c.Next(false)
				continue
			case <-c.Over():
			}
			if !c.HasLeft() {
				_, _ = c.End() // which ends what a killed process has left over
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.loops, c.LoopID())
			return
		}
	}()
}

// Close lets go of the client's loops.
func (m *Models) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.loops {
		c.Close()
	}
}
