package format

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Tokens writes a count of tokens: 940, 12.3k, 1.2M.
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950: // else it is 1.0M when it is rounded
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Number writes a large number so that it can be read: 49,871.
func Number(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Amount is Counted for what may be many: "50,000 lines".
func Amount(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}

// Counted writes "1 iteration", "7 iterations".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// OfMax writes "3/50", or "3" where there is no limit.
func OfMax(n, limit int) string {
	if limit == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, limit)
}

// Bytes writes a size: 940 B, 12.3 kB, 4.0 GB.
func Bytes(n int64) string {
	size, unit := float64(n), "B"
	for _, larger := range []string{"kB", "MB", "GB", "TB"} {
		if size < 999.95 {
			break
		}
		size, unit = size/1000, larger
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

// Duration writes a duration as it is set, exactly and without its zero parts:
// 4h, not 4h0m0s.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Elapsed writes a measured time: 0.3s, 9s, 45s, 2m05s, 1h02m. Only times of less than 10 seconds have tenths, unless
// they are full; a clock should pass full seconds.
func Elapsed(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%gs", d.Truncate(time.Second/10).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// MaxUSD is the most dollars that an amount can be; a higher one is a mistake.
const MaxUSD = 1_000_000_000

// USD writes an amount of dollars: $1.42. Less than a cent has up to four digits, $0.0042 or $0.004, and less than
// that is <$0.0001. An impossible amount is >$ and MaxUSD.
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
