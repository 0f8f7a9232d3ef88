package fleet

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// A result is kept for a bus that is away: for long while the worker works, and not for long
// when it is to stop.
func TestAResultIsKeptForABusThatIsAway(t *testing.T) {
	away := errors.New("no answer")
	tests := map[string]struct {
		stops time.Duration // of the worker, after the first try
		is    []error       // what the bus says at each try; the last one from then on
		want  error
		after time.Duration
	}{
		"there at once":                {stops: time.Hour, is: []error{nil}},
		"back at the third try":        {stops: time.Hour, is: []error{away, away, nil}, after: time.Second},
		"another worker has the loop":  {stops: time.Hour, is: []error{away, ErrNotOur}, want: ErrNotOur, after: time.Second / 2},
		"the loop is removed":          {stops: time.Hour, is: []error{ErrNotFound}, want: ErrNotFound},
		"away for ever":                {stops: time.Hour, is: []error{away}, want: away, after: persistLimit},
		"the worker stops":             {stops: time.Minute, is: []error{away}, want: away, after: time.Minute + stopLimit},
		"the worker was stopped":       {is: []error{away}, want: away, after: stopLimit},
		"the worker stops at the end":  {stops: persistLimit - time.Second, is: []error{away}, want: away, after: persistLimit},
		"stopped, and the bus is back": {is: []error{away, nil}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.stops)
				defer cancel()
				synctest.Wait()
				tries, begun := 0, time.Now()
				worker, a := Worker{}, &attempt{ticket: &memoryTicket{}, log: slog.New(slog.DiscardHandler)}
				err := worker.persist(ctx, a, func() error {
					tries++
					return test.is[min(tries, len(test.is))-1]
				})
				if took := time.Since(begun); !errors.Is(err, test.want) || took != test.after {
					t.Errorf("%v after %s and %d tries, want %v after %s", err, took, tries, test.want, test.after)
				}
			})
		})
	}
}
