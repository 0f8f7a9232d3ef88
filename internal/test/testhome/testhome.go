// Package testhome gives a test binary a home of its own, so that no test
// reads or writes what its developer has there.
package testhome

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
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
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	cache, modules, both := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || !both {
		return nil, fmt.Errorf("asking go for its caches: %q, %w", out, err)
	}
	if err := errors.Join(os.Setenv("GOCACHE", cache), os.Setenv("GOMODCACHE", modules)); err != nil {
		return nil, err
	}
	if err := os.Setenv("LC_ALL", "C.UTF-8"); err != nil { // the marks that tests expect
		return nil, err
	}
	ForgetGit()
	home, err := os.MkdirTemp("", "ralph-home-")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "AppData", "XDG_CACHE_HOME", "LocalAppData",
		"PI_CODING_AGENT_DIR"} {
		if err := os.Setenv(name, home); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(os.Unsetenv("RALPH_STATE_DIR"), Offered(home), noTelemetry()); err != nil {
		return nil, err
	}
	return func() { os.RemoveAll(home) }, nil
}

// ForgetGit forgets what git tells the tests of its repository and commits in which they are
// run by a hook, or by git rebase --exec.
func ForgetGit() {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_SSL_") {
			os.Unsetenv(name)
		}
	}
}

// noTelemetry keeps the go command from leaving a process behind at its first start in a
// home: that process writes there, even while the home is being removed.
func noTelemetry() error {
	config, err := os.UserConfigDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(config, "go", "telemetry")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "mode"), []byte("off\n"), 0o600)
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

// Place makes files in a home folder, which is the user's until the test ends, and in a
// loop's folder, by names such as "home/.claude/agents/a.md" and "folder/.pi/agents/b.md".
// It returns the folder that has both.
func Place(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"home", "folder"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, filepath.Join(dir, "home"))
	}
	t.Setenv("PI_CODING_AGENT_DIR", "")
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	return dir
}

// Git runs git in a folder, and returns what it prints.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// Short makes a temporary folder that is removed when the test ends. The kernel takes no
// socket with a path of over 107 bytes, and the path of t.TempDir has the test's name.
func Short(t testing.TB) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
