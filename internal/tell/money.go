package tell

import (
	"fmt"
	"math"
	"strings"
)

// MaxUSD is the most dollars that an amount can be: what is more is a mistake.
const MaxUSD = 1_000_000_000

// USD writes an amount of dollars: $1.42. What is less than a cent has up to four
// digits, $0.0042 or $0.004, and what is less than these can show is <$0.0001. What nobody
// has is no more than that.
func USD(amount float64) string {
	switch {
	case math.IsNaN(amount):
		return "$?"
	case amount > MaxUSD:
		return ">$" + Number(MaxUSD)
	case amount > 0 && amount < 0.0001:
		return "<$0.0001"
	case amount > 0 && amount < 0.00995: // else it is a cent when it is rounded
		return strings.TrimRight(fmt.Sprintf("$%.4f", amount), "0")
	}
	return fmt.Sprintf("$%.2f", amount)
}
