//go:build e2e && linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
)

// planter leaves behind what programs outside would run: repositories with filters and monitors of its own, and a file
// that an editor obeys. It says what git shows of a file that is hidden.
const planter = `#!/bin/sh
cat >/dev/null
printf '#!/bin/sh\ntouch %[1]s\ncat\n' > evil.sh; chmod +x evil.sh
plant() {
	git -C "$1" config filter.e.clean "$PWD/evil.sh"; git -C "$1" config core.fsmonitor "$PWD/evil.sh"
	echo '* filter=e' > "$1/.gitattributes"; echo x > "$1/f"
}
git init -q sub; plant sub
git init -q --bare bare; git -C bare config core.bare false; git -C bare config core.worktree .; plant bare
echo evil > .nvim.lua
for ref in $(git for-each-ref --format='%%(refname)' refs/ralph); do
	git show "$ref:secret.env"
	for tree in $(git ls-tree --name-only "$ref"); do git show "$ref:$tree/secret.env"; done
done 2>&1
echo LOOP_COMPLETE
`

// What an agent leaves behind its walls is told, and no later loop's own git runs it, with walls or without.
func TestWhatAWalledAgentPlantsRunsNowhere(t *testing.T) {
	walltest.Need(t)
	for _, engine := range []string{"bubblewrap", "sandbox-runtime"} {
		t.Run(engine, func(t *testing.T) {
			path := []string{}
			if engine == "sandbox-runtime" {
				path = runtimePath(t)
			} else if bwrap, err := exec.LookPath("bwrap"); err == nil {
				path = append(path, filepath.Dir(bwrap))
			}
			home, dir := t.TempDir(), t.TempDir()
			ran := filepath.Join(home, "ran")
			agent := filepath.Join(home, "bin", "planter")
			for name, text := range map[string]string{
				agent:                            fmt.Sprintf(planter, ran),
				filepath.Join(dir, "a"):          "1\n",
				filepath.Join(dir, "secret.env"): "the secret\n",
				filepath.Join(home, ".config", "ralph-lsp", "config.toml"): "[sandbox]\nengine = \"" + engine + "\"\nhide = [\"secret.env\"]\n",
			} {
				must.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
				must.OK(t, os.WriteFile(name, []byte(text), 0o700))
			}
			do := func(name string, args ...string) string {
				t.Helper()
				cmd := exec.Command(name, args...)
				cmd.Dir = dir
				cmd.Env = []string{"HOME=" + home, "PATH=" + strings.Join(append(path, "/usr/bin", "/bin"), ":"), "LC_ALL=C.UTF-8",
					"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org"}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s %q: %v\n%s", name, args, err, out)
				}
				return string(out)
			}
			do("git", "init", "-q")
			do("git", "add", "a")
			do("git", "commit", "-q", "-m", "x")
			first := do(ralph, "run", "--sandbox", "workspace", "--backend", agent, "--max-iterations", "1", "x")
			for _, want := range []string{"/sub/.git was made", "/bare was made", "/.nvim.lua was made", "done: LOOP_COMPLETE"} {
				if !strings.Contains(first, want) {
					t.Errorf("%q isn't told:\n%s", want, first)
				}
			}
			for _, walls := range []string{"workspace", "off"} {
				for _, folder := range []string{".", "sub", "bare"} {
					out := do(ralph, "run", "-C", filepath.Join(dir, folder), "--sandbox", walls, "--backend", "/bin/true", "--max-iterations", "1", "--until", "true", "x")
					if _, err := os.Stat(ran); err == nil {
						t.Fatalf("it ran at a start in %s, with walls %s:\n%s", folder, walls, out)
					}
				}
			}
			if out := do(ralph, "run", "--sandbox", "workspace", "--backend", agent, "--max-iterations", "1", "x"); strings.Contains(first+out, "the secret") {
				t.Errorf("git shows what is hidden:\n%s%s", first, out)
			}
		})
	}
}
