package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// UserName is the file's name in the user's folder.
const UserName = "config.toml"

// UserDir returns the folder of the user's file and of what the user trusts.
func UserDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder of your configuration: %w", err)
	}
	return filepath.Join(dir, "ralph-lsp"), nil
}

// Files say where settings are.
type Files struct {
	Folder  string   // of the loop, absolute; "" has no file
	UserDir string   // see UserDir; "" has none
	OwnDir  string   // has what is trusted from now on in place of UserDir, of which it still counts; "" has none
	Builtin []string // names of the known backends
	Trusted bool     // the folder is, whatever is remembered
	Origin  string   // the folder of a repository that Folder, in a worktree of ours, stands for; "" for any other
}

// FilesOf returns the places of a folder's settings. A user without a configuration folder has no file of their own.
func FilesOf(folder string, builtin []string) Files {
	userDir, err := UserDir()
	if err != nil {
		userDir = ""
	}
	return Files{Folder: folder, UserDir: userDir, OwnDir: paths.Own(""), Builtin: builtin, Origin: originOf(folder)}
}

// originOf is the folder that stands for one in a worktree of ours in its repository.
func originOf(folder string) string {
	if tree, ok := worktree.Find(folder); ok {
		return worktree.In(tree.Path, tree.Repo, folder)
	}
	return ""
}

// ofUser returns a path as the user's folder has it: files in a worktree go with it.
func (f Files) ofUser(path string) string {
	if filepath.IsAbs(path) || f.Folder == "" || path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`) {
		return path
	}
	return filepath.Join(cmp.Or(f.Origin, f.Folder), path)
}

// FileProblem is something wrong in one of the files.
type FileProblem struct {
	File string
	Problem
}

// InvalidError lists all that is wrong with the files.
type InvalidError struct{ Problems []FileProblem }

func (e *InvalidError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i == 0 || p.File != e.Problems[i-1].File {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%s can't be used:", p.File)
		}
		fmt.Fprintf(&b, "\n  line %d, column %d: %s", p.Line, p.Column, p.Message)
	}
	return b.String()
}

// Load reads the files. A missing one says nothing.
//
// Errors: *InvalidError, *UntrustedError, and what the system says.
func (f Files) Load() (Settings, error) {
	settings := Default()
	settings.Files = f
	var invalid InvalidError
	var user, folder map[string]any
	if f.UserDir != "" {
		data, err := readFile(filepath.Join(f.UserDir, UserName))
		if err != nil {
			return settings, err
		}
		user = invalid.decode(filepath.Join(f.UserDir, UserName), data, f.Builtin, nil, false)
		settings.orderHats(data)
	}
	settings.Sandbox.Secrets = fleetSecrets(f.UserDir)
	settings.apply(user, FromUser, f.UserDir)
	if f.Folder == "" {
		return settings, invalid.orNil()
	}
	file, err := f.readFolder()
	if err != nil {
		return settings, err
	}
	isTrusted := f.trusts(file)
	if file.target != "" && !isTrusted { // not a word of it is told
		return settings, cmp.Or(invalid.orNil(), error(f.untrusted(file, []string{Name + " -> " + file.target})))
	}
	folder = invalid.decode(file.name, file.data, f.known(user), hatsOf(user), true)
	if err := invalid.orNil(); err != nil {
		return settings, err
	}
	rest, held := settings.hold(folder, user, isTrusted)
	if !isTrusted {
		wants := demands(folder, user)
		untrusted := f.untrusted(file, append(wants, lines(held)...))
		if len(wants) > 0 {
			if chosen, _ := folder["backend"].(string); chosen != "" {
				untrusted.runs = "backends." + chosen + "."
			}
			return settings, untrusted
		}
		if len(untrusted.Wants) > 0 {
			settings.Trust = untrusted
		}
	}
	settings.Held = held
	settings.orderHats(file.data)
	settings.apply(rest, FromFolder, f.Folder)
	return settings, nil
}

// orNil is the error if there is a problem.
func (e *InvalidError) orNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}

// known are the names of the backends that a folder's file needn't describe.
func (f Files) known(user map[string]any) []string {
	names := slices.Clone(f.Builtin)
	own, _ := user["backends"].(map[string]any)
	return slices.AppendSeq(names, maps.Keys(own))
}

// hatsOf are the hats of a decoded file.
func hatsOf(values map[string]any) []string {
	hats, _ := values["hats"].(map[string]any)
	return slices.Collect(maps.Keys(hats))
}

// Check returns what is wrong with a folder's file that may not be saved yet,
// as Load would.
func (f Files) Check(data []byte) []Problem {
	var user map[string]any
	if f.UserDir != "" {
		if text, err := readFile(filepath.Join(f.UserDir, UserName)); err == nil {
			user = new(InvalidError).decode("", text, f.Builtin, nil, false)
		}
	}
	return check(data, f.known(user), hatsOf(user), true).problems
}

// decode reads a file's values, or takes down what is wrong with it.
func (e *InvalidError) decode(name string, data []byte, known, hats []string, all bool) map[string]any {
	c := check(data, known, hats, all)
	before := len(e.Problems)
	for _, p := range c.problems {
		if p.Severity == Error {
			e.Problems = append(e.Problems, FileProblem{name, p})
		}
	}
	if len(e.Problems) > before {
		return map[string]any{}
	}
	return c.values
}

// SameCheck says whether two contents of a folder's file verify promises in the same way. An unreadable content is
// like no other.
func SameCheck(before, now []byte) bool {
	var tables [2]map[string]any
	for i, data := range [][]byte{before, now} {
		if _, err := toml.Decode(strings.TrimPrefix(string(data), bom), &tables[i]); err != nil {
			return bytes.Equal(before, now)
		}
	}
	return reflect.DeepEqual(tables[0]["verify"], tables[1]["verify"])
}

// readFile returns a file's content, nothing if there is none. A file that is too large is cut where that can be
// seen.
func readFile(name string) ([]byte, error) {
	data, err := regular.Head(name, MaxSize+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return data, nil
}

// PromptPath returns where the prompt file is. A name that leads out of the
// folder only through a symbolic link is refused: nobody was asked about it.
func (s Settings) PromptPath(folder string) (string, error) {
	path := s.PromptFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	if leadsOut(s.PromptFile) {
		return path, nil // the user wrote it, or trusts who did
	}
	root, err := regular.OpenRoot(folder)
	if err != nil {
		return "", fmt.Errorf("looking for the prompt: %w", err)
	}
	defer root.Close()
	if _, err := root.Stat(s.PromptFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking for the prompt file: %w", paths.Outside(folder, s.PromptFile, err))
	}
	return path, nil
}

// leadsOut says whether a path relative to a folder names something outside.
func leadsOut(path string) bool { return !filepath.IsLocal(path) }
