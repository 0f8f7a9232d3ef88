package history

import (
	"testing"
	"time"
)

func TestStampsOfManyEntries(t *testing.T) {
	var s stamper
	at := time.Date(2026, 1, 2, 3, 4, 5, 999e6, time.UTC)
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{
		{0, "2026-01-02T03:04:05.999Z"},
		{time.Millisecond - 1, "2026-01-02T03:04:05.999Z"},
		{time.Millisecond, "2026-01-02T03:04:06.000Z"},
		{0, "2026-01-02T03:04:05.999Z"}, // the clock was set back
	} {
		if got := s.stamp(at.Add(tt.after)); got != tt.want {
			t.Errorf("%v later: %s, want %s", tt.after, got, tt.want)
		}
	}
	if got := new(stamper).stamp(time.UnixMilli(0)); got != "1970-01-01T00:00:00.000Z" {
		t.Errorf("got %q", got)
	}
}
