// Package testhome gives a test binary a home of its own, so that no test
// reads or writes what its developer has there.
package testhome

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ralph-lsp/internal/proctest"
)

// Main is the TestMain of a package whose test binary plays roles as well, as an
// agent or a tool of one, and exits. The variable names the role.
func Main(m *testing.M, variable string, roles map[string]func()) {
	if role := os.Getenv(variable); role != "" {
		play, ok := roles[role]
		if !ok {
			panic("no role " + role)
		}
		play()
		os.Exit(0)
	}
	proctest.HeedSignals()
	os.Setenv("GORACE", "atexit_sleep_ms=0") // or each role takes a second to exit
	remove, err := Use()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// Use makes a temporary folder the home and the place of all settings, for this
// process and its children, and returns what removes it. The go command, which
// some tests start, keeps its caches: it would else download everything anew.
func Use() (remove func(), err error) {
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return nil, fmt.Errorf("asking go for %s: %w", name, err)
		}
		if err := os.Setenv(name, strings.TrimSpace(string(out))); err != nil {
			return nil, err
		}
	}
	if err := os.Setenv("LC_ALL", "C.UTF-8"); err != nil { // the marks that tests expect
		return nil, err
	}
	home, err := os.MkdirTemp("", "ralph-home-")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "AppData", "XDG_CACHE_HOME", "LocalAppData", "PI_CODING_AGENT_DIR"} {
		if err := os.Setenv(name, home); err != nil {
			return nil, err
		}
	}
	if err := Offered(home); err != nil {
		return nil, err
	}
	return func() { os.RemoveAll(home) }, nil
}

// Offered makes a folder for settings one of a user who was offered a sandbox already: the
// first start would else say so, on machines that can have one.
func Offered(config string) error {
	dir := filepath.Join(config, "ralph-lsp")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "offered"), []byte("sandbox\n"), 0o600)
}
