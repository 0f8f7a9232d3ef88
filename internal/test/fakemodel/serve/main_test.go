package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestServeNamesTheScriptThatIsWrong(t *testing.T) {
	script := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(script, []byte(`{"turn":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := serve(script, true)
	if err == nil || !strings.Contains(err.Error(), script) || !strings.Contains(err.Error(), `"turn"`) {
		t.Errorf("error %v", err)
	}
}
