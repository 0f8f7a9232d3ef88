package tell

import (
	"fmt"
	"strings"
)

// USD writes an amount of dollars: $1.42. What is less than a cent has up to four
// digits, $0.0042 or $0.004, and what is less than these can show is <$0.0001.
func USD(amount float64) string {
	switch {
	case amount > 0 && amount < 0.0001:
		return "<$0.0001"
	case amount > 0 && amount < 0.00995: // else it is a cent when it is rounded
		return strings.TrimRight(fmt.Sprintf("$%.4f", amount), "0")
	}
	return fmt.Sprintf("$%.2f", amount)
}
