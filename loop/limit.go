package loop

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
)

// CapError says that a loop can't be continued, as a limit is reached already.
type CapError struct {
	Reason StopReason // which
	Used   Limits     // the used part of each limit
	Limits Limits
}

func (e *CapError) Error() string {
	limit, _ := limits.ByName(e.Reason.Ending().Limit)
	return fmt.Sprintf("the limit of %s is reached, the loop has used %s: raise it to go on", limit.Amount(e.Limits), limit.Amount(e.Used))
}
