//go:build e2e

package e2e

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
)

// builds are the first runs of small projects, each by one of the agents: what is open to a program is no matter of
// theirs. Each says the same.
var builds = []struct {
	agent
	program, script string
}{
	// Compiling in an empty cache is what sandbox's own test of toolchains does.
	{claude, "go", `printf 'module me\n\ngo 1.24\n' >go.mod; echo 'package main' >main.go; go list -f 'a word' . && touch "$(go env GOCACHE)/made"`},
	{pi, "npm", `echo '{"name":"me","version":"1.0.0","scripts":{"test":"node t.js"}}' >package.json; echo 'console.log("a word")' >t.js; npm test --silent`},
	{pi, "python3", `python3 -m venv --without-pip .venv && .venv/bin/python -c 'print("a word")'`},
	{pi, "cargo", `cargo -q init --vcs none --name me . 2>/dev/null; echo 'fn main() { println!("a word"); }' >src/main.rs; cargo -q run --offline`},
	{claude, "javac", `echo 'class A { public static void main(String[] a) { System.out.println("a word"); } }' >A.java; javac A.java && java A`},
}

// TestRealAgentsBuildBehindWalls has the agents build projects behind walls; claude does so in two runs of a loop.
func TestRealAgentsBuildBehindWalls(t *testing.T) {
	walltest.Need(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range both {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			turns, runs := []fakemodel.Turn{does(a.bash("sh ./build.sh")), says("<promise>DONE</promise>")}, 1
			if a.name == claude.name {
				turns, runs = append([]fakemodel.Turn{turns[0], says("more is to be done")}, turns...), 2
			}
			p := prepare(t, a, fakemodel.Script{Turns: turns})
			p.canHaveWalls()
			if rustup := filepath.Join(me.HomeDir, ".rustup"); os.Getenv("RUSTUP_HOME") == "" && exists(rustup) {
				p.box.Setenv("RUSTUP_HOME", rustup)
			}
			var text, want strings.Builder
			for _, b := range builds {
				if b.name != a.name {
					continue
				}
				if err := p.finds(b.program); err != nil {
					t.Logf("*** %s is NOT tried behind walls: %v ***", b.program, err)
					continue
				}
				text.WriteString("mkdir -p " + b.program + " && cd " + b.program + " && echo " + b.program + ": $( { " + b.script + "; } 2>&1 ) >>../said; cd ..\n")
				want.WriteString(b.program + ": a word\n")
			}
			if err := os.WriteFile(filepath.Join(p.box.Dir, "build.sh"), []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			p.start(append(p.agent.anyToolArgs(), "--sandbox", "workspace", "--max-iterations", "2", "--completion-promise", "DONE", prompt)...)
			if exit := p.wait(); exit != exitDone {
				p.fatalf("exit %d", exit)
			}
			if said, err := os.ReadFile(filepath.Join(p.box.Dir, "said")); err != nil || string(said) != strings.Repeat(want.String(), runs) {
				p.fatalf("%v\n%s", err, said)
			}
		})
	}
}
