package git

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestHowMuchGitCompresses(t *testing.T) {
	dir, noise := t.TempDir(), make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, text := range map[string]string{"noise": string(noise), "text": strings.Repeat("a line\n", 50_000), "empty": ""} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for names, want := range map[string]string{"noise": "0", "text": "1", "empty": "1", "gone": "1", "noise noise noise text": "1"} {
		if got := levelOf(dir, strings.Fields(names)); got != want {
			t.Errorf("%s: %s", names, got)
		}
	}
}
