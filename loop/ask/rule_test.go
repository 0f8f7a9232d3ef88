package ask

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func commandInput(command string) json.RawMessage {
	return []byte(JSON(map[string]string{"command": command}))
}

func fileInput(path string) json.RawMessage {
	return []byte(JSON(map[string]string{"file_path": path, "old_string": "a", "new_string": "b"}))
}

// ruledFolder has files and links of all kinds.
func ruledFolder(t testing.TB) (dir string) {
	t.Helper()
	dir, outside := paths.Real(t.TempDir()), t.TempDir()
	for _, folder := range []string{"src/deep", ".git", ".pi"} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, folder), 0o700))
	}
	for link, to := range map[string]string{"src/out": outside, "src/in": filepath.Join(dir, ".git"), "src/link.go": filepath.Join(outside, "x")} {
		must.OK(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	return dir
}

// What "in this loop" offers, and "" where nothing can be said safely.
func TestWhatARuleOffers(t *testing.T) {
	dir := ruledFolder(t)
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"git commit -m 'a b; c'"}`, "Bash(git commit -m:*)"},
		{"Bash", `{"command":"git commit -m x","description":"Commit","timeout":5000}`, "Bash(git commit -m:*)"},
		{"Bash", `{"command":"git commit x.go"}`, "Bash(git commit:*)"},
		{"Bash", `{"command":"git log --oneline"}`, "Bash(git log --oneline:*)"},
		{"Bash", `{"command":"git log main --stat -n 5 --oneline"}`, "Bash(git log --stat -n 5 --oneline:*)"},
		{"Bash", `{"command":"git log --format='%h %s'"}`, `Bash("git log --format='%h %s'")`},
		{"Bash", `{"command":"git log --format '%h %s'"}`, `Bash("git log --format '%h %s'")`},
		{"Bash", `{"command":"git stash list"}`, "Bash(git stash list:*)"},
		{"Bash", `{"command":"git stash clear"}`, "Bash(git stash clear)"},
		{"Bash", `{"command":"git push origin main"}`, "Bash(git push origin main)"},
		{"Bash", `{"command":"npm run lint -- --fix"}`, "Bash(npm run lint -- --fix:*)"},
		{"Bash", `{"command":"npm run --silent lint"}`, "Bash(npm run --silent lint)"},
		{"Bash", `{"command":"npm install left-pad"}`, "Bash(npm install left-pad)"},
		{"Bash", `{"command":"go test ./..."}`, "Bash(go test:*)"},
		{"Bash", `{"command":"rm -rf build"}`, "Bash(rm -rf build)"},
		{"Bash", `{"command":"  ls\t-la "}`, "Bash(ls -la)"},
		{"Bash", `{"command":"git rebase -i --exec make"}`, "Bash(git rebase -i --exec make)"},
		{"Bash", `{"command":"git rebase -i --exec 'rm x'"}`, `Bash("git rebase -i --exec 'rm x'")`},
		{"Bash", `{"command":"npm exec -- 'a b'"}`, `Bash("npm exec -- 'a b'")`},
		{"Bash", `{"command":"git"}`, "Bash(git)"},
		{"Bash", `{"command":"npm run"}`, "Bash(npm run)"},
		{"Bash", `{"command":"git -C /tmp push"}`, "Bash(git -C /tmp push)"},
		{"Bash", `{"command":"git 'com mit'"}`, `Bash("git 'com mit'")`},
		{"Bash", `{"command":"echo 'a b'"}`, `Bash("echo 'a b'")`},
		{"Bash", `{"command":"FOO=1 make"}`, `Bash("FOO=1 make")`},
		{"Bash", `{"command":"make && rm x"}`, `Bash("make && rm x")`},
		{"Bash", `{"command":"python3 test.py; echo ok","description":"Test"}`, `Bash("python3 test.py; echo ok")`},
		{"Bash", `{"command":"make 2>&1 | tail -5\nls"}`, `Bash("make 2>&1 | tail -5\nls")`},
		{"Bash", `{"command":"make; rm $X"}`, ""},
		{"Bash", `{"command":"make; $(cat x)"}`, ""},
		{"Bash", "{\"command\":\"make; `cat x`\"}", ""},
		{"Bash", `{"command":"make; rm *.o"}`, ""},
		{"Bash", `{"command":"make; rm ~/x"}`, ""},
		{"Bash", `{"command":"make\u202e; ls"}`, ""},
		{"Bash", `{"command":"make\r; ls"}`, ""},
		{"Bash", `{"command":"make; ralph-lsp answer once"}`, ""},
		{"Bash", `{"command":"make; ral'ph'-lsp answer once"}`, ""},
		{"Bash", `{"command":"make; ralph\\-lsp answer once"}`, ""},
		{"Bash", `{"command":"make; ralph-\\\nlsp answer once"}`, ""},
		{"Bash", `{"command":"make > .p\"i\"/ralph-loop.local.md"}`, ""},
		{"Bash", `{"command":"make; ls","run_in_background":true}`, ""},
		{"Bash", `{"command":"make; echo ` + strings.Repeat("x", maxExact) + `"}`, ""},
		{"Bash", `{"command":" ; "}`, `Bash(" ; ")`},
		{"Bash", `{"command":""}`, ""},
		{"Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`, ""},
		{"Bash", `{"command":"ls","run_in_background":true}`, ""},
		{"Bash", `{"command":"ls","command":"rm x"}`, ""},
		{"Bash", `{"command":["ls"]}`, ""},
		{"Bash", `{`, ""},
		{"Bash", ``, ""},
		{"Edit", `{"file_path":"src/a.go"}`, "Edit(src/*)"},
		{"Edit", `{"file_path":"` + filepath.ToSlash(dir) + `/src/deep/a.go"}`, "Edit(src/deep/*)"},
		{"Write", `{"file_path":"README.md","content":"x"}`, "Write(README.md)"},
		{"NotebookEdit", `{"notebook_path":"src/n.ipynb","new_source":"x"}`, "NotebookEdit(src/*)"},
		{"Write", `{"file_path":"src/../../x"}`, ""},
		{"Write", `{"file_path":"src/deep/../x"}`, ""},
		{"Write", `{"file_path":"/etc/passwd"}`, ""},
		{"Write", `{"file_path":"src/out/x"}`, ""},
		{"Write", `{"file_path":"src/in/config"}`, ""},
		{"Write", `{"file_path":"src/link.go"}`, ""},
		{"Write", `{"file_path":".git/config"}`, ""},
		{"Write", `{"file_path":".pi/ralph-loop.local.md"}`, ""},
		{"Write", `{"file_path":"src/.env"}`, ""},
		{"Write", `{"file_path":"ralph.toml"}`, ""},
		{"Write", `{"file_path":"Ralph.TOML"}`, ""},
		{"Write", `{"file_path":"src"}`, ""},
		{"Write", `{"file_path":"a b.go"}`, ""},
		{"Write", `{"file_path":""}`, ""},
		{"Write", `{}`, ""},
		{"Write", `{"file_path":"src/a.go","path":"/etc/passwd"}`, ""},
		{"mcp__tracker__search", `{"q":"x"}`, "mcp__tracker__search"},
		{"mcp__x", `{}`, ""},
		{"mcp__fs__write", `{"path":"a.go"}`, "mcp__fs__write"},
		{"mcp__fs__write", `{"path":".p\u0069/\u0072alph-loop.local.md"}`, ""},
		{"mcp__fs__write", `{`, ""},
		{"Bash", `{"command":"ralph-lsp answer once"}`, ""},
		{"Bash", `{"command":"./Ralph-LSP answer once"}`, ""},
		{"Bash", `{"command":"cp x .pi/ralph-loop.local.md"}`, ""},
		{"Bash", `{"command":"rm -rf .pi"}`, ""},
		{"Bash", `{"command":"mv x .pi/./y"}`, ""},
		{"Bash", `{"command":"cp x ralph.toml"}`, ""},
		{"Bash", `{"command":"ls .pip .pi.d x.pi"}`, "Bash(ls .pip .pi.d x.pi)"},
		{"WebFetch", `{"url":"https://example.com"}`, ""},
		{"Read", `{"file_path":"src/a.go"}`, ""},
		{"", `{}`, ""},
	} {
		if got := ruleFor(dir, c.tool, []byte(c.input)); got != c.want {
			t.Errorf("%s %s offers %q, not %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestWhatARulePermits(t *testing.T) {
	dir := ruledFolder(t)
	for rule, calls := range map[string]struct{ yes, no []string }{
		"Bash(git commit -m:*)": {
			yes: []string{"git commit", "git commit -m x", `git commit -m "it's done"`, "git  commit", "git commit a.go -m /x", "git commit -m x -m y"},
			no: []string{"git", "git commits", "git -c a.b=c commit", "git push", "git commit; rm x", "git commit && rm x", "git commit | sh", "git commit > x", "git commit < x",
				"git commit `rm x`", "git commit $(rm x)", `git commit -m "$(rm x)"`, `git commit -m "$x"`, "git commit\nrm x", "git commit\rrm x", "git commit &", "git commit \\\nx", "x git commit",
				"git commit *", "git commit {a,b}", "git commit ~/x", "git commit #x", "git commit 'x", "(git commit)", "! git commit", "git commit\u00a0x\u2028rm", "git commit !!", "git commit -m \x00",
				"git commit -mx", "git commit -m -F", "git commit --amend", "git commit '-F' x", "git commit --", "X=1 git commit", "env X=1 git commit"},
		},
		// A flag that nobody allowed may write anywhere, or run anything.
		"Bash(git log --oneline:*)": {
			yes: []string{"git log", "git log --oneline", "git log main --oneline", "git log --oneline main..work a.go"},
			no: []string{"git log --output=/home/me/.bashrc", "git log --oneline --output /home/me/.bashrc", "git log --oneline '--output=x'", "git log -ox", "git log --oneline=x", "git log --onelin",
				"git log -- x", "git --exec-path=. log", "git log /etc/passwd", "git log ../x", "git log a/../../x", "git log C:/x", "git -p log --oneline"},
		},
		"Bash(git log --stat --output x.md --oneline:*)": {
			yes: []string{"git log --output x.md --oneline", "git log --oneline --stat"}, // a flag at the end has no value
			no:  []string{"git log --output y.md", "git log --stat y.md", "git log --output --oneline"},
		},
		// A command line as it is written permits itself alone.
		`Bash("make; echo ok")`: {
			yes: []string{"make; echo ok"},
			no:  []string{"make", "echo ok", "make;  echo ok", "make; echo ok ", "make; echo ok; rm x", "make; echo OK", "make\necho ok", `"make; echo ok"`},
		},
		`Bash("make; rm $X")`:   {no: []string{"make; rm $X"}}, // as somebody wrote it into a file
		`Bash("make)`:           {no: []string{"make"}},
		"Bash(git diff:*)":      {yes: []string{"git diff a b"}, no: []string{"git diff --output=x", "git diff --no-index a b", "git diff --ext-diff", "git diff a /etc/passwd"}},
		"Bash(git grep:*)":      {yes: []string{"git grep x"}, no: []string{"git grep '-Osh ./evil.sh' x", "git grep -Osh x", "git grep --open-files-in-pager=sh x"}},
		"Bash(git fetch:*)":     {no: []string{"git fetch --upload-pack=./x", "git fetch", "git fetch ext::x"}}, // as an older version wrote it
		"Bash(git stash:*)":     {no: []string{"git stash clear"}},
		"Bash(go build:*)":      {yes: []string{"go build ./..."}, no: []string{"go build -toolexec=./x", "go build -toolexec ./x .", "go build --toolexec=x"}},
		"Bash(go vet:*)":        {yes: []string{"go vet ./..."}, no: []string{"go vet -vettool=./x"}},
		"Bash(go test -run:*)":  {yes: []string{"go test -run TestA ./..."}, no: []string{"go test -run TestA -exec ./x", "go test -run -exec=./x"}},
		"Bash(npm run lint:*)":  {yes: []string{"npm run lint x"}, no: []string{"npm run lint --script-shell=./x", "npm run lint -- --fix", "npm run --silent lint", "npm run lints"}},
		"Bash(npm run a -- :*)": {no: []string{"npm run a --"}},
		"Bash(npm run a --:*)":  {yes: []string{"npm run a -- x", "npm run a"}, no: []string{"npm run a -- -x"}},
		// What names the loop's own file, or this program, is always asked.
		"Bash(git diff --output=x.md:*)": {
			yes: []string{"git diff --output=x.md", "git diff a.pi .pip"},
			no: []string{"git diff --output=.pi/ralph-loop.local.md", "git diff .PI/Ralph-Loop.local.md", `git diff .p"i/ralph-"loop.local.md`, "git diff ralph-loop.local.md",
				"git diff .pi/../.pi/x", "git diff ralph-lsp", "git diff ralph.toml"},
		},
		"Bash(ralph-lsp answer once)": {no: []string{"ralph-lsp answer once"}},
		"Bash(rm -rf build)":          {yes: []string{"rm -rf build", "rm '-rf' build"}, no: []string{"rm -rf build x", "rm -rf", "rm -rf 'build '", "rm -rf build/"}},
		"Bash":                        {no: []string{"ls"}},
		"Bash()":                      {no: []string{"ls"}},
		"Bash(:*)":                    {no: []string{"ls"}},
		"Bash(*)":                     {no: []string{"ls", "*"}},
		"Bash(ls":                     {no: []string{"ls"}},
		"bash(ls)":                    {no: []string{"ls"}},
		"Bash(ls) x":                  {no: []string{"ls"}},
	} {
		for _, command := range calls.yes {
			if !permits(rule, dir, "Bash", commandInput(command)) {
				t.Errorf("%s doesn't permit %q", rule, command)
			}
		}
		for _, command := range calls.no {
			if permits(rule, dir, "Bash", commandInput(command)) {
				t.Errorf("%s permits %q", rule, command)
			}
		}
	}
	for rule, calls := range map[string]struct{ yes, no []string }{
		"Edit(src/*)":     {yes: []string{"src/a.go", dir + "/src/b"}, no: []string{"src/deep/a.go", "a.go", "src/out/a", "src/in/a", "src/link.go", "src/../a", "lib/a", "/src/a.go", "src"}},
		"Edit(README.md)": {yes: []string{"README.md", "./README.md"}, no: []string{"src/README.md", "README.md/x", "../README.md"}},
		"Edit(*)":         {no: []string{"README.md", "src/a"}},
		"Edit(/*)":        {no: []string{"README.md", "src/a", "/etc/passwd"}},
		"Edit(../*)":      {no: []string{"../x"}},
		"Edit":            {no: []string{"README.md"}},
		"Write(src/*)":    {no: []string{"src/a.go"}},
	} {
		for _, path := range calls.yes {
			if !permits(rule, dir, "Edit", fileInput(path)) {
				t.Errorf("%s doesn't permit %q", rule, path)
			}
		}
		for _, path := range calls.no {
			if permits(rule, dir, "Edit", fileInput(path)) {
				t.Errorf("%s permits %q", rule, path)
			}
		}
	}
}

// Whatever an agent asks, what a rule permits is one simple command that begins as the rule says.
func FuzzARulePermitsOneSimpleCommand(f *testing.F) {
	for _, command := range []string{"git commit -m x", "git commit; ls", "git commit 'a b'", "git\tcommit", `git "commit"`, "git commit $x", "git commit\n", "rm -rf build", "git commit --x=\"y\""} {
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		const rule = "Bash(git commit -m:*)"
		input := commandInput(command)
		if permits(rule, "", "Bash", input) {
			// Without its quoted parts, nothing is left that means anything to a shell.
			bare := command
			for _, quote := range []string{"'", `"`} {
				if strings.Contains(command, quote) {
					return // the table has those
				}
			}
			if strings.ContainsAny(bare, "|&;<>()$`\\*?[]{}~#!\n\r\x00") || strings.Join(strings.Fields(bare)[:2], " ") != "git commit" ||
				strings.Contains(strings.ReplaceAll(" "+bare, "\t", " "), " --") {
				t.Errorf("%q is permitted", command)
			}
		}
		if own := ruleFor("", "Bash", input); own != "" && !permits(own, "", "Bash", input) {
			t.Errorf("%q isn't permitted by its own rule %q", command, own)
		}
	})
}

// A path that a rule permits is in the folder, as the system sees it too.
func FuzzARulePermitsNoFileOutside(f *testing.F) {
	for _, path := range []string{"src/a", "src/../x", "src/out/a", "/etc/passwd", "src//a", "src/./a", "src/in/x", "\\src\\a", "src/deep/..", "src/a\x00"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		dir := ruledFolder(t)
		input := fileInput(path)
		rule := ruleFor(dir, "Edit", input)
		if rule == "" {
			return
		}
		if strings.Contains(path, "..") && strings.Contains("/"+filepath.ToSlash(path)+"/", "/../") {
			t.Errorf("%q: %s", path, rule)
		}
		full := path
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, path)
		}
		if real := paths.Real(filepath.Dir(full)); real != dir && !strings.HasPrefix(real, dir+string(filepath.Separator)) {
			t.Errorf("%q leads to %s: %s", path, real, rule)
		}
	})
}
