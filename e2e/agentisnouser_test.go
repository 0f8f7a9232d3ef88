//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
)

// readFile is what a file says that the agent wrote into the folder.
func (p *program) readFile(name string) string {
	data, _ := os.ReadFile(filepath.Join(p.box.Dir, name))
	return string(data)
}

// An agent asks for more, by the command line however it hides, over the wire and in the state
// file. It gets nothing; what is tighter counts.
func TestAnAgentLoosensNothing(t *testing.T) {
	t.Parallel()
	a := claude
	more := ralph + " update --max-iterations 500 --max-cost 100"
	wire := `import json,subprocess,sys
p=subprocess.Popen(["` + ralph + `","--stdio"],stdin=subprocess.PIPE,stdout=subprocess.PIPE)
def send(o):
    b=json.dumps(dict(o,jsonrpc="2.0")).encode(); p.stdin.write(b"Content-Length: %d\r\n\r\n"%len(b)+b); p.stdin.flush()
def hear(id):
    while True:
        n=0
        while True:
            l=p.stdout.readline()
            if l in (b"\r\n",b""): break
            if l.lower().startswith(b"content-length"): n=int(l.split(b":")[1])
        m=json.loads(p.stdout.read(n))
        if m.get("id")==id and "method" not in m: return m
send(dict(id=1,method="initialize",params=dict(processId=None,capabilities={},workspaceFolders=[dict(uri="file://"+sys.argv[1],name="w")])))
hear(1); send(dict(method="initialized",params={}))
for i,(c,a) in enumerate([("ralph.loop.update",dict(maxIterations=500)),("ralph.loop.resume",{}),("ralph.loop.land",{})]):
    send(dict(id=i+2,method="workspace/executeCommand",params=dict(command=c,arguments=[dict(a,folder="file://"+sys.argv[1])])))
    m=hear(i+2); print(c,m.get("error",{}).get("message","done"))
`
	commands := strings.Join([]string{
		more + " 2> plain; echo $? >> plain",
		"env -i HOME=$HOME " + more + " 2> bare; echo $? >> bare",
		"setsid -w " + more + " 2> session; echo $? >> session",
		"(setsid sh -c '" + more + " 2> away; echo $? >> away' &) ; while ! grep -q '^[0-9]' away 2>/dev/null; do sleep 0.1; done",
		ralph + " resume 2> resume; " + ralph + " trust 2> trust; " + ralph + " run More 2> run; " + ralph + " sandbox off 2> walls; " + ralph + " cancel 2> cancel",
		ralph + " undo --since 1 2> undo; " + ralph + " status > status",
		ralph + " update --max-iterations 2 > tighter",
		"cat > wire.py <<'END'\n" + wire + "END\npython3 wire.py \"$PWD\" > wire",
		"sed -i 's/^max_iterations: .*/max_iterations: 500/; s/^cost_usd: .*/cost_usd: 0/' .pi/ralph-loop.local.md; while grep -q '^max_iterations: 500' .pi/ralph-loop.local.md; do sleep 0.1; done; " + ralph + " answer once 2> answer",
		"cat .pi/ralph-loop.local.md > after",
	}, "\n")
	p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{does(a.bash(commands)), says("Not yet."), says("Not yet.")}, Default: &fakemodel.Turn{Text: "Not yet."}})
	p.start(append(a.anyToolArgs(), "--max-cost", "1", "--max-iterations", "3", prompt)...)
	if exit := p.wait(); exit != exitCap {
		p.fatalf("exit %d", exit)
	}
	const limits = "ralph-lsp: an agent of this loop can't loosen what bounds a loop; its user can: ralph-lsp update --max-iterations 500 --max-cost 100\n1\n"
	for file, want := range map[string]string{
		"plain": limits, "bare": limits, "session": limits, "away": limits,
		"resume": "resume a loop", "run": "start a loop; its user can: ralph-lsp run More\n", "trust": "trust what files run", "walls": "change which walls its user's loops have", "cancel": "end a loop",
		"answer": "answer for its user", "undo": "undo changes", "status": "Ralph 1/3", "tighter": "changed; it counts at once: 2 iterations",
		"after": "max_iterations: 2\n",
	} {
		if got := p.readFile(file); !strings.Contains(got, want) {
			t.Errorf("%s says %q, want %q", file, got, want)
		}
	}
	if _, err := exec.LookPath("python3"); err == nil {
		for _, want := range []string{"ralph.loop.update an agent of this loop can't loosen", "ralph.loop.resume an agent of this loop can't resume", "ralph.loop.land an agent of this loop can't land"} {
			if got := p.readFile("wire"); !strings.Contains(got, want) {
				t.Errorf("over the wire it hears %q, want %q", got, want)
			}
		}
	}
	end := p.end()
	if end.Iterations != 2 || end.CostUSD == nil || *end.CostUSD == 0 {
		t.Errorf("it ended after %d iterations, at %v", end.Iterations, end.CostUSD)
	}
	if !p.has(func(u update) bool {
		return u.SessionUpdate == "_ralph/question" && strings.Contains(u.line, `"kind":"limits"`) && strings.Contains(u.line, "500 iterations instead of 2 iterations")
	}) {
		p.fatalf("nobody asks about what sed wrote")
	}
}

// An agent cleans its folder, in a worktree too, and the loop goes on.
func TestAnAgentThatCleansItsFolderEndsNoLoop(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]agent{"the folder": claude, "its worktree": pi} { // who cleans is no matter of where
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{
				does(a.bash("git clean -fdx; test -e .pi/ralph-loop.local.md || echo gone")), says("Not yet."),
				does(a.bash("echo x > x; git -c user.name=a -c user.email=a@localhost stash -u -a -q; " + untilThere(".pi/ralph-loop.local.md"))), says("<promise>DONE</promise>"),
			}})
			for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "x"}} {
				if out, err := p.box.Command(t.Context(), "git", args...).CombinedOutput(); err != nil {
					t.Fatalf("git %q: %v\n%s", args, err, out)
				}
			}
			args := append(a.anyToolArgs(), "--completion-promise", "DONE", "--max-iterations", "5", prompt)
			if name == "its worktree" {
				args = append([]string{"--worktree"}, args...)
			}
			p.start(args...)
			if exit := p.wait(); exit != exitDone {
				p.fatalf("exit %d", exit)
			}
			if n := count(p.all(), func(u update) bool {
				return u.SessionUpdate == "_ralph/warning" && strings.Contains(u.line, "the state file was removed while the agent worked")
			}); n != 1 {
				p.fatalf("it was told %d times", n)
			}
			if p.end().Iterations != 2 {
				p.fatalf("it ended after %d iterations", p.end().Iterations)
			}
		})
	}
}
