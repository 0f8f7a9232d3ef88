package agents

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// Sandbox is a place where an agent runs that reaches nothing but a fake model:
// home, temporary files and work folder are the test's own, and the environment
// is made from scratch.
type Sandbox struct {
	Home string
	Tmp  string
	Dir  string // the work folder, empty at first

	env []string
}

// FakeModelArgs tells pi to use the fake model. claude needs no such arguments:
// it is told by its environment.
var FakeModelArgs = []string{"--provider", "fake", "--model", "fake-model"}

// NewSandbox makes a sandbox in which each pin's command is found first on PATH
// and speaks to the fake model at modelURL.
func NewSandbox(t testing.TB, set *Set, modelURL string, pins ...Pin) *Sandbox {
	t.Helper()
	root := t.TempDir()
	s := &Sandbox{
		Home: filepath.Join(root, "home"),
		Tmp:  filepath.Join(root, "tmp"),
		Dir:  filepath.Join(root, "work"),
	}
	for _, dir := range []string{s.Home, s.Tmp, s.Dir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.writePiSettings(t, modelURL)
	if err := testhome.Offered(filepath.Join(s.Home, ".config")); err != nil {
		t.Fatal(err)
	}
	// claude's engine optimizes for hours and collects beside; without, a run of seconds computes a seventh less.
	s.env = set.Env(append(baseEnv(s.Home, s.Tmp), "PATH="+systemPath(), "BUN_JSC_useDFGJIT=0", "BUN_JSC_useConcurrentGC=0",
		"ANTHROPIC_BASE_URL="+modelURL, "ANTHROPIC_API_KEY=fake", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1", "PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1"), pins...)
	return s
}

// writePiSettings makes the fake model known to pi, and its retries quick.
func (s *Sandbox) writePiSettings(t testing.TB, modelURL string) {
	t.Helper()
	s.WriteJSON(t, ".pi/agent/models.json", map[string]any{"providers": map[string]any{"fake": map[string]any{
		"baseUrl": modelURL, "api": "anthropic-messages", "apiKey": "fake",
		"models": []any{map[string]any{
			"id": "fake-model", "reasoning": true, "contextWindow": 200_000, "maxTokens": 8192,
			"cost": map[string]any{"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
		}},
	}}})
	s.WriteJSON(t, ".pi/agent/settings.json", map[string]any{"retry": map[string]any{"baseDelayMs": 100}})
}

// WriteJSON writes v to a file below the home folder; path is slash-separated.
func (s *Sandbox) WriteJSON(t testing.TB, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.Home, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Setenv sets a variable for the commands that are made from now on.
func (s *Sandbox) Setenv(name, value string) {
	s.env = append(s.env, name+"="+value)
}

// Command prepares to run a program in the sandbox: a path, or a name that is
// looked up on the sandbox's PATH. It is killed when ctx is done.
func (s *Sandbox) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.find(program), args...)
	cmd.Dir = s.Dir
	cmd.Env = slices.Clone(s.env)
	cmd.WaitDelay = time.Second
	return cmd
}

// find looks a program up on the sandbox's own PATH. What isn't there is left
// as it is: running it gives the error.
func (s *Sandbox) find(program string) string {
	if strings.ContainsRune(program, filepath.Separator) {
		return program
	}
	for _, kv := range s.env {
		path, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			if found, err := lookPath(dir, program); err == nil {
				return found
			}
		}
	}
	return program
}

// baseEnv is the least that programs expect. The proxy is a port where nobody
// listens: whatever would leave the machine fails at once.
func baseEnv(home, tmp string) []string {
	const nowhere = "http://127.0.0.1:9"
	env := []string{
		"HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "TERM=dumb",
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "NO_PROXY=127.0.0.1,localhost",
	}
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+home, "TEMP="+tmp, "TMP="+tmp, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	return env
}

// systemPath is where the shell and its tools are, without the user's own
// programs.
func systemPath() string {
	if runtime.GOOS == "windows" {
		return os.Getenv("PATH")
	}
	return "/usr/local/bin:/usr/bin:/bin"
}
