package outside

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// program puts a program into a folder that says where it is.
func program(t *testing.T, dir, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no scripts of sh")
	}
	path := filepath.Join(dir, name)
	must.OK(t, os.WriteFile(path, []byte("#!/bin/sh\necho "+path+"; pwd; echo $PWD; echo $PATH\n"), 0o755))
	return path
}

func TestNoRelativeEntryOfPathFindsAProgram(t *testing.T) {
	folder, tools := t.TempDir(), t.TempDir()
	t.Chdir(folder)
	program(t, folder, "only-here")
	program(t, folder, "helper")
	theirs := program(t, tools, "helper")
	for _, entries := range []string{".", "", "./", filepath.Base(folder)} {
		t.Setenv("PATH", strings.Join([]string{entries, tools}, string(filepath.ListSeparator)))
		if path, err := LookPath("helper"); path != theirs || err != nil {
			t.Errorf("PATH with %q: %s, %v", entries, path, err)
		}
		if path, err := LookPath("only-here"); !errors.Is(err, exec.ErrNotFound) || path != "" {
			t.Errorf("PATH with %q: %s, %v", entries, path, err)
		}
		if err := Command(t.Context(), "only-here").Run(); !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("PATH with %q: it ran, or: %v", entries, err)
		}
	}
	if path, err := LookPath("./only-here"); err != nil || path != filepath.Join(folder, "only-here") {
		t.Errorf("a path that is named: %s, %v", path, err)
	}
	if _, err := LookPath("./not-here"); err == nil {
		t.Error("there is a program that isn't there")
	}
}

func TestACommandWorksOutsideOfTheFolder(t *testing.T) {
	tools := t.TempDir()
	t.Chdir(t.TempDir())
	t.Setenv("OLDPWD", tools)
	t.Setenv("PATH", strings.Join([]string{".", tools, "bin"}, string(filepath.ListSeparator)))
	path := program(t, tools, "helper")
	cmd := Command(t.Context(), "helper")
	if !slices.Equal(cmd.Args, []string{"helper"}) {
		t.Errorf("it is told that it is %q", cmd.Args)
	}
	if slices.ContainsFunc(cmd.Env, func(kv string) bool { return strings.HasPrefix(kv, "OLDPWD=") }) {
		t.Error("it has the folder before")
	}
	out, err := cmd.Output()
	if want := path + "\n/\n/\n" + tools + "\n"; string(out) != want || err != nil {
		t.Errorf("%q, want %q; %v", out, want, err)
	}
}

func TestDirIsNobodysButTheAdministrators(t *testing.T) {
	info, err := os.Stat(Dir())
	if err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 {
		t.Errorf("%s: %v, %v", Dir(), info, err)
	}
}
