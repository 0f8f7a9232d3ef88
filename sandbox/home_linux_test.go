package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// keptBack are places of a home in which a list of secrets lacked one or another.
var keptBack = []string{
	".ssh/id", ".aws/credentials", ".config/rclone/rclone.conf", ".config/sops/age/keys.txt", ".age/key", ".s3cfg", ".oci/config", ".pulumi/credentials.json", ".cache/huggingface/token",
	".fly/config.yml", ".config/netlify/config.json", ".config/Signal/config.json", ".config/Slack/Cookies", ".mysql_history", ".codex/auth.json", ".gemini/oauth_creds.json",
	".local/share/opencode/auth.json", ".cargo/credentials.toml", ".config/git/credentials", ".bash_history", "Documents/taxes", ".zshrc", "other/.env", "new-tool-of-next-year/token",
}

// reads says which of the places somebody inside can read.
func (p place) reads(t *testing.T, walls *sandbox.Sandbox, home string, names ...string) string {
	t.Helper()
	script := ""
	for _, name := range names {
		script += "cat '" + filepath.Join(home, name) + "' 2>/dev/null && echo ' " + name + "'; "
	}
	out, err := p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", script+"true")
	must.OK(t, err)
	return strings.TrimSpace(out)
}

func (p place) fill(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		must.Write(t, filepath.Join(dir, name), secret)
	}
}

func TestTheHomeIsHidden(t *testing.T) {
	for name, at := range map[string]func(t *testing.T, p *place) (dir string){
		"as it is": func(t *testing.T, p *place) string { return p.home },
		"a link": func(t *testing.T, p *place) string {
			link := filepath.Join(t.TempDir(), "home")
			must.OK(t, os.Symlink(p.home, link))
			t.Setenv("HOME", link)
			return p.home
		},
		"settings elsewhere": func(t *testing.T, p *place) string {
			dir := t.TempDir()
			for variable, name := range map[string]string{"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_CACHE_HOME": ".cache"} {
				t.Setenv(variable, filepath.Join(dir, name))
			}
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			dir := at(t, &p)
			p.fill(t, dir, keptBack...)
			must.Write(t, filepath.Join(dir, ".config", "git", "ignore"), "*.o")
			for range 2 {
				walls := raise(t, sandbox.Spec{Network: true}, p.folder)
				for range 2 {
					if got := p.reads(t, walls, dir, keptBack...); got != "" && name != "settings elsewhere" {
						t.Errorf("it reads %s", got)
					} else if strings.Contains(got, ".config") || strings.Contains(got, ".local") || strings.Contains(got, ".cache") {
						t.Errorf("it reads %s", got)
					}
					if got := p.reads(t, walls, dir, ".config/git/ignore"); !strings.HasPrefix(got, "*.o") {
						t.Errorf("git's settings: %q", got)
					}
					if got := p.reads(t, walls, os.Getenv("HOME"), "work/.git/HEAD"); !strings.HasPrefix(got, "ref:") {
						t.Errorf("by its name: %q", got)
					}
				}
			}
		})
	}
}

// What the user names can be read, but not keys in it.
func TestTheUserOpensMore(t *testing.T) {
	p := newPlace(t)
	p.fill(t, p.home, ".config/tool/settings", ".config/gh/hosts.yml", "lib/x", "other/x")
	walls := raise(t, sandbox.Spec{Read: []string{"~/.config", "~/lib"}}, p.folder)
	if got, want := p.reads(t, walls, p.home, ".config/tool/settings", ".config/gh/hosts.yml", "lib/x", "other/x"), secret+" .config/tool/settings\n"+secret+" lib/x"; got != want {
		t.Errorf("it reads %q", got)
	}
	for path, want := range map[string]bool{"other/x": true, ".config/gh/hosts.yml": true, ".config/tool/settings": false, "work/a": false, "new": true} {
		if got := walls.Hides(filepath.Join(p.home, path)); got != want {
			t.Errorf("%s is hidden: %v, want %v", path, got, want)
		}
	}
	out := "cat: " + filepath.Join(p.home, "other", "x") + ": No such file or directory\n"
	if got := walls.Refusals(out, p.folder); len(got) != 1 || got[0].What != sandbox.Read {
		t.Errorf("told: %v", got)
	}
}

