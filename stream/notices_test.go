package stream

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// corpusTime is when the notices of the corpus were given.
func corpusTime(t testing.TB) time.Time {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	must.OK(t, err)
	return time.Date(2026, 11, 28, 14, 0, 0, 0, berlin)
}

func TestNoticesThatWereGiven(t *testing.T) {
	now := corpusTime(t)
	data := must.Read(t, "testdata/notices.tsv")
	var all []string
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 || fields[2] == "" {
			t.Fatalf("not a kind, a time, a source and a text: %q", line)
		}
		all = append(all, fields[3])
		e, got := ClassifyError(0, fields[3], now), "-"
		if !e.ResetsAt.IsZero() {
			got = e.ResetsAt.Format(time.RFC3339)
		}
		want := fields[1]
		if at, err := time.Parse(time.RFC3339, want); err == nil && at.Equal(e.ResetsAt) {
			want = got
		}
		if string(e.Kind) != fields[0] || got != want {
			t.Errorf("%s\n   is %s until %s, want %s until %s", fields[3], e.Kind, got, fields[0], want)
		}
	}
	if len(all) < 30 {
		t.Fatalf("only %d notices", len(all))
	}
}

// Each row of the tables is said by somebody, and what it is like is what it reads.
func TestEachRowOfNoticesIsRead(t *testing.T) {
	for _, n := range notices {
		said := "It is " + strings.ReplaceAll(n.phrase, " * ", " these three words ")
		if n.source == "" || !n.kind.notes(said) || !n.kind.notes(strings.ToUpper(strings.ReplaceAll(n.phrase, " * ", " "))) {
			t.Errorf("%+v isn't read in %q", n, said)
		}
	}
	for _, form := range timeForms {
		parts := form.pattern().FindStringSubmatch(form.like)
		if parts == nil || form.read(parts[1:], corpusTime(t)).IsZero() {
			t.Errorf("%q isn't read: %q", form.like, parts)
		}
	}
}
