package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Command is LSP's Command: one of ours for workspace/executeCommand.
type Command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

// OffersOf are the commands for what the loop offers.
func OffersOf(o loop.Offer) []Command {
	if o.Unchecked {
		return decideUnchecked(o.LoopID, o.Folder)
	}
	var offers []Command
	if o.Sandbox {
		offers = append(offers, Command{"Sandbox My Loops", CommandSandbox, []any{SandboxParams{sandbox.Workspace}}})
	}
	for _, promise := range o.Promises {
		change := ChangeParams{LoopParams: LoopParams{LoopID: o.LoopID}, Given: limits.Given{Promise: &promise}}
		offers = append(offers, Command{fmt.Sprintf("Make %q the Promise", OneLine(promise)), CommandUpdate, []any{change}})
	}
	return offers
}

// OffersAfter are the commands for what can be done about a loop that is over,
// as the table of endings says; none for one that isn't.
func OffersAfter(s loop.Status) []Command {
	if s.State == loop.StatePaused && s.Unchecked != "" {
		return decideUnchecked(s.LoopID, s.Folder)
	}
	if !s.State.Over() {
		return nil
	}
	var offers []Command
	// With its id: a late answer is about no other loop.
	it := LoopParams{LoopID: s.LoopID, Folder: FileURI(s.Folder)}
	offer := func(title, command string, argument any) {
		offers = append(offers, Command{title, command, []any{argument}})
	}
	ending, goesOn := s.StopReason.Ending(), s.CanGoOn() // else it was discarded meanwhile
	for _, remedy := range ending.Remedies {
		switch remedy {
		case loop.RemedyRaise:
			change, words := s.Limits.Raise(ending.Limit, usedBy(s))
			if !goesOn {
				continue
			}
			if change.Over(s.Limits) == s.Limits { // it is no limit any more
				offer("Resume", CommandResume, ResumeParams{LoopParams: it})
				continue
			}
			offer("Raise to "+words+" and Go On", CommandResume, ResumeParams{LoopParams: it, Values: settings.Values{Given: change}})
		case loop.RemedyResume:
			if goesOn {
				offer("Resume", CommandResume, ResumeParams{LoopParams: it})
			}
		case loop.RemedyLift:
			if limit, ok := limits.ByName(ending.Limit); ok && goesOn {
				var none limits.Given
				limit.Take(&none, limits.Limits{})
				offer("Resume without This Limit", CommandResume, ResumeParams{LoopParams: it, Values: settings.Values{Given: none}})
			}
		case loop.RemedyDiscard:
			if goesOn {
				offer("Discard", CommandCancel, CancelParams{LoopParams: it, When: WhenLeft})
			}
		case loop.RemedyDoctor:
			offer("Run Doctor", CommandDoctor, FolderParams{Folder: it.Folder})
		case loop.RemedyOpenFile:
			offer("Open State File", CommandOpen, it)
		}
	}
	return append(offers, offersOfTree(s)...)
}

// ControlsOf returns the commands that are used most with a loop, in the order of Can: for a loop that is driven, its
// controls, for one that can go on, its offers.
func ControlsOf(l LoopStatus) []Command {
	if !l.Live {
		if slices.Contains(l.Can, CanResume) {
			return l.Offers
		}
		return nil
	}
	it := LoopParams{LoopID: l.LoopID, Folder: l.Folder}
	controls := map[string]Command{
		CanCancel: {"Cancel", CommandCancel, []any{it}},
		CanPause:  {"Pause", CommandPause, []any{it}},
		CanResume: {cmp.Or(factsOf(l).goOn, "Resume"), CommandResume, []any{it}},
	}
	var commands []Command
	for _, can := range l.Can {
		if can == CanAnswer && len(l.Questions) > 0 {
			for _, answer := range l.Questions[0].Offers {
				answer.Title += ": " + l.Questions[0].Title
				commands = append(commands, answer)
			}
		}
		if control, ok := controls[can]; ok {
			commands = append(commands, control)
		}
	}
	return commands
}

// usedBy is what a loop has used of its limits.
func usedBy(s loop.Status) loop.Limits {
	return loop.Limits{MaxIterations: s.Iteration, MaxCostUSD: s.Cost.USD, MaxDuration: s.Elapsed}
}

// Remedy is what can be done about a command that failed: another one about its folder, or the same once
// more with the user's word.
type Remedy struct {
	Title, Command string
	Word           string // the key of the argument that is true then; "": it is another command
}

// RemediesFor are those for a command that failed for a reason, the safest first.
func RemediesFor(reason, command string) []Remedy {
	switch {
	case reason == ReasonUntrusted:
		return []Remedy{{"Trust It and Go On", command, "trust"}}
	case reason == ReasonBackendNotFound, reason == ReasonNoSandbox:
		return []Remedy{{"Run Doctor", CommandDoctor, ""}}
	case command != CommandStart:
		return nil
	case reason == ReasonAlreadyRunning:
		return []Remedy{{"Cancel It and Start", command, "replace"}}
	case reason == ReasonInterrupted:
		return []Remedy{{"Resume", CommandResume, ""}, {"Discard It and Start", command, "replace"}}
	}
	return nil
}

// OffersInstead are the remedies for a command as a client gets them, with the argument that it had.
func OffersInstead(reason, command string, argument json.RawMessage) (offers []Command) {
	given := map[string]json.RawMessage{}
	if json.Unmarshal(argument, &given) != nil {
		return nil // it was no object, which is why it failed
	}
	for _, r := range RemediesFor(reason, command) {
		with := folderIn(given)
		if r.Word != "" {
			with = maps.Clone(given)
			with[r.Word] = json.RawMessage("true")
		}
		offers = append(offers, Command{r.Title, r.Command, []any{with}})
	}
	return offers
}

// folderIn is an argument for the folder that another one names, if it names one.
func folderIn(given map[string]json.RawMessage) map[string]json.RawMessage {
	here := map[string]json.RawMessage{}
	if folder, ok := given["folder"]; ok {
		here["folder"] = folder
	}
	return here
}

// OffersAtWork are the commands for what can be done about files that an agent
// has under its hands.
func OffersAtWork(folder string) []Command {
	return []Command{{"Pause the Loop", CommandPause, []any{LoopParams{Folder: FileURI(folder)}}}}
}
