package inbox_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
)

func opened() *inbox.Inbox {
	in := &inbox.Inbox{}
	in.Open()
	return in
}

func TestServeEndsWhenItIsSo(t *testing.T) {
	for name, tt := range map[string]struct {
		act  func(in *inbox.Inbox, isSo *atomic.Bool) // behind a second
		due  time.Duration                            // 0: none
		took time.Duration
	}{
		"at once":      {func(*inbox.Inbox, *atomic.Bool) {}, -time.Second, 0},
		"by a message": {func(in *inbox.Inbox, isSo *atomic.Bool) { in.Tell(func() { isSo.Store(true) }) }, 0, time.Second},
		"when woken":   {func(in *inbox.Inbox, isSo *atomic.Bool) { isSo.Store(true); in.Wake() }, time.Hour, time.Second},
		"in time":      {func(in *inbox.Inbox, isSo *atomic.Bool) { in.Wake(); in.Tell(func() {}) }, time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, isSo, begun := opened(), new(atomic.Bool), time.Now()
				go func() {
					time.Sleep(time.Second)
					tt.act(in, isSo)
				}()
				in.Serve(func(bool) (bool, time.Time) {
					if tt.due == 0 {
						return isSo.Load(), time.Time{}
					}
					at := begun.Add(tt.due)
					return isSo.Load() || !time.Now().Before(at), at
				})
				if took := time.Since(begun); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// A time that comes earlier than the one before counts, and so does one behind it.
func TestTimesMayComeEarlierAndLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, begun := opened(), time.Now()
		var asked []time.Duration
		go func() {
			time.Sleep(time.Second)
			in.Wake()
		}()
		dues := []time.Duration{time.Hour, 2 * time.Second, 5 * time.Second, 5 * time.Second}
		in.Serve(func(bool) (bool, time.Time) {
			asked = append(asked, time.Since(begun))
			if len(asked) > len(dues) {
				return true, time.Time{}
			}
			return false, begun.Add(dues[len(asked)-1])
		})
		if want := []time.Duration{0, time.Second, 2 * time.Second, 5 * time.Second, 5 * time.Second}; !slices.Equal(asked, want) {
			t.Errorf("asked at %v, want %v", asked, want)
		}
	})
}

// Without a time nothing but others ends the wait.
func TestNoTimeIsNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, n := opened(), 0
		go func() {
			time.Sleep(time.Second)
			in.Tell(func() {}) // in mid-wait, which had a time before
			time.Sleep(1000 * time.Hour)
			in.Wake()
		}()
		begun := time.Now()
		in.Serve(func(woken bool) (bool, time.Time) {
			n++
			if n == 1 {
				return false, begun.Add(time.Hour)
			}
			return woken, time.Time{}
		})
		if n != 3 || time.Since(begun) < 1000*time.Hour {
			t.Errorf("asked %d times within %v", n, time.Since(begun))
		}
	})
}

func TestMessagesComeInTheirOrder(t *testing.T) {
	in, n := opened(), 0
	var senders sync.WaitGroup
	last := make([]int, 4)
	for k := range last {
		senders.Go(func() {
			for i := 1; i <= 1000; i++ {
				in.Tell(func() {
					if n++; last[k] != i-1 {
						t.Errorf("%d came behind %d", i, last[k])
					}
					last[k] = i
				})
			}
		})
	}
	in.Serve(func(bool) (bool, time.Time) { return n == 4000, time.Time{} })
	senders.Wait()
}

func TestNobodyWaitsForWhoIsGone(t *testing.T) {
	in := opened()
	in.Close()
	for range 10 {
		if in.Wake(); in.Tell(func() {}) {
			t.Fatal("a message was taken")
		}
	}
}

// Who handles a message waits for nothing: another one could end the wait only behind it.
func TestAMessageDoesNotServe(t *testing.T) {
	in := opened()
	in.Tell(func() {
		defer func() {
			if recover() == nil {
				t.Error("it served")
			}
		}()
		in.Serve(func(bool) (bool, time.Time) { return true, time.Time{} })
	})
	n := 0
	in.Serve(func(bool) (bool, time.Time) { n++; return n == 2, time.Time{} })
}

// What takes long keeps no message waiting, and swallows no Wake.
func TestWhatIsDoneElsewhereHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, begun := opened(), time.Now()
		var heard time.Duration // on the goroutine of the inbox
		go func() {
			time.Sleep(time.Second)
			in.Wake()
			in.Do(func() { heard = time.Since(begun) })
		}()
		in.Elsewhere(func() { time.Sleep(time.Minute) })
		if took := time.Since(begun); took != time.Minute || heard != time.Second {
			t.Errorf("it took %v, a message was heard after %v", took, heard)
		}
		in.Serve(func(woken bool) (bool, time.Time) { return woken, time.Time{} })
		in.Elsewhere(func() {})
		begun = time.Now()
		in.Serve(func(woken bool) (bool, time.Time) { return woken || time.Since(begun) > 0, begun.Add(time.Second) })
		if time.Since(begun) == 0 {
			t.Error("it was woken by nobody")
		}
	})
}

// Each wait has its moment, at which somebody may say something.
func TestEachWaitHasItsMoment(t *testing.T) {
	in, moments := opened(), 0
	in.Moment = func() { moments++; in.Wake() }
	in.Serve(func(bool) (bool, time.Time) { return moments == 5, time.Time{} })
}
