//go:build e2e && unix

package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
)

// newProject is a fresh project with a test that fails.
type newProject struct {
	name, program, check, file string
	wrong, right               string // the content of file
	others                     map[string]string
}

var newProjects = []newProject{
	{"go", "go", "go test ./...", "add.go",
		"package demo\n\nfunc Add(a, b int) int { return a - b }\n", "package demo\n\nfunc Add(a, b int) int { return a + b }\n", map[string]string{
			"go.mod":      "module demo\n\ngo 1.21\n",
			"add_test.go": "package demo\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Fatal(Add(2, 2))\n\t}\n}\n",
		}},
	{"node", "npm", "npm test", "add.js", "exports.add = (a, b) => a - b;\n", "exports.add = (a, b) => a + b;\n", map[string]string{
		"package.json": `{"name": "demo", "scripts": {"test": "node --test"}}`,
		"add.test.js":  "require('node:test')('add', () => require('node:assert').equal(require('./add').add(2, 2), 4));\n",
	}},
	{"python", "python3", "python3 -m unittest", "add.py", "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n", map[string]string{
		"test_add.py": "import unittest\nfrom add import add\n\nclass Test(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 2), 4)\n",
	}},
}

var readmesCommand = regexp.MustCompile(`(?m)^    ralph-lsp (run .*)$`)

// TestReadmesFirstCommand is what a newcomer does: README's first command in a project of theirs.
// The agent, which runs the tests itself, says that it is done when it isn't.
func TestReadmesFirstCommand(t *testing.T) {
	readme := must.Read(t, "../README.md")
	command := readmesCommand.FindStringSubmatch(string(readme))
	if command == nil {
		t.Fatal("README has no first command")
	}
	for i, tt := range []struct {
		agent
		walls bool // can be had
	}{{claude, false}, {pi, false}, {claude, true}} {
		a, project := tt.agent, newProjects[i] // what is proposed for a project is no matter of the agent
		t.Run(fmt.Sprintf("%s, %s, walls %v", a.name, project.name, tt.walls), func(t *testing.T) {
			t.Parallel()
			checks := does(a.bash(project.check + "; echo x >>ran"))
			says := func(text string) fakemodel.Turn { return fakemodel.Turn{Text: text + "\n\nLOOP_COMPLETE"} }
			s := sitDown(t, a, fakemodel.Script{Turns: []fakemodel.Turn{
				checks, says("All is done."), checks, does(a.bash("cp right " + project.file)), checks, says("It passes now.")}})
			s.hasProject(project)
			// claude gives a command two minutes, and a compiler without a cache may need more.
			s.types("export BASH_DEFAULT_TIMEOUT_MS=600000", "Enter")
			if !tt.walls {
				s.types("export GOCACHE="+goCache(t), "Enter")
			}
			if tt.walls {
				walltest.Need(t)
				bwrap, err := exec.LookPath("bwrap")
				must.OK(t, err)
				s.types("export PATH=$PATH:"+filepath.Dir(bwrap), "Enter")
			}
			s.types("clear; "+ralph+" "+command[1]+"; echo code-$?-", "Enter")
			if a.backend == "claude" {
				s.sees("stay as it is, and don't ask again")
				first := strings.Contains(s.tmux("capture-pane", "-p"), "1  run any command behind walls")
				if tt.walls && !first {
					t.Fatalf("walls aren't offered first:\n%s", s.tmux("capture-pane", "-p"))
				}
				answer := "2"
				if first {
					answer = ""
				}
				s.types(answer, "Enter")
			}
			s.sees("Is the loop done only when")
			s.types("", "Enter")
			s.sees("code-0-")
			screen := s.tmux("capture-pane", "-p", "-S", "-200")
			for _, want := range []string{"failed (exit 1)", "passed ·", "done: "} {
				if !strings.Contains(screen, want) {
					t.Errorf("no %q on the screen:\n%s", want, screen)
				}
			}
			if ran, _ := os.ReadFile(filepath.Join(s.box.Dir, "ran")); string(ran) != "x\nx\nx\n" {
				t.Errorf("the agent ran the tests %d times, want 3:\n%s", strings.Count(string(ran), "x"), screen)
			}
		})
	}
}

// goCache is where this machine keeps what Go has compiled.
func goCache(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("go", "env", "GOCACHE").Output()
	must.OK(t, err)
	return strings.TrimSpace(string(dir))
}

// hasProject makes the project in the work folder, and lets the user's configuration say what
// the agent needs to reach the model.
func (s *shell) hasProject(project newProject) {
	s.t.Helper()
	program, err := exec.LookPath(project.program)
	must.OK(s.t, err)
	s.tmux("send-keys", "export PATH=$PATH:"+filepath.Dir(program)+" GOTOOLCHAIN=local", "Enter")
	args := make([]string, len(s.agent.args))
	for i, arg := range s.agent.args {
		args[i] = fmt.Sprintf("%q", arg)
	}
	files := map[string]string{
		filepath.Join(s.box.Home, ".config", "ralph-lsp", "config.toml"): fmt.Sprintf("[backends.%s]\nargs = [%s]\n", s.agent.backend, strings.Join(args, ", ")),
		filepath.Join(s.box.Dir, project.file):                           project.wrong,
		filepath.Join(s.box.Dir, "right"):                                project.right,
	}
	for name, text := range project.others {
		files[filepath.Join(s.box.Dir, name)] = text
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		must.Write(s.t, path, files[path])
	}
}
