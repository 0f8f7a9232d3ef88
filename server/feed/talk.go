package feed

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Talks are the ways to talk to a loop; Return means the first. A working agent or the next run is
// told; a loop that is over goes on with the words, or they are the prompt of a new loop.
func Talks(l wire.LoopStatus) (talks []wire.Talk) {
	it := wire.LoopParams{LoopID: l.LoopID, Folder: l.Folder}
	switch {
	case slices.Contains(l.Can, wire.CanSteer):
		if l.Busy && l.Backend != nil && hears(l.Backend.Name) {
			talks = append(talks, talk("Steer", wire.CommandSteer, wire.SteerParams{Once: true, LoopParams: it}, "text", "Tell the agent something: it reads it at its next step"))
		}
		return append(talks, talk("Queue", wire.CommandSteer, wire.SteerParams{Once: true, LoopParams: it, Next: true}, "text", "Tell the next iteration something"))
	case l.Host != "": // nothing is begun from here
		return nil
	}
	for _, offer := range l.Offers {
		if offer.Command == wire.CommandResume {
			talks = append(talks, wire.Talk{Command: offer, Key: "say", Hint: "Say what is missing: the loop goes on, and its agent is told"})
		}
	}
	if l.State == string(loop.StateEnded) {
		talks = append(talks, TalkAnew(l.Folder))
	}
	return talks
}

// TalkAnew makes words the prompt of a new loop in a folder, which is a file URI.
func TalkAnew(folder string) wire.Talk {
	return talk("Start", wire.CommandStart, wire.StartParams{Folder: folder}, "prompt", "Say what is to be done next: a new loop does it")
}

// WithTalks adds to loops the ways to talk to them.
func WithTalks(loops []wire.LoopStatus) {
	for i := range loops {
		loops[i].Talks = Talks(loops[i])
	}
}

// hears says whether an agent can be told something while it works.
func hears(agent string) bool {
	known, err := backends.Lookup(agent)
	return err == nil && known.Live != nil
}

func talk(title, command string, argument any, key, hint string) wire.Talk {
	return wire.Talk{Command: wire.Command{Title: title, Command: command, Arguments: []any{argument}}, Key: key, Hint: hint}
}
