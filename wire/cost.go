package wire

import (
	"math"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// believed is a cost, unknown when nothing can have cost that much.
func believed(c stream.Cost) stream.Cost {
	if c.IsZero() {
		return stream.Cost{}
	}
	return c
}

// Dollars returns nil for an unknown cost, which the wire leaves out.
func Dollars(c stream.Cost) *float64 {
	if c.IsZero() {
		return nil
	}
	return new(rounded(c.USD))
}

// CostOf is the reverse of Dollars.
func CostOf(usd *float64) stream.Cost {
	if usd == nil {
		return stream.Cost{}
	}
	return stream.CostOf(*usd)
}

// rounded is an amount to a billionth: sums of fractions end in noise.
func rounded(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }
