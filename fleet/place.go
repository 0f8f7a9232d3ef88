package fleet

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// retryOther is how long a loop waits at most that this worker can't take and another one may.
const retryOther = 5 * time.Second

// forAnother is how long it waits: loops that all wait as long would come to the same workers again, in turn.
func forAnother() time.Duration { return time.Second + rand.N(retryOther-time.Second) }

// The flags that decide about walls and the agent, as submit keeps them.
const (
	inWalls = "--sandbox=" + sandbox.Workspace
	noWalls = "--sandbox=" + sandbox.Off
	ofAgent = "--backend="
)

// LabelWalls is what a worker has that puts walls around each loop.
const LabelWalls = "walls"

// agentLabel and a name is what a worker has where that agent is installed.
const agentLabel = "agent="

// has says whether a worker has what a loop needs. Agents may come and go while it works.
func (w *Worker) has(label string) bool {
	if label == LabelWalls { // its owner can't say so
		return w.Walls
	}
	name, isAgent := strings.CutPrefix(label, agentLabel)
	return isAgent && slices.Contains(w.Agents, name) && w.HasAgent(name) || slices.Contains(w.Has, label)
}

// last is the last of a task's flags that begins so; "" where none does.
func (t Task) last(prefix string) string {
	for _, flag := range slices.Backward(t.Flags) {
		if strings.HasPrefix(flag, prefix) {
			return flag
		}
	}
	return ""
}

// unfit says why a loop waits for another worker; "" if it doesn't. All workers that it isn't for say the
// same of it: each change would be written to the bus.
func (w *Worker) unfit(r Record) string {
	if len(r.Needs) > 0 {
		return "it needs a newer one (" + strings.Join(r.Needs, ", ") + ")"
	}
	if w.Walls && r.last("--sandbox=") == noWalls {
		return "it needs one without walls (worker --sandbox off)"
	}
	wanted := slices.Clone(r.On)
	if agent := cmp.Or(r.Agent, strings.TrimPrefix(r.last(ofAgent), ofAgent)); slices.Contains(w.Agents, agent) {
		wanted = append(wanted, agentLabel+agent)
	}
	if slices.ContainsFunc(wanted, func(label string) bool { return !w.has(label) }) {
		return "it needs " + strings.Join(wanted, ", ")
	}
	return ""
}
