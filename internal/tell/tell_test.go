package tell

import (
	"strings"
	"testing"
	"time"
)

func TestNearest(t *testing.T) {
	names := []string{"pi", "claude", "max_iterations"}
	for name, want := range map[string]string{
		"PI": "pi", "p": "pi", "xy": "", "pixy": "pi", "claud": "claude", "cloud": "claude", "loud": "",
		"max_iter": "", "max_iterate": "max_iterations", "something": "", "": "", strings.Repeat("pi", 51): "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	for word, want := range map[string]string{
		"pie": "did you mean -pi?", "a-": "did you mean -a-x or -a-y?", "a": "did you mean -a-x or -a-y?", "zzzzz": "",
	} {
		if got := DidYouMean(word, "-", []string{"pi", "a-x", "a-y"}); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "10s": 10 * time.Second, "1m": time.Minute, "1m10s": 70 * time.Second, "4h": 4 * time.Hour, "1h30m": 90 * time.Minute,
		"1h0m5s": time.Hour + 5*time.Second, "20m": 20 * time.Minute, "1.5s": 1500 * time.Millisecond, "10h": 10 * time.Hour,
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
