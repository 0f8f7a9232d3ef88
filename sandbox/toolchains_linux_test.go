//go:build !race

package sandbox_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// toolchains are what people really use, with a project of each: what it says in its first
// run, and again. Secrets that lie beside what it needs aren't there.
var toolchains = []struct {
	name, program string
	home          map[string]string // files
	script        string
	want          string
	prepare       func(t *testing.T, home string)
}{
	{
		name: "Go", program: "go",
		prepare: goModule,
		home:    map[string]string{".config/go/env": "GOSUMDB=off\nGOPRIVATE=corp.example\nGOAUTH=netrc secret\n"},
		script: `[ -e go.mod ] || printf 'module me\n\nrequire example.org/dep v1.0.0\n' >go.mod
printf 'package main\nimport "example.org/dep"\nfunc main() { println(dep.Word) }\n' >main.go
go mod tidy 2>tidy || cat tidy; go run . 2>&1 && go env GOPRIVATE`, // println: with "os", a third more to compile
		want: "a word\ncorp.example\n",
	},
	{
		name: "node", program: "npm",
		home: map[string]string{".npmrc": "registry=https://packages.example/npm/\n//packages.example/npm/:_authToken=the-secret\nfund=false\naudit=false\n"},
		script: `mkdir -p dep && echo '{"name":"dep","version":"1.0.0"}' >dep/package.json && echo 'module.exports = "a word"' >dep/index.js
echo '{"name":"me","version":"1.0.0","scripts":{"test":"node t.js"}}' >package.json
echo 'console.log(require("dep"))' >t.js
npm install --silent --offline --no-update-notifier ./dep && npm test --silent && npm config get registry; cat ~/.npmrc | grep secret`,
		want: "a word\nhttps://packages.example/npm/\n",
	},
	{
		name: "python", program: "python3",
		home: map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://pypi.example/simple\nextra-index-url = https://me:secret@pypi.example/simple\n"},
		script: `[ -e .venv ] || python3 -m venv .venv && .venv/bin/python -c 'print("a word")' && .venv/bin/pip config list | grep index-url
.venv/bin/pip cache dir >/dev/null && echo kept >~/.cache/kept && cat ~/.cache/kept`,
		want: "a word\nglobal.index-url='https://pypi.example/simple'\nkept\n",
	},
	{
		name: "Rust", program: "cargo",
		prepare: func(t *testing.T, home string) {
			if me, err := user.Current(); err == nil && os.Getenv("RUSTUP_HOME") == "" && isThere(filepath.Join(me.HomeDir, ".rustup")) {
				must.OK(t, os.Symlink(filepath.Join(me.HomeDir, ".rustup"), filepath.Join(home, ".rustup")))
			}
		},
		home: map[string]string{".cargo/credentials.toml": "secret", ".cargo/config.toml": "[net]\nretry = 7\n[registries.x]\ntoken = \"secret\"\n"},
		script: `[ -e me ] || cargo -q new --vcs none me; cd me && echo 'fn main() { println!("a word"); }' >src/main.rs && cargo -q run --offline && cargo -q build --offline
grep retry ~/.cargo/config.toml; cat ~/.cargo/credentials.toml 2>/dev/null; echo kept >~/.cargo/registry/kept && cat ~/.cargo/registry/kept; grep -s secret ~/.cargo/config.toml`,
		want: "a word\nretry = 7\nkept\n",
	},
	{
		name: "Java", program: "javac",
		home: map[string]string{".m2/settings.xml": "<settings>\n<mirrors><mirror><url>https://maven.example/</url></mirror></mirrors>\n<servers><server><id>x</id>\n<password>\nsecret\n</password></server></servers>\n</settings>\n",
			".m2/settings-security.xml": "secret", ".gradle/gradle.properties": "p=secret\n"},
		script: `echo 'class A { public static void main(String[] a) { System.out.println("a word"); } }' >A.java && javac A.java && java A
grep -o 'https:[^<]*' ~/.m2/settings.xml; mkdir -p ~/.m2/repository/x ~/.gradle/caches && echo kept >~/.m2/repository/kept && cat ~/.m2/repository/kept; cat ~/.m2/settings* ~/.gradle/gradle.properties 2>/dev/null | grep secret`,
		want: "a word\nhttps://maven.example/\nkept\n",
	},
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// goModule puts a module where Go keeps those that it has.
func goModule(t *testing.T, home string) {
	dir := filepath.Join(home, "go", "pkg", "mod", "cache", "download", "example.org", "dep", "@v")
	const mod = "module example.org/dep\n"
	must.Write(t, filepath.Join(dir, "v1.0.0.info"), `{"Version":"v1.0.0"}`)
	must.Write(t, filepath.Join(dir, "v1.0.0.mod"), mod)
	must.Write(t, filepath.Join(dir, "list"), "v1.0.0\n")
	f, err := os.Create(filepath.Join(dir, "v1.0.0.zip"))
	must.OK(t, err)
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"go.mod": mod, "dep.go": "package dep\n\nconst Word = \"a word\"\n"} {
		w, err := z.Create("example.org/dep@v1.0.0/" + name)
		must.OK(t, err)
		_, err = w.Write([]byte(text))
		must.OK(t, err)
	}
	must.OK(t, first(z.Close(), f.Close()))
}

