// Package outside starts the programs that help a loop and aren't its agents: they run with the
// user's rights and no walls. So no folder that an agent can write says what they do. They work in
// a folder that only the administrator writes, and are found by the absolute entries of PATH.
package outside

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Dir returns the folder in which they work: / or, on Windows, where any user may make folders in
// C:\, the folder of the system. Interpreters load modules from the folder in which they work.
func Dir() string {
	if runtime.GOOS != "windows" {
		return "/"
	}
	if root := os.Getenv("SystemRoot"); filepath.IsAbs(root) {
		return root
	}
	return `C:\Windows`
}

// Environ returns env, and nil is this process's, for a program that works in Dir: without the
// relative entries of PATH, which name other files in each folder, and without the folders that
// shells left there.
func Environ(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	env = slices.DeleteFunc(WithoutRelative(env), func(kv string) bool {
		return strings.HasPrefix(kv, "PWD=") || strings.HasPrefix(kv, "OLDPWD=")
	})
	return append(env, "PWD="+Dir())
}

// WithoutRelative returns a copy of env whose PATH has no relative entries. An empty entry is one.
func WithoutRelative(env []string) []string {
	env = slices.Clone(env)
	for i, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); strings.EqualFold(name, "PATH") {
			dirs := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool { return !filepath.IsAbs(dir) })
			env[i] = name + "=" + strings.Join(dirs, string(filepath.ListSeparator))
		}
	}
	return env
}

// LookPath returns the absolute path of a program. A name without a folder is looked up in the
// absolute entries of PATH; exec.LookPath gives up at a program in a relative one. The error is an
// *exec.Error.
func LookPath(name string) (string, error) {
	if filepath.Base(name) != name {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", err
		}
		return filepath.Abs(path)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Command is exec.CommandContext for a program that works in Dir. One that isn't found is an error
// of Start.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path, err := LookPath(name)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Path, cmd.Args[0], cmd.Err = path, name, err
	cmd.Dir, cmd.Env = Dir(), Environ(nil)
	return cmd
}
