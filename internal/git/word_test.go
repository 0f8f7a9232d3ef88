package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// fixture is a home of a user and a repository of somebody's.
type fixture struct {
	*testing.T
	git   Git
	ran   string // a file that is there once something of theirs has run
	evil  string // a program that makes it
	users string // one of the user's, which is silent
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	program, err := Find()
	must.OK(t, err)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	d := &fixture{T: t, ran: filepath.Join(dir, "ran"), evil: filepath.Join(dir, "evil"), users: filepath.Join(dir, "users")}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	d.git = Git{Program: program, Dir: filepath.Join(dir, "repo")}
	d.write("evil", "#!/bin/sh\necho \"$0 $*\" >>'"+d.ran+"'\ncat\n")
	d.write("users", "#!/bin/sh\nsed s/^/mine:/\n")
	d.must(os.Chmod(d.evil, 0o755))
	d.must(os.Chmod(d.users, 0o755))
	d.write("home/.gitconfig", "[user]\nname = ann\nemail = ann@localhost\n")
	d.must(os.Mkdir(d.git.Dir, 0o755))
	d.run("init", "-q")
	return d
}

func (d *fixture) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *fixture) write(name, text string) {
	d.Helper()
	path := filepath.Join(filepath.Dir(d.git.Dir), name)
	d.must(os.MkdirAll(filepath.Dir(path), 0o755))
	d.must(os.WriteFile(path, []byte(text), 0o644))
}

func (d *fixture) run(args ...string) string {
	d.Helper()
	out, err := d.git.Text(d.Context(), nil, args...)
	d.must(err)
	return out
}

func (d *fixture) config(args ...string) {
	d.Helper()
	_, err := d.git.Config(d.Context(), nil, args...)
	d.must(err)
}

// stage takes a file into the index, which is when filters run.
func (d *fixture) stage(text string) (content string, err error) {
	d.Helper()
	d.write("repo/.gitattributes", "* filter=f=x merge=m diff=d\n")
	d.write("repo/file", text)
	if _, err := d.git.Run(d.Context(), nil, "update-index", "--add", "file"); err != nil {
		return "", err
	}
	return d.run("show", ":file"), nil
}

