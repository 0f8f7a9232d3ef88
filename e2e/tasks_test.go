//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// worksOn are the turns of whoever has a task of the plan, as often as that is given.
func worksOn(a agent, task, command string) []fakemodel.Turn {
	did, do := says("I did: "+task), does(a.bash(command+"; echo that is all"))
	did.Match = "that is all"
	for _, turn := range []*fakemodel.Turn{&did, &do} {
		turn.System, turn.Repeat = "\n"+task+"\n</task>", -1
	}
	return []fakemodel.Turn{did, do}
}

// TestAPlanOfTwelve works through a plan of twelve tasks, one by one and three side by side. One of them is checked
// without any work, and one can't be done. The program is killed in the middle, and before it goes on its user adds a
// task.
func TestAPlanOfTwelve(t *testing.T) {
	for _, a := range both {
		for _, workers := range []string{"1", "3"} {
			t.Run(a.name+workers, func(t *testing.T) {
				t.Parallel()
				p, plan := prepareTasks(t, a)
				p.start(append(a.anyToolArgs(), "--plan", "PLAN.md", "--workers", workers, "--max-iterations", "40", "--max-unchanged-iterations", "4")...)
				awaitProcesses(p, 1, "killed")
				if err := p.cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				p.wait()
				proctest.CheckNone(t, goneWithin, p.mark)
				text := p.readFile("PLAN.md")
				if err := os.WriteFile(plan, []byte(strings.Replace(text, "- [ ] Prove", "- [ ] Add what the user wants\n- [ ] Prove", 1)), 0o600); err != nil {
					t.Fatal(err)
				}
				before := p.all()
				p = p.again()
				if exit := p.wait(); exit == exitDone || p.end().StopReason != "no_progress" {
					p.fatalf("exit %d", exit)
				}
				now := p.readFile("PLAN.md")
				if done := strings.Count(now, "- [x] "); done != 12 || !strings.Contains(now, "- [ ] Prove") {
					t.Errorf("%d tasks are done:\n%s", done, now)
				}
				for n := 1; n <= 9; n++ {
					checkFile(t, p, fmt.Sprintf("part-%d", n), fmt.Sprintln(n))
				}
				beside := map[string]int{"1": 0, "3": 1} // a worker is shown as an agent of a step is
				if n := p.begun("Part 7"); n != beside[workers] {
					t.Errorf("%d workers had part 7, want %d", n, beside[workers])
				}
				checkFile(t, p, "sum", "45\n")
				checkFile(t, p, "added", "yes\n")
				for _, warning := range []string{`the task \"Tidy the readme\" was checked, but nothing was changed but the plan: it is open again`, `unverified: the task \"Tidy the readme\" stays checked`} {
					told := 0
					for _, u := range append(before, p.all()...) {
						if u.SessionUpdate == "_ralph/warning" && strings.Contains(u.line, warning) {
							told++
						}
					}
					if told != 1 {
						t.Errorf("told %d times: %s", told, warning)
					}
				}
				if t.Failed() {
					p.show()
				}
			})
		}
	}
}

// prepareTasks has the model know what to do for each task, and writes the plan.
func prepareTasks(t *testing.T, a agent) (p *program, plan string) {
	t.Helper()
	killed := does(a.bash(longTool("killed")))
	killed.System = "\nPart 6\n</task>"
	turns := []fakemodel.Turn{killed}
	text := "# Plan\n\n"
	for n := 1; n <= 9; n++ {
		text += fmt.Sprintf("- [ ] Part %d (verify: test -s part-%d)\n", n, n)
		turns = append(turns, worksOn(a, fmt.Sprintf("Part %d", n), fmt.Sprintf("echo %d > part-%d", n, n))...)
	}
	text += "- [ ] Tidy the readme\n- [ ] Sum them up (after: Part 9) (verify: grep 45 sum)\n- [ ] Prove what is false (verify: false)\n"
	turns = append(turns, worksOn(a, "Tidy the readme", "sed -i 's/\\[ \\] Tidy/[x] Tidy/' PLAN.md")...)
	turns = append(turns, worksOn(a, "Sum them up", "cat part-* | awk '{ n += $1 } END { print n }' > sum")...)
	turns = append(turns, worksOn(a, "Add what the user wants", "echo yes > added; sed -i 's/\\[ \\] Add/[x] Add/' PLAN.md")...)
	turns = append(turns, worksOn(a, "Prove what is false", "true")...)
	p = prepare(t, a, fakemodel.Script{Turns: turns})
	plan = filepath.Join(p.box.Dir, "PLAN.md")
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	script := "cd " + p.box.Dir + " && git init -q && git add . && git -c user.name=Ann -c user.email=ann@localhost commit -qm first"
	if out, err := p.box.Command(context.Background(), "sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return p, plan
}
