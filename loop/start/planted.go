package start

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// tighten makes the limits of a state file no looser than the user's, except those that the start gives, and warns of each
// that it didn't take. A loop that the user started here keeps its limits; any other may be a stranger's.
func (r Resolver) tighten(cfg *setup.Config, found Found) {
	if r.Settings.Files.KnowsLoop(found.LoopID) {
		return
	}
	held := r.loosened(found.Given, limits.Default(), r.Settings.Limits(), func(l limits.Limit, text string) string {
		l.Take(&cfg.Change.Given, r.Settings.Limits())
		return fmt.Sprintf("%s (give --%s to change it)", text, l.Flag)
	})
	if held != "" {
		cfg.Warnings = append(cfg.Warnings, "the loop wasn't started here, so its state file can't loosen your limits: "+held)
	}
}

// loosened calls hold for each limit that a state file would loosen and that the start doesn't give, and joins what hold
// returns. base has the limits that the file doesn't give.
func (r Resolver) loosened(file limits.Given, base, own limits.Limits, hold func(l limits.Limit, text string) string) string {
	var held []string
	said := file.Over(base)
	for _, l := range limits.All() {
		if !l.IsIn(r.Start.Given) && l.IsLooser(said, own) {
			held = append(held, hold(l, fmt.Sprintf("%s = %s is not taken, %s counts", l.Key, l.Text(said), l.Text(own))))
		}
	}
	return strings.Join(held, ", ")
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
		own := r.Editor.Given.Over(r.Settings.Limits())
		if held := r.loosened(says.Given, own, own, func(l limits.Limit, text string) string {
			l.Drop(&says.Given)
			return text
		}); held != "" {
			warnings = append(warnings, "a state file can't loosen your limits: "+held)
		}
	}
	r.Start = r.Start.Over(says)
	return warnings
}
