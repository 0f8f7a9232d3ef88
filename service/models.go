package service

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Models has loops for the models of a client that shows nothing of them. Its loops are the client's, see Window.
type Models struct{ Window }

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
		Commands: m.commands(),
		Loops:    func(context.Context) ([]wire.LoopStatus, error) { return m.loopsIn(folders), nil },
		Preview: func(ctx context.Context, p wire.StartParams) (would answers.DryRunResult, err error) {
			wanted, err := m.request(p)
			if err != nil {
				return would, err
			}
			return m.Starter.Preview(ctx, wanted, nil)
		},
	}
	result, err := tools.Call(ctx, p, folders)
	return result, asTold(err)
}

// loopsIn are the loops of folders and of their worktrees, or those that ended there last; those first that need their user.
func (m *Models) loopsIn(folders []string) []wire.LoopStatus {
	known := map[string]loop.Status{}
	for _, folder := range folders {
		here, _ := m.service().LoopIn(folder)
		elsewhere, _ := m.service().LoopsInTrees(folder)
		for _, st := range append(elsewhere, here) {
			if st, ok := lastOr(st); ok {
				known[st.LoopID] = st
			}
		}
	}
	mine := m.own()
	maps.Copy(known, mine) // whatever their state files say by now
	loops := []wire.LoopStatus{}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		_, isMine := mine[id]
		loops = append(loops, wire.StatusOf(known[id], isMine))
	}
	wire.Disambiguate(loops)
	return wire.SortByNeed(loops)
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
		done, err := m.commands().Ask(ctx, p.LoopParams, Steer{loop.Steering{Text: p.Text, Once: p.Once}})
		return answers.Reply{LoopID: done.LoopID, Text: done.Text}, err
	}
	return answers.Reply{}, fmt.Errorf("nothing offers %s", offer.Command)
}

func (m *Models) start(ctx context.Context, p wire.StartParams) (answers.Reply, error) {
	begun, err := m.Start(ctx, p, Listener{})
	if err != nil {
		return answers.Reply{}, err
	}
	go Drain(begun) // whoever opens its log reads it there
	return answers.Reply{LoopID: begun.LoopID(), Warnings: begun.Warnings}, nil
}
