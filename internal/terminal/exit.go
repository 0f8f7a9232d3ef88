package terminal

import "github.com/ralph-lsp/ralph-lsp/loop"

// The exit codes.
const (
	ExitDone      = 0
	ExitFailed    = 1
	ExitCapped    = 2
	exitGoesOn    = 3 // of a loop that was to run once
	ExitCancelled = 130
)

// ExitCode is what the program returns for a loop that ended so.
func ExitCode(reason loop.StopReason) int {
	switch ending := reason.Ending(); {
	case ending.HandsOn:
		return exitGoesOn
	case ending.Class == loop.ClassOK:
		return ExitDone
	case reason.Capped():
		return ExitCapped
	case ending.Class == loop.ClassError:
		return ExitFailed
	}
	return ExitCancelled
}
