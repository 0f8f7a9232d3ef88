//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
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

// TestAPlanOfSeven finishes a project of two languages by a plan of seven tasks, three of them side by side. One is checked without any work, and one can't be done. The program is killed in the middle, and before it goes on
// its user adds a task.
func TestAPlanOfSeven(t *testing.T) {
	t.Parallel()
	a := claude
	p, files := prepareShop(t, a)
	p.start(append(a.anyToolArgs(), "--plan", "PLAN.md", "--workers", "3", "--max-iterations", "40", "--max-unchanged-iterations", "4")...)
	awaitProcesses(p, 1, "killed")
	p.crash()
	p.wait()
	proctest.CheckNone(t, goneWithin, p.mark)
	text := strings.Replace(p.readFile("PLAN.md"), "- [ ] Print", "- [ ] Greet the user\n- [ ] Print", 1)
	must.OK(t, os.WriteFile(filepath.Join(p.box.Dir, "PLAN.md"), []byte(text), 0o600))
	before := p.all()
	p = p.again()
	if exit := p.wait(); exit == exitDone || p.end().StopReason != "no_progress" {
		p.fatalf("exit %d", exit)
	}
	now := p.readFile("PLAN.md")
	if done := strings.Count(now, "- [x] "); done != 7 || !strings.Contains(now, "- [ ] Print") {
		t.Errorf("%d tasks are done:\n%s", done, now)
	}
	for name, content := range files {
		checkFile(t, p, name, content)
	}
	if out, err := p.box.Command(context.Background(), "sh", "check.sh").CombinedOutput(); err != nil {
		t.Errorf("the shop doesn't work: %v: %s", err, out)
	}
	if n := p.begun("Search goods"); n != 1 { // a worker is shown as an agent of a step is
		t.Errorf("%d workers searched goods", n)
	}
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
}

// prepareShop writes the project and has the model know what to do for each task. files are those that its work makes.
func prepareShop(t *testing.T, a agent) (p *program, files map[string]string) {
	t.Helper()
	shop, err := txtar.ParseFile("testdata/shop.txtar")
	must.OK(t, err)
	found, work := map[string]string{}, map[string]string{"Tidy the readme": "true", "Print invoices": "ls printer || echo no printer"}
	files = map[string]string{}
	for _, f := range shop.Files {
		task, name, isWork := strings.Cut(f.Name, ": ")
		if !isWork {
			found[f.Name] = string(f.Data)
			continue
		}
		files[name] = string(f.Data)
		work[task] += fmt.Sprintf("mkdir -p %s; cat >%s <<'END'\n%sEND\n", filepath.Dir(name), name, f.Data)
	}
	killed := does(a.bash(longTool("killed")))
	killed.System = "\nList goods\n</task>"
	turns := []fakemodel.Turn{killed}
	for task, command := range work {
		if task != "Print invoices" && task != "Check all at once" { // whose checks check their boxes
			command += fmt.Sprintf("\nsed -i 's/\\[ \\] %s/[x] %[1]s/' PLAN.md", task)
		}
		turns = append(turns, worksOn(a, task, command)...)
	}
	p = prepare(t, a, fakemodel.Script{Turns: turns})
	for name, content := range found {
		must.OK(t, os.WriteFile(filepath.Join(p.box.Dir, name), []byte(content), 0o600))
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output() // what was built is built once, for all
	if err == nil {
		err = p.finds("go")
	}
	must.OK(t, err)
	for name, value := range map[string]string{"GOCACHE": strings.TrimSpace(string(cache)), "GOFLAGS": "-trimpath", "GOTOOLCHAIN": "local", "GOPROXY": "off"} {
		p.box.Setenv(name, value)
	}
	script := "git init -q && git add . && git -c user.name=Ann -c user.email=ann@localhost commit -qm first"
	if out, err := p.box.Command(context.Background(), "sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return p, files
}
