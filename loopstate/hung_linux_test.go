package loopstate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
)

// A reaper adds to the record of a process that it has ended, and nothing else in it changes.
func TestAReapersVerdictIsReadWithTheRecord(t *testing.T) {
	file, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(file.Folder(), lockName)
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		t.Fatal(err)
	}
	const record = `{"pid":7,"loopId":"ralph-a","processStart":"x"}` + "\n"
	for _, tt := range []struct{ added, hung string }{
		{"", ""},
		{reaper.Verdict, "its process answered nothing for 30 s and was ended"},
		{reaper.Verdict + reaper.Verdict, "its process answered nothing for 30 s and was ended"}, // one reaper for each agent
		{"[]", ""},
		{`{"pid":8}`, ""},
	} {
		if err := os.WriteFile(lock, []byte(record+tt.added), 0o600); err != nil {
			t.Fatal(err)
		}
		if o, held, err := file.Owner(); o.Hung != tt.hung || o.PID != 7 || o.LoopID != "ralph-a" || held || err != nil {
			t.Errorf("with %q: %+v, %t, %v", tt.added, o, held, err)
		}
	}
}
