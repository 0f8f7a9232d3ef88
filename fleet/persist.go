package fleet

import (
	"context"
	"errors"
	"time"
)

// persistLimit bounds how long a result is kept for a bus that is away, and stopLimit how long
// by a worker that is to stop: what ends it by force is due then.
const (
	persistLimit = 10 * time.Minute
	stopLimit    = 30 * time.Second
)

// persist does something with the bus, as often as it takes while that is away. What
// somebody else decided meanwhile stays so.
func (w *Worker) persist(ctx context.Context, a *attempt, do func() error) error {
	begun, stopped := time.Now(), ctx.Done()
	late := time.NewTimer(persistLimit)
	defer late.Stop()
	for {
		err := do()
		if err == nil || errors.Is(err, ErrNotOur) || errors.Is(err, ErrNotFound) {
			return err
		}
		a.log.Warn("the bus doesn't answer; trying again", "error", err)
		a.ticket.Renew(context.WithoutCancel(ctx))
		select {
		case <-late.C:
			return err
		case <-stopped:
			stopped = nil
			late.Reset(min(stopLimit, persistLimit-time.Since(begun)))
		case <-time.After(500 * time.Millisecond):
		}
	}
}