func TestToolchainsWorkInside(t *testing.T) {
	for _, tt := range toolchains {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath(tt.program); err != nil {
				t.Skipf("*** %s is NOT tested behind walls: %v ***", tt.name, err)
			}
			p := newPlace(t)
			t.Cleanup(func() { must.OK(t, paths.RemoveAll(filepath.Join(p.home, ".cache"))) }) // Go's can't be written
			for _, name := range []string{"GOPATH", "GOFLAGS", "GOMODCACHE", "GOENV", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PIP_CONFIG_FILE"} {
				t.Setenv(name, "")
				os.Unsetenv(name)
			}
			for name, text := range tt.home {
				must.Write(t, filepath.Join(p.home, name), text)
			}
			if tt.prepare != nil {
				tt.prepare(t, p.home)
			}
			for loop := range 2 {
				walls := raise(t, sandbox.Spec{Network: true}, p.folder)
				for run := range 2 - loop { // again in the same walls, and in new ones
					out, err := p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", tt.script+"; true")
					if err != nil || out != tt.want {
						t.Errorf("loop %d, run %d: %v\n%s\nwant\n%s", loop+1, run+1, err, out, tt.want)
					}
				}
			}
			for _, kept := range []string{".npm/_cacache", ".cache/kept", ".cargo/registry/kept", ".m2/repository/kept", "go/pkg/mod/example.org"} {
				if isThere(filepath.Join(p.home, kept)) {
					t.Errorf("%s is outside", kept)
				}
			}
		})
	}
}

// A file of settings that tells where packages are is there without what logs in.
func TestSettingsWithoutLogins(t *testing.T) {
	p := newPlace(t)
	for name, text := range map[string]string{
		".gitconfig":  "[user]\n\tname = Ann\n[credential]\n\thelper = \"!f() { echo secret; }; f\"\n[http]\n\textraheader = \\\n\t\tBasic secret\n[alias]\n\tst = status\n[include]\n\tpath = ~/work.inc\n",
		"work.inc":    "[user]\n\temail = ann@example.org\n[url \"https://ann:secret@example.org/\"]\n\tinsteadOf = https://example.org/\n",
		".yarnrc.yml": "npmRegistryServer: \"https://npm.example\"\nnpmScopes:\n  corp:\n    npmAuthToken: secret\n    npmRegistryServer: \"https://corp.example\"\n",
		".condarc":    "channels:\n  - https://conda.example/t/tk-0123456789abcdef0123456789ab/secret\n  - defaults\n",
	} {
		must.Write(t, filepath.Join(p.home, name), text)
	}
	out, err := p.run(t, raise(t, sandbox.Spec{}, p.folder), sandbox.Run{}, "/bin/sh", "-c",
		"git config user.name && git config user.email && git config alias.st && cd && cat .gitconfig work.inc .yarnrc.yml .condarc | grep -v '^\\[' ; echo x >>.gitconfig")
	if err == nil || strings.Contains(out, "secret") || !strings.Contains(out, "Ann\nann@example.org\nstatus\n") || !strings.Contains(out, "https://corp.example") || !strings.Contains(out, "- defaults") {
		t.Errorf("%v\n%s", err, out)
	}
}
