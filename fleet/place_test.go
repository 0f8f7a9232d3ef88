package fleet

import (
	"context"
	"slices"
	"testing"
	"time"
)

func TestWorkersLeaveWhatIsForAnother(t *testing.T) {
	const walled = "it needs a worker without walls (--sandbox off)"
	worker := Worker{Has: []string{"gpu", "os=linux", "walls"}, HasAgent: func(name string) bool { return name != "claude" }}
	for _, tt := range []struct {
		name  string
		walls bool
		r     Record
		why   string
	}{
		{"nothing said", true, Record{}, ""},
		{"wants walls", true, Record{Task: Task{Flags: []string{inWalls}}}, ""},
		{"wants none", true, Record{Task: Task{Flags: []string{"--verify=x", noWalls, "--once=y"}}}, walled},
		{"the last word is walls", true, Record{Task: Task{Flags: []string{noWalls, inWalls}}}, ""},
		{"the last word is none", true, Record{Task: Task{Flags: []string{inWalls, noWalls}}}, walled},
		{"wants none and gets none", false, Record{Task: Task{Flags: []string{noWalls}}}, ""},
		{"a label", false, Record{Task: Task{On: []string{"gpu", "os=linux"}}}, ""},
		{"labels that it hasn't", false, Record{Task: Task{On: []string{"gpu", "os=plan9", "zone=west"}}}, "it needs gpu, os=plan9, zone=west"},
		{"an agent", false, Record{Task: Task{Flags: []string{"--backend=pi"}}}, ""},
		{"an agent that it hasn't", false, Record{Task: Task{Flags: []string{"--backend=claude"}}}, "it needs agent=claude"},
		{"the agent that it began with", false, Record{Agent: "claude"}, "it needs agent=claude"},
		{"the agent that it goes on with", false, Record{Agent: "pi", Task: Task{Flags: []string{"--backend=claude"}}}, ""},
		{"a program", false, Record{Task: Task{Flags: []string{"--backend=/opt/agent"}}}, ""},
		{"walls that it puts", true, Record{Task: Task{On: []string{"walls"}}}, ""},
		{"walls that it doesn't put", false, Record{Task: Task{On: []string{"walls"}}}, "it needs walls"},
		{"a program as a label", false, Record{Task: Task{On: []string{"agent=/opt/agent"}}}, "it needs agent=/opt/agent"},
		{"of a newer version", false, Record{Needs: []string{"telepathy"}}, "it needs a newer worker (telepathy)"},
	} {
		worker.Walls = tt.walls
		lane, why := LaneOf(tt.r), ""
		if !worker.hasAll(lane) {
			why = lane.String()
		}
		if why != tt.why {
			t.Errorf("%s: %q, want %q", tt.name, why, tt.why)
		}
		if (lane.Token() == "") != (len(lane.Needs) == 0) {
			t.Errorf("%s: its lane has the token %q", tt.name, lane.Token())
		}
	}
	same := []Record{{Task: Task{On: []string{"a", "b"}}}, {Task: Task{On: []string{"b", "a", "b"}}}}
	if a, b := LaneOf(same[0]).Token(), LaneOf(same[1]).Token(); a != b {
		t.Errorf("what needs the same waits in lanes %s and %s", a, b)
	}
	other := []Record{same[0], {Task: Task{On: []string{"a b"}}}, {Task: Task{Queue: "q", On: []string{"a", "b"}}}, {Task: Task{Queue: "q"}}}
	seen := map[string]bool{}
	for _, r := range other {
		seen[LaneOf(r).Token()] = true
	}
	if len(seen) != len(other) {
		t.Errorf("what needs something else shares a lane: %v", seen)
	}
}

// stray is a ticket in a lane in which its loop doesn't belong any more.
type stray struct {
	Ticket
	to []string // the lanes to which it was moved
}

func (*stray) Lane() string { return "elsewhere" }

func (s *stray) Move(_ context.Context, r Record) error {
	s.to = append(s.to, LaneOf(r).Token())
	return nil
}

// A sweep enqueues a loop in the lane that it has by now: its ticket has to be there, or there would be two.
func TestALoopMovesToTheLaneOfItsAgent(t *testing.T) {
	w := newWorks(t)
	r := w.submit()
	ticket := &stray{Ticket: must(w.bus.Take(t.Context(), nil))}
	w.change(r, func(r *Record) error { r.Agent = "pi"; return nil })
	if a, later, err := w.worker.begin(t.Context(), ticket); a != nil || later != moved || err != nil {
		t.Errorf("begun: %v, later: %s, %v", a != nil, later, err)
	}
	if want := (Lane{Needs: []string{"agent=pi"}}).Token(); !slices.Equal(ticket.to, []string{want}) {
		t.Errorf("it moves to %v, want %s", ticket.to, want)
	}
	w.change(r, func(r *Record) error { return r.Cancel(time.Now()) })
	if a, later, err := w.worker.begin(t.Context(), ticket); a != nil || later != done || err != nil || len(ticket.to) != 1 {
		t.Errorf("cancelled: %v, later: %s, %v, %v", a != nil, later, err, ticket.to)
	}
}
