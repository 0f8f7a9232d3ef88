package engine

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// feels is a script that writes down as whom it ran, and whether walls were around it.
func feels(name, then string) string {
	return "cat >/dev/null; if touch ~/out 2>/dev/null; then echo " + name + " free; else echo " + name + " walled; fi >>ran; " + then
}

// walled is a loop behind walls whose agent is a script, in a home of its own.
func walled(t *testing.T, script string) setup.Config {
	t.Helper()
	walltest.Need(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	folder := filepath.Join(home, "tree")
	must.OK(t, os.Mkdir(folder, 0o755))
	c := setup.Config{Folder: folder, Prompt: "x", Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}},
		Limits: limits.Default(), Values: settings.Values{Instruct: new(false)},
		Sandbox: sandbox.Spec{Mode: sandbox.Workspace, Network: true}, Backend: shell("agent", script, backends.PromptStdin).Backend}
	c.Limits.MaxIterations = 2
	return c
}

// runToEnd runs a loop to its end.
func runToEnd(t *testing.T, c setup.Config, want loop.StopReason) (*Loop, *watcher) {
	t.Helper()
	log := &watcher{}
	l, err := drive(c, setup.Host{}, log)
	must.OK(t, err)
	if end := l.Wait(); end.Reason != want {
		t.Fatalf("%+v\n%s", end, strings.Join(log.lines, "\n"))
	}
	return l, log
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data := must.Read(t, path)
	return string(data)
}

