package start

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// tighten makes the limits of a state file no looser than the user's, but for
// what the start says, and tells what was not taken. A loop that the user
// started here keeps its limits; any other may be a stranger's.
func (r Resolver) tighten(cfg *setup.Config, found Found) {
	if r.Settings.Files.KnowsLoop(found.LoopID) {
		return
	}
	change, own := &cfg.Change.Given, r.Settings.Limits
	var held []string
	for _, l := range limits.All() {
		if !l.IsIn(*change) && l.IsLooser(found.Limits(), own) {
			l.Take(change, own)
			held = append(held, fmt.Sprintf("%s (give --%s to change it)", notTaken(l, found.Limits(), own), l.Flag))
		}
	}
	if len(held) > 0 {
		cfg.Warnings = append(cfg.Warnings, "the loop wasn't started here, so its state file can't loosen your limits: "+strings.Join(held, ", "))
	}
}

// isStrangersChoice says whether a state file that may be a stranger's chooses
// one of the user's hats, or another agent than the files name.
func (r Resolver) isStrangersChoice(named Agent, found Found) bool {
	isOther := named.Name != "" && r.Settings.Backend != config.Auto && named.Name != r.Settings.Backend
	return (named.Hat != "" || found.isHanding() || isOther) && !r.Settings.Files.KnowsLoop(found.LoopID)
}

// Adopt lets the state file that is a start's prompt say what the start
// doesn't. One that isn't of the user's own loop loosens no limit; the warnings
// tell what was not taken.
func (r *Resolver) Adopt(says Options, isOwn bool) (warnings []string) {
	if !isOwn {
		own, _ := r.Editor.Limits.Over(r.Settings.Limits, "")
		var held []string
		for _, l := range limits.All() {
			if said := says.Limits.Given.Over(own); !l.IsIn(r.Start.Limits.Given) && l.IsLooser(said, own) {
				l.Drop(&says.Limits.Given)
				held = append(held, notTaken(l, said, own))
			}
		}
		if len(held) > 0 {
			warnings = append(warnings, "a state file can't loosen your limits: "+strings.Join(held, ", "))
		}
	}
	r.Start = r.Start.Over(says)
	return warnings
}

// notTaken tells that a limit of a file counts for nothing.
func notTaken(l limits.Limit, said, own limits.Limits) string {
	return fmt.Sprintf("%s = %s is not taken, %s counts", l.Key, l.Text(said), l.Text(own))
}
