package backends

import (
	"cmp"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/backends/acp"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// ACPPrefix is what the names of agents begin with that are spoken to by the Agent Client Protocol.
const ACPPrefix = "acp:"

// acpAgents are the known ones.
var acpAgents = sync.OnceValue(func() (all []Backend) {
	for _, a := range acp.Agents() {
		var b Backend
		if i := slices.IndexFunc(builtin, func(b Backend) bool { return b.Name == a.Like }); i >= 0 {
			b = builtin[i]
		}
		b.Name, b.Command, b.Args, b.InteractiveArgs = ACPPrefix+a.Name, a.Command, a.Args, nil
		b.May, b.Install = cmp.Or(a.May, b.May), cmp.Or(a.Install, b.Install)
		b.Env = slices.Concat(a.Env, b.Env)
		if a.Own != "" {
			b.Inside.Own = slices.Concat(b.Inside.Own, []sandbox.Own{{Path: a.Own}})
		}
		if a.Meta != nil {
			b.Hooks.Off = []string{} // it is Meta that turns them off
		}
		all = append(all, speaksACP(b, a))
	}
	return all
})

// speaksACP makes a backend speak the protocol: its runs are live, with or without a user. No argument of a headless
// run applies to it.
func speaksACP(b Backend, a acp.Agent) Backend {
	askMay := "asks you what it would ask its own user"
	if a.AskMode == "" && b.May != everything {
		askMay = "asks you what it asks in its own mode, if anything"
	} else if a.AskMode == "" {
		askMay = everything
	}
	return Backend{
		Name: b.Name, Command: b.Command, Args: b.Args, InteractiveArgs: b.InteractiveArgs, May: b.May,
		Prompt: PromptLive, Output: decode.FormatACP, NoCost: !a.Cost, SlashCommands: true,
		Hooks: Hooks{Off: b.Hooks.Off}, Brings: b.Brings, Inside: b.Inside, Env: b.Env, Kept: b.Kept,
		Install: b.Install, Needs: b.Needs,
		Live: &Live{Silent: b.Args, ACP: &a, AskMay: askMay},
	}
}

// CustomACP is an agent of the user's own that speaks the protocol.
func CustomACP(command string, args []string, a acp.Agent) Backend {
	return speaksACP(Custom(command, args, PromptLive, decode.FormatACP), a).WithModes(a.Mode, a.AskMode)
}

// withACP is the backend with something else about its agent.
func (b Backend) withACP(change func(*acp.Agent)) Backend {
	if b.Live != nil && b.Live.ACP != nil {
		live, a := *b.Live, *b.Live.ACP
		change(&a)
		live.ACP, b.Live = &a, &live
	}
	return b
}

// WithHooks is the backend whose user's own hooks run.
func (b Backend) WithHooks() Backend {
	b.Hooks.Off = nil
	return b.withACP(func(a *acp.Agent) { a.Meta = a.Hooked })
}

// WithModes is the backend with other modes, where they are named.
func (b Backend) WithModes(mode, askMode string) Backend {
	if mode != "" && b.Live != nil && b.Live.ACP != nil {
		b.May = "may do what its mode " + mode + " allows"
	}
	return b.withACP(func(a *acp.Agent) { a.Mode, a.AskMode = cmp.Or(mode, a.Mode), cmp.Or(askMode, a.AskMode) })
}

// openACP makes the conversation of a run in a folder with an agent that speaks the protocol.
func openACP(agent acp.Agent, dir string) *dialect {
	var r *acp.Run
	return &dialect{
		Prompt: func(_, text string) any {
			r = acp.New(dir, agent.Mode, text, agent.Meta)
			return r.Open()
		},
		Answered: func(e stream.Answered) (any, string) { return r.Answered(e) },
		Steer:    func(id, text string) any { return r.Steer(id, text) },
		TakeBack: func([]string) []any { return nil }, // its messages are in its queue
		Abort:    func(string) any { return r.Abort() },
		Bye:      func() any { return r.Bye() },
		Refuse:   acp.Refuse,
		Answer: func(q stream.Question, a Answer) []any {
			frames := []any{r.Answer(q, a.Yes)}
			// a no has no words in the protocol, and behind it they may come too late
			if !a.Yes && a.Text != "" && a.Text != nobody && acp.Refuse(q) == "" {
				if word := r.Steer(newUUID(), a.Text); word != nil {
					frames = []any{word, frames[0]}
				}
			}
			return frames
		},
	}
}
