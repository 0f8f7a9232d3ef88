package feed

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Talks are the ways to talk to a loop; Return means the first. A working agent or the next run is
// told; a loop that is over goes on with the words, or they are the prompt of a new loop. s is the loop
// itself; of a loop of another machine it is zero.
func Talks(l wire.LoopStatus, s loop.Status) (talks []wire.Talk) {
	it := wire.LoopParams{LoopID: l.LoopID, Folder: l.Folder}
	switch {
	case slices.Contains(l.Can, wire.CanSteer):
		if l.Busy && l.Backend != nil && hears(l.Backend.Name) {
			talks = append(talks, talk("Steer", wire.CommandSteer, wire.SteerParams{Once: true, LoopParams: it}, "text",
				"Tell the agent something: it reads it at its next step"))
		}
		return append(talks, talk("Queue", wire.CommandSteer, wire.SteerParams{Once: true, LoopParams: it, Next: true}, "text",
			"Tell the next iteration something"))
	case l.Host != "": // nothing is begun from here
		return nil
	}
	for _, offer := range l.Offers {
		if offer.Command == wire.CommandResume {
			talks = append(talks, wire.Talk{Command: offer, Key: "say", Hint: "Say what is missing: the loop goes on, and its agent is told"})
		}
	}
	if l.State == string(loop.StateEnded) {
		talks = append(talks, TalkAnew(l.Folder, choicesOf(s)))
	}
	return talks
}

// choicesOf are what the next loop takes from the one before: its limits, its promise, and its agent. Hats choose
// theirs themselves, and a program that is named by its path is named anew.
func choicesOf(s loop.Status) wire.Choices {
	var next wire.Choices
	next.Given = wire.GivenOf(s.Limits.All(), stream.Sanitize(s.Promise))
	if _, err := backends.Lookup(s.Session.Backend); err == nil && s.Hat == "" {
		next.Backend = s.Session.Backend
	}
	return next
}

// TalkAnew makes words the prompt of a new loop in a folder, which is a file URI.
func TalkAnew(folder string, next wire.Choices) wire.Talk {
	return talk("Start", wire.CommandStart, wire.StartParams{Folder: folder, Choices: next}, "prompt",
		"Say what is to be done next: a new loop does it")
}

// hears says whether an agent can be told something while it works.
func hears(agent string) bool {
	known, err := backends.Lookup(agent)
	return err == nil && known.Live != nil
}

func talk(title, command string, argument any, key, hint string) wire.Talk {
	return wire.Talk{Command: wire.Command{Title: title, Command: command, Arguments: []any{argument}}, Key: key, Hint: hint}
}
