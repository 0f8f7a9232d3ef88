package loop

import (
	"testing"
	"testing/synctest"
	"time"

	"ralph-lsp/loopstate"
	"ralph-lsp/stream"
)

// An editor that saves what it read long ago changes what its user typed, and no
// number besides: else each such save would lift the limits a little.
func TestAnOldBufferLowersNoNumber(t *testing.T) {
	for name, tt := range map[string]struct {
		types func(*loopstate.State) // what the user types into the buffer
		cost  float64                // that the loop has used then
		next  int                    // the iteration that begins then
	}{
		"untouched":            {func(s *loopstate.State) {}, 3, 4},
		"with another prompt":  {func(s *loopstate.State) { s.Prompt = "Build more" }, 3, 4},
		"with another number":  {func(s *loopstate.State) { s.Iteration = 20 }, 3, 21},
		"with failures undone": {func(s *loopstate.State) { s.InARow.Failures = 0 }, 3, 4},
		"with a cost":          {func(s *loopstate.State) { usd := 0.0; s.CostUSD = &usd }, 0, 4},
	} {
		for at, age := range map[string]time.Duration{"of the start": 0, "of the first run": time.Second / 2, "of the second": 90 * time.Second} {
			t.Run(name+", "+at, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					run := withTime(costs(1, "no"), time.Minute)
					r := start(t, nil, run, run, run, withTime(says("no"), time.Hour))
					time.Sleep(age)
					old, err := r.file.Load()
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(2*time.Minute + 30*time.Second - age) // in the third run, its dollar is spent
					before, _ := r.file.Load()
					tt.types(&old)
					for range 2 { // an editor may save it more than once
						r.file.edit(func(s *loopstate.State) { *s = old })
						time.Sleep(2 * bookInterval) // it is written over
					}
					state, err := r.file.Load()
					if err != nil || state.Tokens != before.Tokens || state.Elapsed < before.Elapsed || !state.Begun || state.Prompt != old.Prompt {
						t.Errorf("the file says %+v, %v, before %+v", state, err, before)
					}
					if st := r.Status(); st.Cost.USD != tt.cost || *state.CostUSD != tt.cost {
						t.Errorf("cost %v, the file says %v", st.Cost, *state.CostUSD)
					}
					time.Sleep(time.Minute)
					if st := r.Status(); st.Iteration != tt.next {
						t.Errorf("iteration %d", st.Iteration)
					}
					r.Kill()
				})
			})
		}
	}
}

// A pause may be long, and the process may be killed in it.
func TestAnOldBufferInAPauseIsWrittenOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, withTime(costs(1, "no"), time.Minute))
		old, _ := r.file.Load()
		time.Sleep(time.Second)
		old.Active = false
		r.Pause()
		time.Sleep(2 * time.Minute)
		r.file.edit(func(s *loopstate.State) { *s = old })
		synctest.Wait()
		time.Sleep(2 * bookInterval)
		if state, err := r.file.Load(); err != nil || state.CostUSD == nil || *state.CostUSD != 1 || state.Iteration != 2 || state.Active {
			t.Errorf("the file says %+v, %v", state, err)
		}
		r.Kill()
	})
}

