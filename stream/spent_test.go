package stream

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestWhatAFileSaysIsBelievedWithinReason(t *testing.T) {
	for usd, known := range map[float64]bool{0: true, 1e9: true, 1e300: false, -1: false, math.Inf(1): false} {
		if data, err := json.Marshal(Spent{Cost: USD(usd), Tokens: 1}); err != nil || strings.Contains(string(data), "costUsd") != known {
			t.Errorf("%v: %s, %v", usd, data, err)
		}
		var read Spent
		data, _ := json.Marshal(usd)
		if _ = json.Unmarshal([]byte(`{"costUsd":`+string(data)+`}`), &read); read.Cost.Known != known {
			t.Errorf("%s: %+v", data, read)
		}
	}
}

func TestADurationIsInMilliseconds(t *testing.T) {
	for text, want := range map[string]Duration{"5": Duration(5 * time.Millisecond), "-1": 0, "9223372036854775807": 0, "9223372036854": Duration(9223372036854 * time.Millisecond)} {
		var d Duration
		if err := json.Unmarshal([]byte(text), &d); err != nil || d != want {
			t.Errorf("%s ms: %v, %v", text, time.Duration(d), err)
		}
	}
	for d, want := range map[time.Duration]string{1500 * time.Microsecond: `{"durationMs":1}`, 999 * time.Microsecond: `{}`, 2 * time.Second: `{"durationMs":2000}`} {
		if data, err := json.Marshal(Spent{Duration: Duration(d)}); err != nil || string(data) != want {
			t.Errorf("%v: %s, %v", d, data, err)
		}
	}
	var d Duration
	if err := json.Unmarshal([]byte(`"soon"`), &d); err == nil {
		t.Error("a text is read as a duration")
	}
}
