package fleet

import (
	"context"
	"errors"
	"time"
)

// hold keeps the loop for this worker, and lets the child know. It ends the attempt when
// the loop is another worker's, or is to end.
func (w *Worker) hold(ctx context.Context, a *attempt, lose context.CancelCauseFunc) {
	var changes <-chan Record
	watch := func() {
		var err error
		if changes, err = w.Bus.Watch(ctx, a.ID); err != nil {
			a.log.Warn("the loop can't be watched; trying again", "error", err)
		}
	}
	watch()
	renew := func() {
		// A renewal that hangs must not outlast the lease: the child ends by itself without its beat.
		within, cancel := context.WithTimeout(ctx, a.lease/3)
		defer cancel()
		if beat := a.renewal.Load(); a.ticket.Renew(within, a.lease) == nil && beat != nil {
			(*beat)()
		}
	}
	renew()
	// A third, so that two renewals in a row may fail before the lease is over.
	ticks := time.NewTicker(a.lease / 3)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case r, ok := <-changes:
			switch {
			case !ok: // it is watched again with the next tick
				changes = nil
			case r.Attempt > a.Attempt:
				lose(ErrNotOur)
			case r.Wish == WishCancel:
				lose(errCancelled)
			default:
				a.listens.hear(r.Guidance)
			}
		case <-ticks.C:
			renew()
			if changes == nil && ctx.Err() == nil {
				watch()
			}
		}
	}
}

var errOther = errors.New("what stands there is another one")

var errCancelled = errors.New("it is cancelled")