func TestAllThatALoopStartsIsBehindItsWalls(t *testing.T) {
	says := "echo LOOP_COMPLETE"
	hat := func(name, trigger, then string) setup.Role {
		return setup.Role{Hat: hats.Hat{Name: name, Triggers: []string{trigger}, Publishes: []string{"plan.ready"}, MayFinish: new(true)},
			Backend: shell(name, feels(name, then), backends.PromptStdin).Backend}
	}
	for name, tt := range map[string]struct {
		configure func(*setup.Config)
		want      string
	}{
		"hats": {func(c *setup.Config) {
			c.Roles.Hats = []setup.Role{hat("planner", hats.Start, `echo '<event topic="plan.ready">go</event>'`),
				hat("builder", "plan.ready", says)}
		}, "planner walled\nbuilder walled\n"},
		"steps": {func(c *setup.Config) {
			c.Roles.Steps = [][]setup.Role{{shell("scout", feels("scout", "echo seen"), backends.PromptStdin)},
				{shell("worker", feels("worker", says), backends.PromptStdin)}}
		}, "scout walled\nworker walled\n"},
		"a verification": {func(c *setup.Config) {
			c.Verification.Check = verify.Check{Shell: feels("check", "true"), When: verify.OnPromise, MaxFailures: 1}
		}, "agent walled\ncheck walled\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := walled(t, feels("agent", says))
			tt.configure(&c)
			runToEnd(t, c, loop.StopPromise)
			if got := readText(t, filepath.Join(c.Folder, "ran")); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestALoopThatGoesOnHasItsWalls(t *testing.T) {
	c := walled(t, feels("agent", "echo no"))
	c.Limits.MaxIterations = 1
	l, _ := runToEnd(t, c, loop.StopMaxIterations)
	from, more := l.engine.resumable(), 2
	if from.Sandbox != sandbox.Workspace {
		t.Errorf("what is left of the loop says %q", from.Sandbox)
	}
	again := setup.Config{Folder: c.Folder, Storage: setup.Storage{History: c.Storage.History}, Backend: c.Backend, Continue: true,
		Sandbox: sandbox.Spec{Mode: from.Sandbox, Engine: from.SandboxEngine}, Change: loop.Patch{Given: limits.Given{MaxIterations: &more}}}
	runToEnd(t, again, loop.StopMaxIterations)
	if got := readText(t, filepath.Join(c.Folder, "ran")); got != "agent walled\nagent walled\n" {
		t.Errorf("got %q", got)
	}
}

// A verification reaches no port, 127.0.0.1 included, unless its user says so.
func TestAVerificationHasNoNetwork(t *testing.T) {
	for network, want := range map[bool]string{false: "agent ", true: "agent check "} {
		t.Run(fmt.Sprint(network), func(t *testing.T) {
			server, err := net.Listen("tcp", "127.0.0.1:0")
			must.OK(t, err)
			var callers strings.Builder // written before the caller is let go
			var serving sync.WaitGroup
			serving.Go(func() {
				for {
					conn, err := server.Accept()
					if err != nil {
						return
					}
					request, _ := bufio.NewReader(conn).ReadString(0)
					callers.WriteString(strings.TrimSuffix(filepath.Base(request), "\x00") + " ")
					conn.Close()
				}
			})
			call := func(name string) string { return "git ls-remote git://" + server.Addr().String() + "/" + name + "; " }
			c := walled(t, "cat >/dev/null; "+call("agent")+"echo LOOP_COMPLETE")
			c.Sandbox.VerifyNetwork = network
			c.Verification.Check = verify.Check{Shell: call("check") + "true", When: verify.OnPromise, MaxFailures: 1}
			runToEnd(t, c, loop.StopPromise)
			server.Close()
			serving.Wait()
			if callers.String() != want {
				t.Errorf("reached by %q, want %q", callers.String(), want)
			}
		})
	}
}

// An editor saves by renaming, and then the walls' view of the file is gone: its user is told.
func TestWhatIsSavedUnderAnAgentAndWrittenByItIsTold(t *testing.T) {
	c := walled(t, "cat >/dev/null; touch ready; until [ -e saved ]; do sleep 0.01; done; echo '# evil' >>ralph.toml; echo LOOP_COMPLETE")
	path := filepath.Join(c.Folder, "ralph.toml")
	must.OK(t, os.WriteFile(path, []byte("# mine\n"), 0o644))
	var saving sync.WaitGroup
	saving.Go(func() {
		for begun := time.Now(); t.Context().Err() == nil; proctest.Pause(begun) {
			if _, err := os.Stat(filepath.Join(c.Folder, "ready")); err == nil {
				break
			}
		}
		os.WriteFile(path+".new", []byte("# mine\n"), 0o644)
		os.Rename(path+".new", path)
		os.WriteFile(filepath.Join(c.Folder, "saved"), nil, 0o644)
	})
	_, log := runToEnd(t, c, loop.StopPromise)
	saving.Wait()
	text := readText(t, path)
	if told := log.count(path + " was replaced while the agent ran"); strings.Contains(text, "evil") && told != 1 {
		t.Errorf("the agent wrote into it, and its user was told %d times:\n%s", told, strings.Join(log.lines, "\n"))
	}
	if !strings.Contains(text, "evil") {
		t.Logf("this kernel keeps it read-only: %q", text)
	}
}

// In a worktree, where .git is a file, git works, and what it runs stays as it is.
func TestInAWorktreeGitWorksAndRunsNothingOfTheAgents(t *testing.T) {
	const as = "git -c user.name=Ann -c user.email=ann@example.org "
	script := `cat >/dev/null
try() { if "$@" 2>/dev/null; then echo "$*" >>broken; fi; }
put() { echo evil >>"$1"; }
common=$(git rev-parse --git-common-dir) own=$(git rev-parse --git-dir)
try git config core.fsmonitor evil
try put "$common/config"
try put "$common/hooks/pre-commit"
try mv "$common/hooks" "$common/old"
try mv "$common/config" "$common/old"
try put "$own/commondir"
try put "$own/gitdir"
try mv "$own" "$common/worktrees/other"
try put .git
try mv .git other
try rm -f .git
try put "$common/HEAD"
echo work >file; git add file; ` + as + `commit -qm work; echo LOOP_COMPLETE`
	c := walled(t, script)
	repo := filepath.Join(filepath.Dir(c.Folder), "repo")
	git := func(command string) string {
		t.Helper()
		cmd := exec.Command("/bin/sh", "-c", command)
		cmd.Dir = filepath.Dir(c.Folder)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	git("git init -q repo && cd repo && " + as + "commit -q --allow-empty -m first && git worktree add -q -b side ../tree")
	before := git("cd repo && cat .git/config .git/HEAD .git/worktrees/tree/commondir .git/worktrees/tree/gitdir ../tree/.git")
	runToEnd(t, c, loop.StopPromise)
	if broken, err := os.ReadFile(filepath.Join(c.Folder, "broken")); err == nil {
		t.Errorf("the agent could:\n%s", broken)
	}
	if after := git("cd repo && cat .git/config .git/HEAD .git/worktrees/tree/commondir .git/worktrees/tree/gitdir ../tree/.git"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if _, err := os.Stat(filepath.Join(repo, ".git", "hooks", "pre-commit")); err == nil {
		t.Error("there is a hook")
	}
	if got := git("cd repo && git log --format=%s side"); got != "work\nfirst\n" {
		t.Errorf("the branch has %q", got)
	}
}
