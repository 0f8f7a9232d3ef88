package tell

import "fmt"

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
