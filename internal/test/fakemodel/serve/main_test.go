package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestServeNamesTheScriptThatIsWrong(t *testing.T) {
	script := filepath.Join(t.TempDir(), "s.json")
	must.OK(t, os.WriteFile(script, []byte(`{"turn":[]}`), 0o600))
	err := serve(script, true)
	if err == nil || !strings.Contains(err.Error(), script) || !strings.Contains(err.Error(), `"turn"`) {
		t.Errorf("error %v", err)
	}
}