// Whatever a repository's configuration says is to be run, we don't run it.
func TestWhatOnlyARepositoryNamesDoesNotRun(t *testing.T) {
	for name, plant := range map[string]func(d *fixture){
		"by name":      func(d *fixture) { d.config("filter.f=x.clean", d.evil) },
		"as a process": func(d *fixture) { d.config("filter.f=x.process", d.evil) },
		"in its include": func(d *fixture) {
			d.write("repo/more", "[filter \"f=x\"]\nclean = "+d.evil+"\n")
			d.config("include.path", "../more")
		},
		"of a work tree alone": func(d *fixture) {
			d.config("extensions.worktreeConfig", "true")
			d.config("--worktree", "filter.f=x.clean", d.evil)
		},
		"after it was asked": func(d *fixture) {
			if _, err := d.stage("first"); err != nil {
				d.Fatal(err)
			}
			d.config("filter.f=x.clean", d.evil)
		},
		"in an include, after it was asked": func(d *fixture) {
			d.config("include.path", "../more")
			if _, err := d.stage("first"); err != nil {
				d.Fatal(err)
			}
			d.write("repo/more", "[filter \"f=x\"]\nclean = "+d.evil+"\n")
		},
		"as what the user names": func(d *fixture) {
			d.config("--global", "filter.other.clean", d.users)
			d.config("filter.f=x.clean", d.evil)
		},
		"as a monitor of files": func(d *fixture) { d.config("core.fsmonitor", d.evil) },
		"as a textconv and a command of diff": func(d *fixture) {
			d.config("diff.d.textconv", d.evil)
			d.config("diff.external", d.evil)
			d.config("diff.d.command", d.evil)
		},
		"as a pager, an alias, an editor": func(d *fixture) {
			d.config("core.pager", d.evil)
			d.config("alias.show", "!"+d.evil)
			d.config("core.editor", d.evil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			plant(d)
			if got, err := d.stage("text"); got != "text" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if _, err := os.Stat(d.ran); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// A merge by a driver that doesn't run is no merge that went well.
func TestAMergeDriverThatDoesNotRunLeavesAConflict(t *testing.T) {
	d := newFixture(t)
	commit := func(text string, parents ...string) string {
		must.OK(t, must.Err(d.stage(text)))
		d.run("update-index", "--add", ".gitattributes")
		args := []string{"commit-tree", "-m", text}
		for _, parent := range parents {
			args = append(args, "-p", parent)
		}
		return d.run(append(args, d.run("write-tree"))...)
	}
	base := commit("0\n")
	one, two := commit("1\n", base), commit("2\n", base)
	d.config("merge.m.driver", d.evil)
	if out, err := d.git.Run(t.Context(), nil, "merge-tree", "--write-tree", one, two); ExitCode(err) != 1 {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := os.Stat(d.ran); err == nil {
		t.Error("it ran")
	}
}

// What the user's configuration names runs, as in the user's own git, whatever a repository says of it.
func TestWhatTheUserNamesRuns(t *testing.T) {
	for name, plant := range map[string]func(d *fixture){
		"nothing":         func(*fixture) {},
		"another program": func(d *fixture) { d.config("filter.f=x.clean", d.evil) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			d.config("--global", "filter.f=x.clean", d.users)
			plant(d)
			if got, err := d.stage("text"); got != "mine:text" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			d.git.NoFilters = true
			if got, err := d.stage("new"); got != "new" || err != nil {
				t.Errorf("with no filters: %q, %v", got, err)
			}
			if _, err := os.Stat(d.ran); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// A file that can't do without its filter isn't kept as it is, and the error says what helps.
func TestAFilterThatIsRequiredAndDoesNotRun(t *testing.T) {
	d := newFixture(t)
	d.config("filter.f=x.clean", d.evil)
	d.config("filter.f=x.required", "true")
	_, err := d.stage("text")
	for _, want := range []string{"clean filter 'f=x' failed", "filter.f=x.clean", "git config --global"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if keys, err := d.git.Unheeded(t.Context()); !slices.Equal(keys, []string{"filter.f=x.clean"}) || err != nil {
		t.Errorf("%q, %v", keys, err)
	}
}

// Files that look like a repository are none: they come with a plain clone. Those who know it name it.
func TestFilesOfAFolderAreNoRepository(t *testing.T) {
	d := newFixture(t)
	d.config("--global", "init.defaultBranch", "main")
	d.run("init", "-q", "--bare", "sub")
	d.git.Dir = filepath.Join(d.git.Dir, "sub")
	d.config("--file", "config", "core.bare", "false")
	d.config("--file", "config", "core.worktree", d.git.Dir)
	if out, err := d.git.Text(t.Context(), nil, "rev-parse", "--absolute-git-dir"); err == nil {
		t.Errorf("it is one: %s", out)
	}
	d.git.Env = []string{"GIT_DIR=" + d.git.Dir}
	d.run("rev-parse", "--absolute-git-dir")
}

// The user's configuration may stand elsewhere, but not where that depends on the folder.
func TestTheUsersConfigurationIsWhereTheUserSays(t *testing.T) {
	d := newFixture(t)
	d.write("other", "[user]\nname = eve\nemail = e@localhost\n")
	d.write("repo/other", "[user]\nname = evil\nemail = e@localhost\n")
	name := func() string { return d.run("var", "GIT_AUTHOR_IDENT") }
	if got := name(); !strings.HasPrefix(got, "ann ") {
		t.Error(got)
	}
	for variable, want := range map[string]string{"GIT_CONFIG_GLOBAL": "eve ", "GIT_CONFIG_SYSTEM": "ann "} {
		t.Setenv("GIT_CONFIG_NOSYSTEM", "0")
		t.Setenv(variable, filepath.Join(filepath.Dir(d.git.Dir), "other"))
		if got := name(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", variable, got)
		}
		t.Setenv(variable, "other")
		if got := name(); !strings.HasPrefix(got, "ann ") {
			t.Errorf("%s of the folder: %s", variable, got)
		}
		os.Unsetenv(variable)
	}
}

// What git does to submodules is done by a git in them, by their configuration.
func TestNothingRunsInSubmodules(t *testing.T) {
	d := newFixture(t)
	top := d.git
	d.write("repo/sub/.gitattributes", "* filter=f\n")
	d.write("repo/sub/file", "1\n")
	d.git.Dir = filepath.Join(top.Dir, "sub")
	d.run("init", "-q")
	d.run("add", "-A")
	d.run("commit", "-qm", "first")
	d.config("filter.f.clean", d.evil)
	d.write("repo/sub/file", "2\n")
	d.git = top
	d.write("repo/.gitmodules", "[submodule \"sub\"]\npath = sub\nurl = x\nignore = none\n")
	d.run("add", "sub")
	must.OK(t, must.Err(d.stage("1")))
	d.write("repo/file", "2")
	os.Remove(d.ran)
	_, err := d.git.StageAll(t.Context(), nil)
	d.must(err)
	if got := d.run("show", ":file"); got != "2" {
		t.Errorf("staged %q", got)
	}
	if ran, err := os.ReadFile(d.ran); err == nil {
		t.Errorf("it ran: %s", ran)
	}
}

// A git goes by what another has read of the same repository, as long as that holds.
func TestAGitGoesByWhatAnotherHasRead(t *testing.T) {
	d := newFixture(t)
	d.run("version")
	mute := Git{Program: "/none", Dir: d.git.Dir, Env: []string{"GIT_DIR=" + filepath.Join(d.git.Dir, ".git")}} // who can't read it itself
	mute.As(d.git)
	if names, err := mute.Unheeded(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
	d.config("filter.f.clean", d.evil)
	mute.As(d.git)
	if names, err := mute.Unheeded(t.Context()); err == nil {
		t.Errorf("it goes by what was read before: %q", names)
	}
	d.run("version")
	mute.As(d.git)
	if names, err := mute.Unheeded(t.Context()); err != nil || !slices.Equal(names, []string{"filter.f.clean"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// What a container hands in counts for git that works as its user, and for no other; nothing that a folder could have set does.
func TestTheUsersEnvironmentCountsForGitThatWorksAsTheUser(t *testing.T) {
	d := newFixture(t)
	for _, kv := range [][3]string{ // a variable, its value, and what git that works as the user has of it
		{"GIT_SSH_COMMAND", "ssh -i /key", "ssh -i /key"}, {"GIT_SSH_COMMAND", "./ssh -i key", ""}, {"GIT_SSH", "/usr/bin/ssh", "/usr/bin/ssh"},
		{"GIT_ASKPASS", "/askpass", "/askpass"}, {"GIT_ASKPASS", "bin/askpass", ""}, {"GIT_ASKPASS", "askpass", "askpass"},
		{"GIT_SSL_CAINFO", "/ca.pem", "/ca.pem"}, {"GIT_SSL_CAINFO", "ca.pem", ""}, {"GIT_SSL_NO_VERIFY", "1", "1"}, {"GIT_PROXY_SSL_KEY", "key", ""},
		{"GIT_CONFIG_COUNT", "1", "1"}, {"GIT_AUTHOR_NAME", "eve", "eve"}, {"GIT_COMMITTER_EMAIL", "e@x", "e@x"},
		{"GIT_DIR", "/elsewhere", ""}, {"GIT_WORK_TREE", "/", ""}, {"GIT_INDEX_FILE", "/x", ""}, {"GIT_OBJECT_DIRECTORY", "/x", ""}, {"GIT_EXTERNAL_DIFF", "/x", ""},
		{"GIT_EXEC_PATH", "/x", ""}, {"GIT_CONFIG", "/x", ""}, {"GIT_CONFIG_PARAMETERS", "'alias.x=y'", ""}, {"GIT_AUTHOR_DATE", "1 +0000", ""},
	} {
		t.Setenv(kv[0], kv[1])
		user := d.git
		user.AsUser = true
		if got, other := user.Given(kv[0]), d.git.Given(kv[0]); got != kv[2] || other != "" {
			t.Errorf("%s=%s: it has %q, any other git %q", kv[0], kv[1], got, other)
		}
		os.Unsetenv(kv[0])
	}
}

// Settings of the user's environment hold beside those that keep a repository's programs from running.
func TestSettingsOfTheUsersEnvironment(t *testing.T) {
	d := newFixture(t)
	d.git.AsUser = true
	for key, value := range map[string]string{"COUNT": "2", "KEY_0": "user.name", "VALUE_0": "eve", "KEY_1": "filter.f=x.clean", "VALUE_1": d.users} {
		t.Setenv("GIT_CONFIG_"+key, value)
	}
	d.config("filter.f=x.clean", d.evil)
	d.config("user.name", "repo")
	if got := d.run("var", "GIT_AUTHOR_IDENT"); !strings.HasPrefix(got, "eve ") {
		t.Errorf("its name is %s", got)
	}
	if content, err := d.stage("x"); err != nil || content != "mine:x" {
		t.Errorf("%v: the user's filter makes %q", err, content)
	}
	if ran, err := os.ReadFile(d.ran); err == nil {
		t.Errorf("the repository's ran: %s", ran)
	}
}
