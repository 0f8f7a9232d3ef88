//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
)

// assaults are what an agent runs, by what they come to when they succeed.
var assaults = map[string]string{
	"rm in the home folder":     `rm ~/gone && [ ! -e ~/gone ]`,
	"a file in the home folder": `echo evil >>~/.profile`,
	"a hook":                    `echo evil >>.git/hooks/pre-push`,
	"hooks, moved":              `mv .git/hooks .git/old && mkdir .git/hooks`,
	"the repository, moved":     `mv .git old && mv old .git`,
	"core.fsmonitor":            `git config core.fsmonitor false`,
	"core.sshCommand":           `git config core.sshCommand evil`,
	"a private key":             `grep secret ~/.ssh/id_ed25519`,
	"a note in the home folder": `grep x ~/notes`,
	"the state file":            `echo >>.pi/ralph-loop.local.md`,
	"ralph.toml":                `echo "# evil" >>ralph.toml`,
	"ralph.toml, replaced":      `cp ralph.toml evil.toml && mv evil.toml ralph.toml`,
	"a symlink out":             `ln -s ~/notes link && echo evil >>link`,
	"a hard link out":           `ln ~/notes hard && echo evil >>hard`,
	"/proc/PID/root":            `cat /proc/[0-9]*/root/"$HOME"/.ssh/id_ed25519 | grep secret`,
	"ralph-lsp's process":       `ls -l /proc/[0-9]*/exe | grep /ralph-lsp`,
	"a setuid program":          `grep "NoNewPrivs:.0" /proc/self/status`,
	"a variable of the user's":  `[ "$A_TOKEN" = secret ]`,
}

// TestRealAgentsBehindWalls lets real agents do what they should not be able to, and
// what they should. Without walls each of it comes off.
func TestRealAgentsBehindWalls(t *testing.T) {
	walltest.Need(t)
	script := strings.Builder{}
	for _, name := range slices.Sorted(maps.Keys(assaults)) {
		fmt.Fprintf(&script, "( %s ) >>said 2>&1 && echo \"%s\" >>came-off\n", assaults[name], name)
	}
	script.WriteString("(setsid sleep 3600 >/dev/null 2>&1 &)\n" +
		"echo work >done.txt && git add done.txt && git -c user.name=a -c user.email=a@localhost commit -qm work >>said 2>&1; touch came-off; true\n")
	for _, a := range both {
		for _, mode := range []string{"off", "workspace"} {
			if a.name == claude.name && mode == "off" {
				continue // pi shows that all of it comes off
			}
			t.Run(a.name+", "+mode, func(t *testing.T) {
				t.Parallel()
				p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{
					does(a.bash("sh ./assault.sh")), does(a.write(filepath.Join("written.txt"), "1\n")), says("<promise>DONE</promise>")}})
				p.box.Setenv("A_TOKEN", "secret")
				p.canHaveWalls()
				for name, text := range map[string]string{"~/gone": "x", "~/notes": "x", "~/.ssh/id_ed25519": "secret", "ralph.toml": "# ours\n", "assault.sh": script.String()} {
					path := filepath.Join(p.box.Dir, name)
					if rest, ok := strings.CutPrefix(name, "~/"); ok {
						path = filepath.Join(p.box.Home, rest)
					}
					must.Write(t, path, text)
				}
				if out, err := p.box.Command(context.Background(), "git", "init", "-q", p.box.Dir).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				args := append(p.agent.anyToolArgs(), "--sandbox", mode, "--max-iterations", "2", "--completion-promise", "DONE", prompt)
				p.start(args...)
				if exit := p.wait(); exit != exitDone {
					p.fatalf("exit %d", exit)
				}
				proctest.CheckNone(t, patience, p.mark)
				data, err := os.ReadFile(filepath.Join(p.box.Dir, "came-off"))
				if err != nil {
					p.fatalf("the agent ran nothing: %v", err)
				}
				cameOff, want := strings.Split(strings.TrimSpace(string(data)), "\n"), slices.Sorted(maps.Keys(assaults))
				if mode != "off" {
					want = []string{""}
				}
				if !slices.Equal(cameOff, want) {
					said, _ := os.ReadFile(filepath.Join(p.box.Dir, "said"))
					p.fatalf("came off: %q\nwant: %q\n%s", cameOff, want, said)
				}
				if out, err := p.box.Command(context.Background(), "git", "-C", p.box.Dir, "log", "--format=%s").Output(); string(out) != "work\n" {
					t.Errorf("commits: %q, %v", out, err)
				}
				if _, err := os.Stat(filepath.Join(p.box.Dir, "written.txt")); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// canHaveWalls puts bubblewrap last on the PATH of what the program's sandbox runs.
func (p *program) canHaveWalls() {
	p.t.Helper()
	walltest.Need(p.t)
	must.OK(p.t, p.finds("bwrap"))
}

// finds puts the folder of a program of this machine last on the PATH of what the sandbox runs.
func (p *program) finds(name string) error {
	found, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	for _, kv := range p.box.Command(context.Background(), "true").Env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			p.box.Setenv("PATH", path+":"+filepath.Dir(found))
		}
	}
	return nil
}
