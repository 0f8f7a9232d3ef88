package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// The flags that decide about walls and the agent, as submit keeps them.
const (
	inWalls   = sandboxIs + sandbox.Workspace
	noWalls   = sandboxIs + sandbox.Off
	sandboxIs = "--sandbox="
	ofAgent   = "--backend="
)

// LabelWalls is what a worker has that puts walls around each loop.
const LabelWalls = "walls"

// withoutWalls is what a worker has that puts none around a loop that was submitted to be without.
const withoutWalls = "a worker without walls (--sandbox off)"

// agentLabel and a name is what a worker has where that agent is installed.
const agentLabel = "agent="

// needsQueues is what a worker has to know that takes a loop of a queue: another would take it past the queue's limits.
const needsQueues = "queues"

// knownNeeds are what records may need that this version can do.
var knownNeeds = []string{needsQueues}

// Lane is what loops have in common that wait for the same workers. Each lane of the bus is a queue of its own, from
// which only workers take that have what it needs: loops that wait for others cost nothing.
type Lane struct {
	Queue string   `json:"queue,omitempty"`
	Needs []string `json:"needs,omitempty"` // sorted, each once
}

// LaneOf is the lane in which a loop waits.
func LaneOf(r Record) Lane {
	needs := slices.Clone(r.On)
	for _, need := range r.Needs {
		if !slices.Contains(knownNeeds, need) {
			needs = append(needs, "a newer worker ("+need+")")
		}
	}
	if r.last(sandboxIs) == noWalls {
		needs = append(needs, withoutWalls)
	}
	agent := cmp.Or(r.Agent, strings.TrimPrefix(r.last(ofAgent), ofAgent))
	if slices.Contains(backends.Names(), agent) {
		needs = append(needs, agentLabel+agent)
	}
	slices.Sort(needs)
	return Lane{Queue: r.Queue, Needs: slices.Compact(needs)}
}

// Token names the lane in subjects. It is "" for loops that any worker may take.
func (l Lane) Token() string {
	if l.Queue == "" && len(l.Needs) == 0 {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", l.Queue, l.Needs))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// String says what the lane needs; "" is nothing.
func (l Lane) String() string {
	if len(l.Needs) == 0 {
		return ""
	}
	return "it needs " + strings.Join(l.Needs, ", ")
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

// has says whether a worker has what a loop needs. Agents may come and go while it works.
func (w *Worker) has(label string) bool {
	switch label { // its owner can't say so
	case LabelWalls:
		return w.Walls
	case withoutWalls:
		return !w.Walls
	}
	name, isAgent := strings.CutPrefix(label, agentLabel)
	return isAgent && slices.Contains(backends.Names(), name) && w.HasAgent(name) || slices.Contains(w.Has, label)
}

// takes says whether a worker takes loops of a lane now.
func (w *Worker) takes(ctx context.Context, l Lane) bool {
	return w.hasAll(l) && w.queues.isOpen(ctx, w, l.Queue)
}

func (w *Worker) hasAll(l Lane) bool {
	return !slices.ContainsFunc(l.Needs, func(need string) bool { return !w.has(need) })
}

// waits says in the loop's record why no worker has it, once.
func (w *Worker) waits(ctx context.Context, r Record, why string) error {
	if r.Reason == why {
		return nil
	}
	w.Log.Info("a loop waits", "loop", r.ID, "name", r.Name, "reason", why)
	_, err := Change(ctx, w.Bus, r.ID, func(r *Record) error { r.Reason = why; return nil })
	return err
}
