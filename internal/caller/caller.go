// Package caller says who is asking: a user, or something below a loop, which is no user of
// that loop's. rights.go has what each may ask for.
package caller

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// EnvLoopID names the loop in the environment of all that an agent starts.
const EnvLoopID = "RALPH_LOOP_ID"

// Who is a process that asks. The zero value is a user's.
type Who struct {
	mark    uint64 // of the loop that it is below, see backends/reaper; 0: it bears none
	reaper  int    // that is among its ancestors, of those that can be seen; 0: none
	loop    string // that its environment names
	temp    string // the name of its loop's temporary folder
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

// IsAgent says whether it is below a loop. Who can't be told is taken for that.
func (w Who) IsAgent() bool { return w.unknown || w.mark != 0 || w.reaper != 0 || w.loop != "" }

// TempDir is the temporary folder of the loop that this process is below, "" where there is
// none or it can't be found.
func (w Who) TempDir() string {
	for _, dir := range []string{os.TempDir(), filepath.Join("/tmp", w.temp)} {
		if info, err := os.Stat(dir); w.temp != "" && filepath.Base(dir) == w.temp && err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}

// isUserOf says whether it stands where the owner of a loop stands: it is no agent, or one
// whose agent started that loop.
func (w Who) isUserOf(owner Who) bool {
	switch {
	case !w.IsAgent():
		return true
	case w.unknown || owner.unknown || w.mark != owner.mark || w.reaper != owner.reaper:
		return false
	}
	return w.mark != 0 || w.reaper != 0 || w.loop == owner.loop
}

// has says whether a folder lies in the temporary folder of the loop that it is below. That
// goes with the run, so what is there is the agent's own.
func (w Who) has(folder string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	return w.temp != "" && filepath.IsAbs(folder) && slices.Contains(strings.Split(filepath.ToSlash(folder), "/"), w.temp)
}
