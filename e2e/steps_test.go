//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// agentFiles are agents of the user's, for pi.
func agentFiles(p *program, names ...string) {
	p.t.Helper()
	dir := filepath.Join(p.box.Home, ".pi", "agent", "agents")
	must.OK(p.t, os.MkdirAll(dir, 0o700))
	for _, name := range names {
		text := fmt.Sprintf("---\nname: %s\ndescription: one of them\n---\nYou are the %s of this team.\n", name, name)
		must.OK(p.t, os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600))
	}
}

// trusts gives the folder a ralph.toml that its user trusts.
func (p *program) trusts(config string) {
	p.t.Helper()
	must.OK(p.t, os.WriteFile(filepath.Join(p.box.Dir, "ralph.toml"), []byte(config), 0o600))
	must.OK(p.t, p.ralphCommand("trust", "-C", p.box.Dir))
}

// begun counts the calls of steps with a title.
func (p *program) begun(title string) (n int) {
	for _, u := range p.all() {
		if u.SessionUpdate == "tool_call" && strings.Contains(u.line, `"title":"`+title) && strings.Contains(u.line, `"name":"step"`) {
			n++
		}
	}
	return n
}

// named are the n processes of the program under one of its names.
func (p *program) named(name string, n int) (pids []int) {
	p.t.Helper()
	for _, ours := range proctest.Find(p.mark) {
		if strings.HasPrefix(ours.Command, name+" ") {
			pids = append(pids, ours.PID)
		}
	}
	if len(pids) != n {
		p.fatalf("%d processes are %s: %+v", len(pids), name, proctest.Find(p.mark))
	}
	return pids
}

// driver is the process of the loop itself.
func (p *program) driver() int { return p.named("ralph-lsp-keeper", 1)[0] }

// crash kills the loop's process and the window that shows it, such that neither does anything about it.
func (p *program) crash() {
	p.t.Helper()
	pids := []int{p.cmd.Process.Pid, p.driver()}
	signal(p.t, syscall.SIGSTOP, pids...)
	signal(p.t, syscall.SIGKILL, pids...)
}

func signal(t *testing.T, sig syscall.Signal, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		must.OK(t, syscall.Kill(pid, sig))
	}
}

// twoScouts work at once in each iteration, and may write, so that they have a shell.
const twoScouts = `
[iteration]
steps = [ { parallel = [ { agent = "scout", write = true }, { agent = "scout", write = true } ] },
          { agent = "worker" } ]
`

// TestTheKeeperOfAScoutIsKilled ends the process that keeps one scout's processes together.
// The other is ended with it, and the next iteration has both again.
func TestTheKeeperOfAScoutIsKilled(t *testing.T) {
	t.Parallel()
	waits := func(k int) fakemodel.Turn { return does(pi.bash(longTool(fmt.Sprintf("killed-%d", k)))) }
	p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{
		waits(1), waits(2), says("Found it."), says("Found it."), says("Built.\n\n<promise>DONE</promise>"),
	}})
	agentFiles(p, "scout", "worker")
	p.trusts(twoScouts)
	p.start("--completion-promise", "DONE", "--max-iterations", "4", prompt)
	for k := 1; k <= 2; k++ {
		awaitProcesses(p, 1, fmt.Sprintf("killed-%d", k))
	}
	signal(t, syscall.SIGKILL, p.named("ralph-lsp-reaper", 2)[1])
	if exit := p.wait(); exit != exitDone {
		p.fatalf("exit %d", exit)
	}
	if got := p.outcomes(); len(got) != 2 || got[0] != "error" || got[1] != "ok" {
		p.fatalf("the iterations went %q", got)
	}
	if !p.has(func(u update) bool {
		return u.Phase == "end" && strings.Contains(u.Error, "keeps the agent's processes together was killed") && strings.HasPrefix(u.Error, "step 1 of 2 (scout ")
	}) {
		p.fatalf("nobody is told why")
	}
	proctest.CheckNone(t, goneWithin, p.mark)
}