// What there is of the home is listed, without what is in something else of it.
func TestOpeningsAreListed(t *testing.T) {
	p := newPlace(t)
	p.fill(t, p.home, ".gitconfig", ".nvm/versions/node/v1/bin/node", ".nvm/versions/node/v1/lib/x", "lib/x", ".ssh/id")
	t.Setenv("PATH", filepath.Join(p.home, ".nvm", "versions", "node", "v1", "bin")+":"+os.Getenv("PATH"))
	opened, err := sandbox.Spec{Network: true, Read: []string{"~/lib"}}.Openings(p.folder)
	must.OK(t, err)
	got := map[string]string{}
	for _, o := range opened {
		if name, ok := strings.CutPrefix(o.Path, p.home+"/"); ok {
			got[name] = o.Way + ", " + o.Whose
		}
	}
	for name, want := range map[string]string{".gitconfig": "a copy without logins, git", ".nvm": "read-only, node", "lib": "read-only, read below [sandbox]", ".cache": "the folder's own, all",
		".nvm/versions/node/v1/bin": "", ".nvm/versions/node/v1/lib": "", ".ssh": "", ".ssh/id": ""} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// A link that an agent made opens nothing: not in its next run, and not in another loop.
func TestLinksOfAgentsOpenNothing(t *testing.T) {
	p := newPlace(t)
	p.fill(t, p.home, ".ssh/id")
	other := filepath.Join(p.home, "other")
	must.OK(t, os.MkdirAll(filepath.Join(p.folder, "bin"), 0o755))
	must.OK(t, os.Mkdir(other, 0o755))
	t.Setenv("PATH", filepath.Join(p.folder, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("VIRTUAL_ENV", filepath.Join(p.folder, "venv"))
	t.Setenv("NODE_EXTRA_CA_CERTS", filepath.Join(p.folder, "ca.pem"))
	plant := "rm -r bin; ln -s ../.ssh bin; ln -s ../.ssh venv; ln -s ../.ssh/id ca.pem; rm -rf ~/.cache/pip; ln -s ~/.ssh ~/.cache/pip; ln -s ~/.ssh ~/.cache/ms-playwright; rm -rf ~/.cargo/registry/x; ln -s ~/.ssh ~/.cargo/registry/x"
	for range 2 {
		walls := raise(t, sandbox.Spec{Network: true}, p.folder)
		for range 2 {
			_, err := p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", plant)
			must.OK(t, err)
			if got := p.reads(t, walls, p.home, ".ssh/id", "work/bin/id", "work/venv/id", "work/ca.pem", ".cache/pip/id", ".cache/ms-playwright/id", ".cargo/registry/x/id"); got != "" {
				t.Errorf("it reads %s", got)
			}
		}
	}
	next := place{p.home, other}
	if got := next.reads(t, raise(t, sandbox.Spec{Network: true}, other), p.home, ".ssh/id", "work/bin/id", "work/ca.pem"); got != "" {
		t.Errorf("another loop reads %s", got)
	}
	elsewhere := t.TempDir() // where a third loop was
	must.OK(t, os.Symlink(filepath.Join(p.home, ".ssh"), filepath.Join(elsewhere, "bin")))
	t.Setenv("PATH", filepath.Join(elsewhere, "bin")+":"+os.Getenv("PATH"))
	if got := next.reads(t, raise(t, sandbox.Spec{Network: true}, other), p.home, ".ssh/id"); got != "" {
		t.Errorf("by a link that is in no home, another loop reads %s", got)
	}
	_, err := sandbox.Raise(t.Context(), sandbox.Spec{Mode: sandbox.Workspace, Read: []string{filepath.Join(p.folder, "bin")}}, other)
	if refused := (*sandbox.Error)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "a link leads there") {
		t.Errorf("what a link of its leads to is opened: %v", err)
	}
}

// Links of the user's lead where they lead outside.
func TestLinksOfTheUsers(t *testing.T) {
	p := newPlace(t)
	must.Write(t, filepath.Join(p.home, "dotfiles", "bin", "tool"), "#!/bin/sh\necho a tool\n")
	must.OK(t, os.Chmod(filepath.Join(p.home, "dotfiles", "bin", "tool"), 0o755))
	must.Write(t, filepath.Join(p.home, "dotfiles", "gitconfig"), "[user]\n\tname = Ann\n")
	p.fill(t, p.home, "dotfiles/secret")
	must.OK(t, os.Symlink("dotfiles/bin", filepath.Join(p.home, "bin")))
	must.OK(t, os.Symlink("dotfiles/gitconfig", filepath.Join(p.home, ".gitconfig")))
	t.Setenv("PATH", filepath.Join(p.home, "bin")+":"+os.Getenv("PATH"))
	out, err := p.run(t, raise(t, sandbox.Spec{}, p.folder), sandbox.Run{}, "/bin/sh", "-c", "tool; git config user.name; cat ~/dotfiles/secret 2>/dev/null; ls ~/dotfiles")
	if err != nil || out != "a tool\nAnn\nbin\ngitconfig\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// A home that the system is in can't be hidden, and a folder that programs obey isn't a loop's.
func TestHomesThatCantBeHidden(t *testing.T) {
	p := newPlace(t)
	must.OK(t, os.Mkdir(filepath.Join(p.home, ".config"), 0o755))
	for _, tt := range []struct{ home, folder, want string }{
		{"/", p.folder, "where the system is"},
		{"/usr/share", p.folder, "where the system is"},
		{p.home, p.home, "your home folder is in it"},
		{p.home, filepath.Join(p.home, ".config"), ".config/git/config is in it"},
	} {
		t.Setenv("HOME", tt.home)
		_, err := sandbox.Raise(t.Context(), sandbox.Spec{Mode: sandbox.Workspace}, tt.folder)
		if refused := (*sandbox.Error)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s in %s: %v", tt.folder, tt.home, err)
		}
	}
}

// A repository of the home as a whole has all that is hidden.
func TestARepositoryOfTheHomeIsHidden(t *testing.T) {
	p := newPlace(t)
	must.OK(t, git("init", "-q", p.home))
	must.OK(t, os.RemoveAll(filepath.Join(p.folder, ".git")))
	p.fill(t, p.home, ".git/objects/x")
	walls := raise(t, sandbox.Spec{}, p.folder)
	if got := p.reads(t, walls, p.home, ".git/objects/x", ".git/HEAD"); got != "" {
		t.Errorf("it reads %s", got)
	}
	if _, err := p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", "mkdir -p ~/.git/hooks && echo evil >~/.git/hooks/pre-commit"); err == nil {
		t.Error("it makes hooks")
	}
}

// The repository that the folder is in is there, and what is beside it isn't.
func TestTheRepositoryAroundTheFolder(t *testing.T) {
	p := newPlace(t)
	must.Write(t, filepath.Join(p.folder, "go.mod"), "module me\n")
	p.fill(t, p.home, "next/x")
	sub := filepath.Join(p.folder, "part")
	must.OK(t, os.Mkdir(sub, 0o755))
	inPart := place{p.home, sub}
	out, err := inPart.run(t, raise(t, sandbox.Spec{}, sub), sandbox.Run{}, "/bin/sh", "-c", "cat ../go.mod; ls ../..; touch ../x || echo no")
	if err != nil || !strings.HasPrefix(out, "module me\n") || strings.Contains(out, "next") || !strings.HasSuffix(out, "no\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
