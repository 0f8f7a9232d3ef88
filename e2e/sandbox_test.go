//go:build e2e && linux

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
)

// intruder tries what walls are for, and says what it got.
const intruder = `#!/bin/sh
cat >/dev/null
echo in > in && echo "wrote the folder"
touch "$TMPDIR/a" && echo "wrote TMPDIR"
git commit -q --allow-empty -m x && echo committed
echo out > ~/out
cat ~/.ssh/id_ed25519 ~/.config/rclone/rclone.conf 2>/dev/null | sed 's/^/read /'
cat ~/.gitconfig
echo x >> .git/config; echo h > .git/hooks/post-commit
touch ralph.toml .pi/ralph-loop.local.md
echo "token ${MY_TOKEN:-unset}"
for url in %s https://evil.example/; do
	NO_PROXY= no_proxy= node -e 'fetch(process.argv[1]).then((r) => r.text()).then((t) => console.log("got", t)).catch(() => {})' $url
done
echo LOOP_COMPLETE
`

// runtimePath is where the engine sandbox-runtime finds what it needs, which is all there.
func runtimePath(t *testing.T) []string {
	t.Helper()
	cache, err := agents.CacheDir()
	must.OK(t, err)
	path := []string{installed.BinDir(agents.SandboxRuntime), installed.NodeBinDir()}
	for _, tool := range []string{"socat", "rg", "bwrap"} {
		dir := filepath.Join(filepath.Dir(cache), "editors", tool, "bookworm", "usr", "bin")
		if _, err := os.Stat(filepath.Join(dir, tool)); err == nil {
			path = append(path, dir)
		} else if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv(walltest.Required) != "" {
				t.Fatalf("%s is missing: make sandbox-tools", tool)
			}
			t.Skip(tool + " is missing: make sandbox-tools")
		}
	}
	return path
}

// librariesOfSocat are where those are, for a list in TOML: the one of .cache has its own, which may lie in a home.
func librariesOfSocat(t *testing.T, path []string) string {
	t.Helper()
	for _, dir := range append(path, "/usr/bin", "/bin") {
		if out, err := exec.Command("ldd", filepath.Join(dir, "socat")).Output(); err == nil {
			var dirs []string
			for _, library := range regexp.MustCompile(`/\S+`).FindAllString(string(out), -1) {
				dirs = append(dirs, strconv.Quote(filepath.Dir(library)))
			}
			slices.Sort(dirs)
			return strings.Join(slices.Compact(dirs), ", ")
		}
	}
	t.Fatal("ldd finds no socat")
	return ""
}

// The real sandbox-runtime lets through what it is told, and its refusals are told.
func TestTheWallsOfSandboxRuntime(t *testing.T) {
	walltest.Need(t)
	path := runtimePath(t)
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "an answer") }))
	defer open.Close()

	home, dir := t.TempDir(), t.TempDir()
	write := func(mode os.FileMode, name, text string) string {
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.OK(t, os.WriteFile(name, []byte(text), mode))
		return name
	}
	agent := write(0o700, filepath.Join(home, "bin", "intruder"), fmt.Sprintf(intruder, open.URL))
	write(0o600, filepath.Join(home, ".ssh", "id_ed25519"), "a key\n")
	write(0o600, filepath.Join(home, ".config", "rclone", "rclone.conf"), "a key\n")
	write(0o600, filepath.Join(home, ".gitconfig"), "# what git is told\n")
	write(0o600, filepath.Join(home, ".config", "ralph-lsp", "config.toml"), fmt.Sprintf("[sandbox]\nengine = \"sandbox-runtime\"\nhosts = [\"127.0.0.1\"]\nread = [%s]\n", librariesOfSocat(t, path)))
	do := func(path []string, name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + home, "PATH=" + strings.Join(append(path, "/usr/bin", "/bin"), ":"), "LC_ALL=C.UTF-8", "MY_TOKEN=secret",
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org"}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := do(nil, "git", "init", "-q"); err != nil {
		t.Fatal(out)
	}
	config := must.Read(t, filepath.Join(dir, ".git", "config"))
	start := []string{"run", "--sandbox", "workspace", "--backend", agent, "--max-iterations", "1", "x"}

	out, err := do(nil, ralph, start...)
	if err == nil || !strings.Contains(out, "sandbox-runtime is not installed; install it: npm install -g @anthropic-ai/sandbox-runtime") {
		t.Errorf("without the package: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "in")); err == nil {
		t.Fatal("it ran without walls")
	}

	out, err = do(path, ralph, start...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"wrote the folder", "wrote TMPDIR", "committed", "token unset", "what git is told", "got an answer", "the sandbox refused to write " + filepath.Join(home, "out"), "the sandbox refused to reach evil.example:443", "done: LOOP_COMPLETE"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, unwanted := range []string{"read a key", "secret"} {
		if strings.Contains(out, unwanted) {
			t.Errorf("it got %q", unwanted)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
	if now, err := os.ReadFile(filepath.Join(dir, ".git", "config")); err != nil || string(now) != string(config) {
		t.Errorf("git's configuration is %q", now)
	}
	left, err := os.ReadDir(dir)
	must.OK(t, err)
	var names []string
	for _, entry := range left {
		names = append(names, entry.Name())
	}
	if got := strings.Join(names, " "); got != ".git in" {
		t.Errorf("the folder has %s", got)
	}
	if _, err := os.Stat(filepath.Join(home, "out")); err == nil {
		t.Error("it wrote into the home folder")
	}
}
