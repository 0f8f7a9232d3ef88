package tell

import (
	"fmt"
	"strings"
	"time"
)

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

// Elapsed writes a time that was measured, as far as it is of interest: 0.3s, 9s,
// 45s, 2m05s, 1h02m. Tenths are only of what is less than 10 seconds and not
// full ones: who shows a clock gives it full seconds.
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
