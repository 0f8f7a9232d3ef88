//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
)

// edit is the model's calls that replace a word in a file: it reads the file first.
func (a agent) edit(path, old, new string) []fakemodel.Turn {
	read, edit, args := "read", "edit", map[string]any{"edits": []map[string]string{{"oldText": old, "newText": new}}}
	if a.pin == claude.pin {
		read, edit, args = "Read", "Edit", map[string]any{"old_string": old, "new_string": new}
	}
	args[a.pathKey] = path
	return []fakemodel.Turn{does(fakemodel.Call(read, map[string]string{a.pathKey: path})), does(fakemodel.Call(edit, args))}
}

// TestWhatALoopChanged lets real agents change files in each way they have. All
// of them are told, with what each iteration did, and nothing else is.
func TestWhatALoopChanged(t *testing.T) {
	for _, a := range both {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			const git = "git -c user.name=a -c user.email=a@localhost "
			changes := []string{
				1: "modified tool.txt, added written.txt", 2: "added arrow.txt, deleted gone.txt, modified sed.txt, renamed there.txt", 3: "added committed.txt", 4: "",
			}
			changes[0] = "added arrow.txt, added committed.txt, deleted gone.txt, modified sed.txt, renamed there.txt, modified tool.txt, added written.txt"
			turns := append(a.edit("tool.txt", "old", "new"), does(a.write("written.txt", "1\n")), says("Edited."),
				does(a.bash("sed -i s/old/new/ sed.txt && echo new > arrow.txt && rm gone.txt && mv moved.txt there.txt")), says("By the shell."),
				does(a.bash("echo new > committed.txt && "+git+"add committed.txt && "+git+"commit -qm work && git switch -qc side")), says("Committed."),
				does(a.bash("git switch -q main")), says("Back. <promise>DONE</promise>"))
			if a.name == claude.name { // whose tools are others, and whose shell is the same
				turns, changes = append(turns[:3], says("Edited. <promise>DONE</promise>")), []string{changes[1], changes[1]}
			}
			p := prepare(t, a, fakemodel.Script{Turns: turns})
			sh := func(command string) {
				t.Helper()
				cmd := p.box.Command(context.Background(), "sh", "-ec", command)
				cmd.Dir = p.box.Dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
			}
			sh("git init -qb main; for f in tool sed gone same; do echo old > $f.txt; done; seq 20 > moved.txt; " + git + "add .; " + git + "commit -qm first")
			args := []string{"--max-iterations", "4", "--completion-promise", "DONE"}
			for _, arg := range a.anyTool {
				args = append(args, "--backend-arg", arg)
			}
			p.start(append(args, prompt)...)
			if exit := p.wait(); exit != exitDone {
				p.fatalf("exit %d", exit)
			}
			for iteration, want := range changes {
				args := []string{"changes", "-C", p.box.Dir, "--json"}
				if iteration > 0 {
					args = append(args, "--iteration", fmt.Sprint(iteration))
				}
				out, err := p.box.Command(context.Background(), ralph, args...).Output()
				var got []string
				for line := range strings.Lines(string(out)) {
					words := strings.Split(line, `"`) // {"path":"a","status":"modified",...}
					got = append(got, words[7]+" "+words[3])
				}
				if text := strings.Join(got, ", "); err != nil || text != want {
					t.Errorf("iteration %d: %q, want %q (%v)", iteration, text, want, err)
				}
			}
			if t.Failed() {
				p.show()
			}
		})
	}
}
