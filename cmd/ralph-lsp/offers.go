package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// offerOfPermits is what is remembered of a user who leaves an agent without commands.
const offerOfPermits = "commands"

// errNothingStarted ends a start whose user left at a question.
var errNothingStarted = &exitError{terminal.ExitFailed, "nothing was started"}

// offer asks a user at a terminal what a start leaves open: whether the agent may run
// commands, and whether the folder's own check verifies its promise. Enter takes what is
// right as a rule. Where nobody can answer, nothing is added. changed says that the
// start says more now.
func (l *loopFlags) offer(cmd *cobra.Command, r *start.Resolver, cfg setup.Config) (changed bool, err error) {
	if !r.Attended || l.once.wanted || l.shown.style.Value == terminal.JSON {
		return false, nil
	}
	files := r.Settings.Files
	if permits := start.Permits(cmd.Context(), cfg); len(permits) > 0 && !files.WasOffered(offerOfPermits) {
		chosen, err := choosePermit(cmd, cfg.Backend.Name, permits)
		switch {
		case err != nil:
			return false, err
		case chosen == nil:
			_ = files.RememberOffer(offerOfPermits) // else it is asked again
		default:
			r.Start = chosen.Options.Over(r.Start)
			changed = true
		}
	}
	if s := cfg.Verification.Suggested; s.Command != "" {
		question := fmt.Sprintf("There is %s here. Is the loop done only when %q passes, too? [Y/n] ", terminal.Line(s.File), s.Command)
		switch answer, asked := prompt(cmd, question); {
		case asked && answer == leaves:
			return false, errNothingStarted
		case asked && (answer == "" || answer == "y" || answer == "yes"):
			r.Start.Check.Verify, changed = s.Command, true
		}
	}
	return changed, nil
}

// choosePermit asks what an agent may do; nil leaves it as it is.
func choosePermit(cmd *cobra.Command, agent string, permits []start.Permit) (*start.Permit, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s may change files here, and runs no commands but those that its own settings allow. Let it\n", stream.Sanitize(agent))
	for i, p := range permits {
		fmt.Fprintf(&b, "  %d  %s (%s)\n", i+1, p.Title, p.Flags())
	}
	none := len(permits) + 1
	fmt.Fprintf(&b, "  %d  stay as it is, and don't ask again\n[1] ", none)
	for {
		answer, asked := prompt(cmd, b.String())
		n, err := strconv.Atoi(answer)
		switch {
		case !asked:
			return nil, nil
		case answer == "":
			return &permits[0], nil
		case answer == leaves:
			return nil, errNothingStarted
		case err == nil && n >= 1 && n < none:
			return &permits[n-1], nil
		case n == none:
			return nil, nil
		}
		b.Reset()
		fmt.Fprintf(&b, "write a number from 1 to %d, or %s to leave [1] ", none, leaves)
	}
}

// howToPermit says with which commands a loop goes on whose agent was refused permission.
func howToPermit(cmd *cobra.Command, cfg setup.Config) string {
	text := ""
	for _, p := range start.Permits(cmd.Context(), cfg) {
		text += fmt.Sprintf("; to let it %s: ralph-lsp resume%s %s", p.Title, terminal.InFolderOf(cfg.Folder), p.Flags(cfg.Args...))
	}
	return text
}
