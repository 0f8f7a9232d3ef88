//go:build e2e && linux

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// planting is what an agent makes where the real ones look for what they run or believe, and
// a token that is renewed.
const planting = `cd ~
for f in .claude/settings.json .claude/settings.local.json .claude/CLAUDE.md .claude/hooks/x .claude/skills/x/SKILL.md .claude/agents/x.md .claude/plugins/x .claude/local/claude .claude/shell-snapshots/x.sh \
  .pi/agent/settings.json .pi/agent/models.json .pi/agent/extensions/x.ts .pi/agent/bin/rg .pi/agent/tools/x .pi/agent/SYSTEM.md .pi/agent/trust.json .pi/agent/skills/x.md .local/bin/x .bashrc; do
	mkdir -p "$(dirname $f)"; echo evil >>$f
done 2>/dev/null
echo '{"mcpServers":{"x":{"command":"evil"}}}' >.claude.json
for f in .pi/agent/auth.json .claude/.credentials.json; do [ -e $f ] && sed -i 's/"renew-1"/"renew-2"/; s/"key": *"[^"]*"/"key":"!evil"/' $f; done
cat .config/rclone/rclone.conf other/.env .claude/projects/other/s.jsonl .pi/agent/sessions/*/*.jsonl >>"$1/seen" 2>/dev/null
true
`

// Over two runs and another loop, the real agents work, and of what they make of their own only a
// renewed token is outside.
func TestRealAgentsKeepOnlyTheirLogin(t *testing.T) {
	for _, a := range both {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			turns := []fakemodel.Turn{does(a.bash("sh ./plant.sh \"$PWD\"")), says("once more")}
			last := []fakemodel.Turn{does(a.bash("sh ./plant.sh \"$PWD\"")), says("<promise>DONE</promise>")}
			p := prepare(t, a, fakemodel.Script{Turns: append(slices.Concat(turns, last, last), fakemodel.Turn{Match: "And now?", Text: "Nothing is left.", For: "any"})})
			p.canHaveWalls()
			for name, text := range map[string]string{
				"home/.pi/agent/auth.json":        `{"x": {"type": "oauth", "access": "renew-1", "refresh": "r", "expires": 1}, "y": {"type": "api_key", "key": "k"}}`,
				"home/.claude/.credentials.json":  `{"mcpOAuth": {"x": {"accessToken": "renew-1", "key": "k"}}}`,
				"home/.claude.json":               `{"numStartups": 7}`,
				"home/.config/rclone/rclone.conf": "secret\n", "home/other/.env": "secret\n",
				"home/.claude/projects/other/s.jsonl": "what was asked elsewhere\n", "home/.pi/agent/sessions/other/s.jsonl": "the same\n",
				"work/plant.sh": planting,
			} {
				base, rest, _ := strings.Cut(name, "/")
				path := filepath.Join(map[string]string{"home": p.box.Home, "work": p.box.Dir}[base], rest)
				must.Write(t, path, text)
			}
			before := contents(t, p.box.Home)
			for range 2 {
				args := append(p.agent.anyToolArgs(), "--sandbox", "workspace", "--max-iterations", "2", "--completion-promise", "DONE", prompt)
				cmd := p.box.Command(context.Background(), ralph, append([]string{"run", "-C", p.box.Dir, "--backend", a.backend}, append(backendArgs(a), args...)...)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			seen, err := os.ReadFile(filepath.Join(p.box.Dir, "seen"))
			if err != nil || len(seen) > 0 {
				t.Errorf("seen inside: %v\n%s", err, seen)
			}
			after := contents(t, p.box.Home)
			login := map[string]string{"pi": ".pi/agent/auth.json", "claude": ".claude/.credentials.json"}[a.name]
			for name, text := range after {
				switch was, isThere := before[name]; {
				case name == login && strings.Contains(text, "renew-2") && !strings.Contains(text, "evil"):
				case strings.HasPrefix(name, ".pi/agent/sessions/"), strings.HasPrefix(name, ".cache/"), strings.HasPrefix(name, ".local/state/ralph-lsp/"), strings.HasPrefix(name, ".config/ralph-lsp/"):
				case !isThere || was != text:
					t.Errorf("%s has %q now and had %q", name, text, was)
				}
			}
			sessions, _ := filepath.Glob(filepath.Join(p.box.Home, ".pi", "agent", "sessions", "--*", "*.jsonl"))
			if len(sessions) != 2 {
				t.Fatalf("outside there are the sessions %q", sessions)
			}
			p.openWithPi(agents.Pi, sessions[0], "And now?")
		})
	}
}

func backendArgs(a agent) (args []string) {
	for _, arg := range a.args {
		args = append(args, "--backend-arg", arg)
	}
	return args
}

// contents has the files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[name] = string(data)
		return err
	})
	must.OK(t, err)
	return found
}
