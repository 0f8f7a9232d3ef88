package inbox_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// What takes long is done one after the other, each with what follows from it, and messages are heard meanwhile.
func TestAQueueDoesOneThingAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := opened()
		q := in.NewQueue()
		var said []string
		say := func(what string) func() { return func() { said = append(said, what) } }
		lasts := func(what string) func() {
			return func() {
				in.Do(say(what + " begins"))
				time.Sleep(time.Second)
			}
		}
		go func() {
			time.Sleep(1500 * time.Millisecond)
			in.Do(func() { q.Add(lasts("third"), say("third is done")) })
		}()
		q.Add(lasts("first"), func() {
			say("first is done")()
			q.Add(lasts("fourth"), say("fourth is done")) // said first, asked for last
		})
		q.Do(lasts("second"), say("second is done"))
		if n := len(said); n != 4 {
			t.Errorf("it waited for %q", said)
		}
		begun := time.Now()
		if q.Rest(); time.Since(begun) != 2*time.Second {
			t.Errorf("the rest took %v", time.Since(begun))
		}
		want := []string{
			"first begins", "first is done", "second begins", "second is done", "fourth begins", "fourth is done", "third begins", "third is done",
		}
		if !slices.Equal(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	})
}

// What is to be done later is done on the goroutine of the inbox, unless it is stopped before.
func TestLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, begun := opened(), time.Now()
		var heard []time.Duration
		hear := func() { heard = append(heard, time.Since(begun)) }
		in.Later(time.Second, hear)
		stop := in.Later(2*time.Second, hear)
		in.Later(3*time.Second, hear)
		in.Serve(func(bool) (bool, time.Time) { return len(heard) == 1, time.Time{} })
		stop()
		in.Serve(func(bool) (bool, time.Time) { return len(heard) == 2, time.Time{} })
		if want := []time.Duration{time.Second, 3 * time.Second}; !slices.Equal(heard, want) {
			t.Errorf("heard after %v, want %v", heard, want)
		}
		late := in.Later(time.Second, hear)
		time.Sleep(2 * time.Second) // it is in the inbox
		late()
		in.Later(time.Second, func() { hear() })
		in.Serve(func(bool) (bool, time.Time) { return len(heard) == 3, time.Time{} })
		if heard[2] != 6*time.Second {
			t.Errorf("heard after %v although it was stopped", heard)
		}
	})
}

// Who waits for something to be done waits no longer than the goroutine is there.
func TestNobodyWaitsForWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, isDone := opened(), false
		go func() {
			time.Sleep(time.Second)
			in.Close()
		}()
		in.Do(func() { isDone = true })
		if isDone {
			t.Error("it was done by nobody")
		}
	})
}

// A message that came before the queue was empty may bring something else to do: it is heard first.
func TestAQueueRestsWhenNobodySaysMore(t *testing.T) {
	in, isDone := opened(), false
	q := in.NewQueue()
	in.Tell(func() { q.Add(func() {}, func() { isDone = true }) })
	if q.Rest(); !isDone {
		t.Error("it rests before")
	}
}
