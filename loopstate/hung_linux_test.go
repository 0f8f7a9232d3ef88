package loopstate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// A reaper adds to the record of a process that it has ended, and nothing else in it changes.
func TestAReapersVerdictIsReadWithTheRecord(t *testing.T) {
	file, err := Open(t.TempDir())
	must.OK(t, err)
	const record = `{"pid":7,"loopId":"ralph-a","processStart":"x"}` + "\n"
	lock := filepath.Join(file.Folder(), lockName)
	dir, err := registry.Dir(file.Folder(), "ralph-a")
	must.OK(t, errors.Join(err, os.MkdirAll(filepath.Dir(lock), 0o700), os.MkdirAll(dir, 0o700), os.WriteFile(lock, []byte(record), 0o600)))
	for _, tt := range []struct{ added, hung string }{
		{"", ""},
		{reaper.Verdict, "its process answered nothing for 30 s and was ended"},
		{reaper.Verdict + reaper.Verdict, "its process answered nothing for 30 s and was ended"}, // one reaper for each agent
		{"[]", ""},
		{`{"pid":8}`, ""},
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, registry.OwnerName), []byte(record+tt.added), 0o600))
		if o, held, err := file.Owner(); o.Hung != tt.hung || o.PID != 7 || o.LoopID != "ralph-a" || held || err != nil {
			t.Errorf("with %q: %+v, %t, %v", tt.added, o, held, err)
		}
	}
}
