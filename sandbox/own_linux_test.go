package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// agentOf is an agent with a folder of its own, as pi and claude have one.
var agentOf = sandbox.Agent{Own: []sandbox.Own{{
	Path: "~/.agent", Variable: "AN_AGENTS_FOLDER", Beside: "~/.agent.json",
	Read:  []string{"settings.json", "*.md", "hooks", "extensions"},
	Kept:  "sessions/",
	Login: "auth.json", Tokens: []string{"access", "refresh", "expires"},
}}}

// tree lists the files of a folder with what is in them.
func tree(t *testing.T, dir string) (found []string) {
	t.Helper()
	must.OK(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found = append(found, name+": "+strings.TrimSpace(string(data)))
		return err
	}))
	return found
}

const planted = `cd ~/.agent && cat settings.json hooks/h 2>/dev/null && mkdir -p extensions bin plugins skills sessions/work
for f in settings.json settings.local.json MINE.md extensions/e hooks/h2 bin/rg plugins/p skills/s trust.json sessions/work/s; do echo evil >>$f; done 2>/dev/null
echo '{"mcpServers":{"x":{"command":"evil"}}}' >~/.agent.json; rm -rf hooks; mv hooks old; ln -s ~/work/x AGENTS.md; ls`

// What an agent makes in its own folder goes with the run: what is trusted there, it can't make.
func TestWhatAnAgentMakesOfItsOwnIsGone(t *testing.T) {
	for name, there := range map[string]bool{"there": true, "not there yet": false} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if there {
				must.Write(t, filepath.Join(p.home, ".agent", "settings.json"), "mine")
				must.Write(t, filepath.Join(p.home, ".agent", "hooks", "h"), "hook")
				must.Write(t, filepath.Join(p.home, ".agent", "history"), "what others asked")
				must.Write(t, filepath.Join(p.home, ".agent.json"), "{}")
			}
			before := tree(t, p.home)
			var first string
			for range 2 {
				walls := raise(t, sandbox.Spec{}, p.folder)
				for range 2 {
					out, err := p.run(t, walls, sandbox.Run{Agent: agentOf}, "/bin/sh", "-c", planted)
					must.OK(t, err)
					if first == "" {
						first = out
					}
					if out != first || strings.Contains(out, "history") || strings.HasPrefix(out, "minehook") != there {
						t.Errorf("it finds %s\nand at first %s", out, first)
					}
				}
			}
			left := slices.DeleteFunc(tree(t, p.home), func(file string) bool { return strings.HasPrefix(file, ".cache/") })
			if !slices.Equal(left, before) {
				t.Errorf("outside there is %q\nand was %q", left, before)
			}
		})
	}
}

// Who sits at the agent keeps the sessions of this folder, and no others are there.
func TestSessionsOfAPlanAreKept(t *testing.T) {
	p := newPlace(t)
	must.Write(t, filepath.Join(p.home, ".agent", "sessions", "other", "s"), "another project")
	name := regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(p.folder, "-")
	out, err := p.run(t, raise(t, sandbox.Spec{}, p.folder), sandbox.Run{Agent: agentOf, HasTerminal: true}, "/bin/sh", "-c", "echo one >~/.agent/sessions/"+name+"/s; ls ~/.agent/sessions")
	if err != nil || out != name+"\n" {
		t.Errorf("%v\n%s", err, out)
	}
	if got := tree(t, filepath.Join(p.home, ".agent")); !slices.Equal(got, []string{"sessions/" + name + "/s: one", "sessions/other/s: another project"}) {
		t.Errorf("outside: %q", got)
	}
}

const loggedIn = `{
  "a": {"type": "oauth", "access": "a1", "refresh": "r1", "expires": 1},
  "b": {"type": "api_key", "key": "k1"}
}`

// Of a login only what was renewed is taken over, whatever else the file says then.
func TestALoginThatIsRenewedIsKept(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"renewed":               {`echo '{"a":{"type":"oauth","access":"a2","refresh":"r2","expires":2},"b":{"type":"api_key","key":"k1"}}' >auth.json`, `a2 r2 2 k1`},
		"replaced by its agent": {`echo '{"a":{"access":"a2"}}' >new && mv new auth.json`, `a2 r1 1 k1`},
		"a command for a key":   {`echo '{"a":{"access":"!evil","refresh":"$EVIL","expires":"2"},"b":{"type":"api_key","key":"!evil"},"c":{"access":"x"}}' >auth.json`, `a1 r1 1 k1`},
		"half of it":            {`echo '{"a":{"access":"a2"' >auth.json`, `a1 r1 1 k1`},
		"gone":                  {`rm auth.json`, `a1 r1 1 k1`},
		"a link":                {`ln -sf ../.ssh/id auth.json`, `a1 r1 1 k1`},
		"a pipe":                {`rm auth.json; mkfifo auth.json`, `a1 r1 1 k1`},
		"a folder":              {`rm auth.json; mkdir auth.json`, `a1 r1 1 k1`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			must.Write(t, filepath.Join(p.home, ".agent", "auth.json"), loggedIn)
			must.Write(t, filepath.Join(p.home, ".ssh", "id"), loggedIn)
			for range 2 {
				walls := raise(t, sandbox.Spec{}, p.folder)
				if _, err := p.run(t, walls, sandbox.Run{Agent: agentOf}, "/bin/sh", "-c", "cd ~/.agent && "+tt.script); err != nil {
					t.Log(err)
				}
				data := must.Read(t, filepath.Join(p.home, ".agent", "auth.json"))
				said := strings.NewReplacer(`"`, "", ",", "", "\n", " ", "{", "", "}", "").Replace(string(data))
				words := strings.Fields(said)
				get := func(key string) string { return words[slices.Index(words, key)+1] }
				if got := strings.Join([]string{get("access:"), get("refresh:"), get("expires:"), get("key:")}, " "); got != tt.want || strings.Contains(said, "c:") {
					t.Errorf("outside: %s", data)
				}
			}
			if !contains(filepath.Join(p.home, ".ssh", "id"), loggedIn) {
				t.Error("what a link led to is another")
			}
		})
	}
}

// While a run lasts, both sides work with the same login.
func TestALoginIsTheSameOnBothSides(t *testing.T) {
	p := newPlace(t)
	auth := filepath.Join(p.home, ".agent", "auth.json")
	must.Write(t, auth, loggedIn)
	walls := raise(t, sandbox.Spec{}, p.folder)
	cmd := exec.Command("/bin/sh", "-c", `sed -i s/a1/a2/ ~/.agent/auth.json; until grep a3 ~/.agent/auth.json; do sleep 0.01; done`)
	cmd.Dir, cmd.Env = p.folder, append(os.Environ(), "HOME="+p.home)
	settle, err := walls.Wrap(cmd, sandbox.Run{Agent: agentOf, TempDir: t.TempDir()})
	must.OK(t, err)
	must.OK(t, cmd.Start())
	proctest.Until(t, "what was renewed inside is outside", func() bool { return contains(auth, "a2") })
	must.Write(t, auth, strings.Replace(loggedIn, "a1", "a3", 1))
	must.OK(t, cmd.Wait())
	settle()
	if !contains(auth, "a3") {
		t.Error("what was renewed outside is lost")
	}
}