func TestWhatIsTheUsersAndWhatIsOld(t *testing.T) {
	set := func(iteration int, usd float64, input int64, elapsed time.Duration) ledger {
		b := ledger{iteration: iteration, cost: stream.USD(usd), elapsed: elapsed}
		b.tokens.Input = input
		return b
	}
	var p past
	p.add(set(1, 0, 0, 0))
	p.add(set(1, 1, 10, time.Minute))
	p.add(set(2, 2, 20, 2*time.Minute))
	now := set(3, 3, 30, 3*time.Minute)
	for name, tt := range map[string]struct{ found, want ledger }{
		"nothing new":                         {now, now},
		"all of the first":                    {set(1, 0, 0, 0), now},
		"all of an older one":                 {set(2, 2, 20, 2*time.Minute), now},
		"the cost set back":                   {set(3, 0, 30, 3*time.Minute), set(3, 0, 30, 3*time.Minute)},
		"the cost as it once was":             {set(3, 1, 30, 3*time.Minute), set(3, 1, 30, 3*time.Minute)},
		"all but the time set back":           {set(1, 0, 0, 3*time.Minute), set(1, 0, 0, 3*time.Minute)},
		"the time set back":                   {set(3, 3, 30, 0), set(3, 3, 30, 0)},
		"a cost in an older one":              {set(2, 9, 20, 2*time.Minute), set(3, 9, 30, 3*time.Minute)},
		"an iteration in an older one":        {set(7, 1, 10, time.Minute), set(7, 3, 30, 3*time.Minute)},
		"a cost and tokens in an older one":   {set(2, 9, 90, 2*time.Minute), set(3, 9, 90, 3*time.Minute)},
		"of two older ones the nearer counts": {set(1, 0, 10, time.Minute), set(3, 0, 30, 3*time.Minute)},
		"other numbers":                       {set(9, 9, 90, 9*time.Minute), set(9, 9, 90, 9*time.Minute)},
		"lower ones that never were there":    {set(0, 0.5, 5, time.Second), set(0, 0.5, 5, time.Second)},
	} {
		if got := p.without(tt.found, now); got != tt.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// The user sets back what was written in this very moment, and thinks better of it.
	back := set(3, 0, 30, 3*time.Minute)
	p.add(now)
	if got := p.without(now, back); got != now {
		t.Errorf("undone: %+v", got)
	}
	inARow := set(1, 1, 10, time.Minute)
	inARow.inARow.Failures, now.inARow.Failures = 4, 2
	if got := p.without(inARow, now); got.inARow.Failures != 4 || got.cost != now.cost {
		t.Errorf("failures in an older one: %+v", got)
	}
}

// Of a loop of days not each moment is remembered, but that its numbers grow.
func TestThePastIsBounded(t *testing.T) {
	var p past
	set := func(i int) ledger {
		return ledger{
			iteration: i/1000 + 1, cost: stream.USD(float64(i)), elapsed: time.Duration(i) * time.Second,
			tokens: stream.Tokens{Input: int64(i), Output: int64(i), CacheRead: int64(i), CacheWrite: int64(i)},
		}
	}
	const all = maxPast + 5000
	for i := range maxPast {
		p.add(set(i))
	}
	if p.isFull || len(p.sets) != maxPast {
		t.Errorf("%d sets", len(p.sets))
	}
	for i := maxPast; i < all; i++ {
		p.add(set(i))
	}
	if len(p.sets) != maxPast || cap(p.sets) > 4*maxPast {
		t.Errorf("%d sets, room for %d", len(p.sets), cap(p.sets))
	}
	now := set(all)
	for _, i := range []int{0, 1, 4999, 5000, all - 1} {
		old := set(i)
		old.begun = true
		want := now
		want.begun = true
		if got := p.without(old, now); got != want {
			t.Errorf("set %d: %+v", i, got)
		}
	}
	for name, change := range map[string]func(*ledger){
		"elapsed":     func(b *ledger) { b.elapsed = set(5000).elapsed + time.Millisecond },
		"iteration":   func(b *ledger) { b.iteration = 7 },
		"cost":        func(b *ledger) { b.cost.USD = 5001.5 },
		"input":       func(b *ledger) { b.tokens.Input = 1e9 },
		"output":      func(b *ledger) { b.tokens.Output = 1e9 },
		"cache read":  func(b *ledger) { b.tokens.CacheRead = 1e9 },
		"cache write": func(b *ledger) { b.tokens.CacheWrite = 1e9 },
	} {
		users := ledger{iteration: 1, cost: stream.USD(0.5), elapsed: time.Millisecond}
		change(&users)
		if got := p.without(users, now); got != users {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
