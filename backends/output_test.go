package backends

import (
	"slices"
	"testing"
	"time"
)

func TestPauses(t *testing.T) {
	const enough = 1000
	type step struct {
		idle    time.Duration // since the last read
		n, room int           // what the next read brings
		want    time.Duration // the pause before it
	}
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"a line now and then is read at once", []step{{pause, 10, 100, 0}, {time.Hour, 10, 100, 0}}},
		{"line after line gathers", []step{{pause - 1, 10, 100, pause}, {0, 10, 100, pause}}},
		{"until it is a line now and then", []step{{0, 10, 100, pause}, {soon, 10, 100, 0}, {0, 10, 100, 0}}},
		{"a little less often is line after line", []step{{0, 10, 100, pause}, {soon - 1, 10, 100, 0}, {0, 10, 100, pause}}},
		{"what is there already is read", []step{{0, 100, 100, pause}, {0, 100, 100, 0}, {0, 99, 100, 0}, {0, 1, 100, pause}}},
		{"an agent that would have to wait isn't kept", slices.Concat(
			[]step{{0, enough - 1, 2000, pause}, {0, enough, 2000, pause}, {0, 10, 2000, 0}},
			slices.Repeat([]step{{2 * pause, 10, 2000, 0}}, 49),
			[]step{{pause / 2, 10, 2000, 0}, {pause / 2, 10, 2000, 0}, {pause / 2, 10, 2000, 0}, {pause / 2, 10, 2000, pause}},
		)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			p := pacer{enough: enough}
			for range few + 1 { // a burst: nobody waits for the end of one
				if got := p.before(now); got != 0 {
					t.Errorf("a pause of %v in the first few reads", got)
				}
				p.after(now, 1, 100)
			}
			for i, s := range tt.steps {
				now = now.Add(s.idle)
				if got := p.before(now); got != s.want {
					t.Errorf("step %d: a pause of %v, want %v", i, got, s.want)
				}
				p.after(now, s.n, s.room)
			}
		})
	}
}
