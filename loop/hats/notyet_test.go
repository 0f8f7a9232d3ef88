package hats

import "testing"

func TestNotYet(t *testing.T) {
	ring := Set{
		{Name: "builder", Triggers: []string{Start, "review.rejected"}, Publishes: []string{"build.*", "note"}, DefaultPublishes: "build.done"},
		{Name: "reviewer", Triggers: []string{"build.done"}, Publishes: []string{"review.rejected", "again", "note"}},
		{Name: "writer", Triggers: []string{"again"}, MayFinish: new(false)},
	}
	for _, tt := range []struct {
		hat, topic, to, missing, want string
	}{
		{hat: "reviewer"},
		{hat: "builder"}, // what it didn't publish itself doesn't count
		{hat: "reviewer", topic: "review.rejected", want: "reviewer says that all is done, but it published review.rejected, so it is the turn of builder"},
		{hat: "builder", topic: "build.done", want: "builder says that all is done, but it published build.done, so it is the turn of reviewer"},
		{hat: "reviewer", topic: "note"},                     // nobody listens
		{hat: "builder", topic: "build.done", to: "builder"}, // for itself
		{hat: "builder", topic: "review.rejected"},           // it wakes itself
		{hat: "builder", topic: "again"},                     // it may not publish that
		{hat: "writer", want: "writer says that all is done, but that hat may not finish the loop"},
		{hat: "builder", missing: "again", want: "builder says that all is done, but nobody has published again"},
	} {
		h, _ := ring.Hat(tt.hat)
		runs := []Ended{{}}
		if tt.topic != "" {
			runs = append(runs, Ended{Published: []Topic{{Name: "note"}, {Name: tt.topic, For: tt.to}}})
		}
		var missing []string
		if tt.missing != "" {
			missing = []string{tt.missing}
		}
		if got := ring.NotYet(h, missing, runs); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
