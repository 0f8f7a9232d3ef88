package wire

import (
	"math"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// CostOf is a cost as it is told: to a billionth, as sums of fractions end in noise, and unknown
// when nothing can have cost that much.
func CostOf(c stream.Cost) stream.Cost {
	if c.IsZero() {
		return stream.Cost{}
	}
	return stream.USD(math.Round(c.USD*1e9) / 1e9)
}
