// Package caller says who is asking: a user, or something below a loop, which is no user of
// that loop's. rights.go has what each may ask for.
package caller

import "os"

// EnvLoopID names the loop in the environment of all that an agent starts.
const EnvLoopID = "RALPH_LOOP_ID"

// Who is a process that asks. Its zero value is the user.
type Who struct {
	mark    uint64 // of the loop that it is below, see backends/reaper; 0: it bears none
	reaper  int    // that is among its ancestors, of those that can be seen; 0: none
	loop    string // that its environment names
	lowered bool   // its limit is below the ordinary one, as a mark is that was lowered
	unknown bool   // it is gone, or can't be looked at
}

// Self is this process.
func Self() Who {
	w := look(os.Getpid())
	w.loop, w.unknown = os.Getenv(EnvLoopID), false
	return w
}

// Of is the process with a number, as it was started.
func Of(pid int) Who { return look(pid) }

// IsAgent says whether it is below a loop. An unknown process counts as one.
func (w Who) IsAgent() bool { return w.unknown || w.lowered || w.isBelow() }

// isBelow says whether something leads from it to a loop.
func (w Who) isBelow() bool { return w.mark != 0 || w.reaper != 0 || w.loop != "" }
