package fallback

import (
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
)

// Outage is since when no provider can be reached; the zero value is not at all.
type Outage struct{ since time.Time }

// Tell says once that one begins, and once that it is over; "" is nothing.
func (o *Outage) Tell(r judge.Report, now time.Time) string {
	began := now.Add(-r.Exit.Duration)
	switch {
	case r.Unreached && o.since.IsZero():
		o.since = began
		return fmt.Sprintf("the provider can't be reached since %s, so the loop waits for the network; that counts for no limit", began.Local().Format("15:04"))
	case !r.Unreached && !o.since.IsZero():
		text := "the provider is reached again, after " + tell.Elapsed(began.Sub(o.since))
		o.since = time.Time{}
		return text
	}
	return ""
}
