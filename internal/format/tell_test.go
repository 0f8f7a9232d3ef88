package format

import (
	"math"
	"os/exec"
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

func TestKnown(t *testing.T) {
	for word, want := range map[string]string{"pie": "did you mean pi? known are pi, amp", "zzzzz": "known are pi, amp"} {
		if got := Known(word, []string{"pi", "amp"}); got != want {
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

func TestElapsed(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": -time.Second, "0.3s": 399 * time.Millisecond, "9s": 9 * time.Second, "9.9s": 10*time.Second - 1, "10s": 10*time.Second + 900*time.Millisecond,
		"59s": time.Minute - 1, "1m00s": time.Minute, "2m05s": 125 * time.Second, "1h00m": time.Hour + 59*time.Second, "100h01m": 100*time.Hour + time.Minute,
	} {
		if got := Elapsed(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestUSD(t *testing.T) {
	for want, amount := range map[string]float64{
		"$0.00": 0, "<$0.0001": 0.00009, "$0.0001": 0.0001, "$0.0042": 0.0042, "$0.004": 0.00399999, "$0.0099": 0.0099, "$0.01": 0.00999, "$1.42": 1.42, "$1000000000.00": 1e9, ">$1,000,000,000": 1e308, "$?": math.NaN(), "$1234.50": 1234.5,
	} {
		if got := USD(amount); got != want {
			t.Errorf("%v: got %q, want %q", amount, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	for want, n := range map[string]int64{"0": 0, "999": 999, "1.0k": 1000, "12.3k": 12_345, "999.9k": 999_949, "1.0M": 999_950, "12.3M": 12_345_678} {
		if got := Tokens(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// What a shell makes of a word is the word: of one that can't be read or pasted as it is, too.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"":                 `''`,
		"plain/a-b_1":      `plain/a-b_1`,
		"it's":             `'it'\''s'`,
		"für 🙂":            `'für 🙂'`,
		"a\nb'\\ c\x1b[0m": `$'a\012b\'\\ c\033[0m'`,
		"\xff9\ufffd":      `$'\3779` + "\ufffd'",
		"a\u202eb":         `$'a\342\200\256b'`,
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q is written as %s, want %s", word, got, want)
		}
		bash, err := exec.LookPath("bash")
		if err != nil {
			continue
		}
		if out, err := exec.Command(bash, "-c", "printf %s "+ShellWord(word)).Output(); err != nil || string(out) != word {
			t.Errorf("bash reads %s as %q, %v", want, out, err)
		}
	}
}
