package archtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestStartedFindsWhatStartsPrograms(t *testing.T) {
	in := func(imports, body string) string {
		return "package a\n\nimport (" + imports + ")\n\nfunc f() {\n" + body + "\n}\n"
	}
	for _, tt := range []struct{ name, file, content, want string }{
		{"a command", "a/b.go", in(`"os/exec"`, "exec.Command(`x`)"), "a/b.go:f"},
		{"two", "a/b.go", in(`"os/exec"`, "exec.Command(`x`); exec.CommandContext(nil, `y`)"), "a/b.go:f a/b.go:f"},
		{"by another name", "a/b.go", in(`run "os/exec"`, "run.Command(`x`)"), "a/b.go:f"},
		{"as a value", "a/b.go", in(`"os/exec"`, "c := exec.Command; c(`x`)"), "a/b.go:f"},
		{"a literal", "a/b.go", in(`"os/exec"`, "c := exec.Cmd{}; c.Run()"), "a/b.go:f"},
		{"a type is none", "a/b.go", in(`"os/exec"`, "var c *exec.Cmd; c.Run()"), ""},
		{"looking is none", "a/b.go", in(`"os/exec"`, "exec.LookPath(`x`)"), ""},
		{"on another platform", "a/b_windows.go", in(`"syscall"`, "syscall.StartProcess(``, nil, nil)"), "a/b_windows.go:f"},
		{"the system's", "a/b.go", in(`"os"`, "os.StartProcess(``, nil, nil)"), "a/b.go:f"},
		{"a package of that name", "a/b.go", in(`"example.org/exec"`, "exec.Command(`x`)"), ""},
		{"outside of functions", "a/b.go", "package a\n\nimport \"os/exec\"\n\nvar c = exec.Command(`x`)\n", "a/b.go:var"},
		{"a run", "a/b.go", in(`"github.com/ralph-lsp/ralph-lsp/backends"`, "backends.Start(nil)"), "a/b.go:f"},
		{"a run of the package's own", "backends/b.go", in("", "Start(nil)"), "backends/b.go:f"},
		{"another Start", "a/b.go", in("", "Start(nil)"), ""},
		{"a helper", "a/b.go", in(`"github.com/ralph-lsp/ralph-lsp/internal/outside"`, "outside.Command(nil, `x`)"), "a/b.go:f"},
		{"a test", "a/b_test.go", in(`"os/exec"`, "exec.Command(`x`)"), ""},
		{"TypeScript", "editors/x/a.ts", "spawn(a);\nconst m = /a/.exec(b);\nawait promisify(execFile)(c);\nvscode.window.createTerminal(d)\n", "editors/x/a.ts editors/x/a.ts editors/x/a.ts"},
		{"a client of a language server", "editors/x/a.ts", "const c = new LanguageClient(a)", "editors/x/a.ts"},
		{"JavaScript", "sandbox/a.mjs", "spawn(a)", "sandbox/a.mjs"},
		{"an editor's tests", "editors/x/test/a.mjs", "spawn(a)", ""},
		{"Lua", "editors/x/a.lua", "vim.system({})\nvim.uv.spawn(a)\nvim.fn.jobstart(b)\n", "editors/x/a.lua editors/x/a.lua editors/x/a.lua"},
	} {
		got, err := Started(tree(tt.file, tt.content))
		if strings.Join(got, " ") != tt.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	_, err := Started(tree("a.go", "func {"))
	compare(t, "no Go at all", nil, err, "looking for what starts programs")
}

func TestUnlistedFindsThem(t *testing.T) {
	const code = "package a\n\nimport \"os/exec\"\n\nfunc f() { exec.Command(`x`) }\n"
	for _, tt := range []struct{ name, page, want string }{
		{"listed", "# A\n\n## Programs\n\n`a/b.go:f`\n", ""},
		{"not listed", "# A\n\n## Programs\n\n## Others\n\n`a/b.go:f`\n", "a/b.go:f starts a program in 1 places, and page.md has 0"},
		{"listed twice", "# A\n\n## Programs\n\n`a/b.go:f`, `a/b.go:f`\n", "a/b.go:f starts a program in 1 places, and page.md has 2"},
		{"gone", "# A\n\n## Programs\n\n`a/b.go:f`, `a/c.lua`\n", "a/c.lua starts a program in 0 places, and page.md has 1"},
	} {
		problems, err := Unlisted(tree("a/b.go", code, "page.md", tt.page), "page.md", "## Programs")
		compare(t, tt.name, problems, err, tt.want)
	}
}

// Who adds a program that runs outside of the walls decides in which folder, and with which
// environment: what an agent has written must not run there.
func TestEachProgramThatIsStartedIsListed(t *testing.T) {
	problems, err := Unlisted(os.DirFS(root), "docs/SANDBOX.md", "## Programs outside the walls")
	must.OK(t, err)
	for _, problem := range problems {
		t.Error(problem)
	}
	sites, _ := Started(os.DirFS(root))
	for _, want := range []string{"internal/notify/way.go:run", "backends/reaper/client_linux.go:Start", "editors/nvim/lua/ralph/transport.lua", "editors/pi/src/sidecar.ts", "sandbox/runtime.mjs"} {
		if !slices.Contains(sites, want) {
			t.Errorf("the search doesn't find %s", want)
		}
	}
}
