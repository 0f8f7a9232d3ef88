// Package agents installs pinned versions of real coding agents from npm, and
// runs them for tests in sandboxes that know nothing of the user's own
// accounts, settings and sessions.
package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
)

const npmTimeout = 20 * time.Minute // of a package, on a busy machine, too

// Set is a folder with the installed node and agents.
type Set struct {
	dir  string // absolute
	node Pin
}

// CacheDir returns where a checkout keeps its agents: .cache/agents beside the
// nearest go.work at or above the working directory.
func CacheDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return filepath.Join(dir, ".cache", "agents"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("looking for the checkout: no go.work here or above")
		}
		dir = parent
	}
}

// BuildRalph builds ralph-lsp into a folder and returns the program's path.
func BuildRalph(dir string) (string, error) { return Build(dir, "cmd/ralph-lsp") }

// Build builds one of this project's programs, such as "cmd/ralph-lsp", into a folder and returns its path. It is
// stripped as releases are: linking takes half as long then.
func Build(dir, from string) (string, error) {
	name := path.Base(from)
	program := filepath.Join(dir, name)
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "github.com/ralph-lsp/ralph-lsp/"+from)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return program, nil
}

// Install makes sure that dir has all agents and a node for them. It installs
// what is missing with npm, tells progress about that, and leaves the rest as
// it is. Two processes may call it at once; one waits for the other.
func Install(ctx context.Context, dir string, progress io.Writer) (*Set, error) {
	return install(ctx, dir, All, progress)
}

func install(ctx context.Context, dir string, pins []Pin, progress io.Writer) (*Set, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	node, err := nodePin()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	lock, err := filelock.Hold(ctx, filepath.Join(dir, ".lock"))
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	defer lock.Close()
	if err := removeLeftovers(dir); err != nil {
		return nil, err
	}
	set := &Set{dir: dir, node: node}
	for _, pin := range append([]Pin{node}, pins...) { // node first: npm obeys the version that it runs on
		if set.has(pin) {
			continue
		}
		fmt.Fprintf(progress, "installing %s\n", pin)
		if err := set.install(ctx, pin); err != nil {
			return nil, fmt.Errorf("installing %s: %w", pin, err)
		}
	}
	return set, nil
}

const temporary = ".installing-"

// removeLeftovers deletes half-done installations of a run that was killed.
func removeLeftovers(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, temporary+"*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// BinDir returns the folder that has the pin's command.
func (s *Set) BinDir(p Pin) string { return binDir(filepath.Join(s.dir, p.folder())) }

// NodeBinDir returns the folder that has node.
func (s *Set) NodeBinDir() string { return s.BinDir(s.node) }

// Env returns a copy of env whose PATH finds node and the pins' commands
// first. What node has compiled stays beside it: compiling an agent anew is
// half of what its start takes.
func (s *Set) Env(env []string, pins ...Pin) []string {
	dirs := []string{s.NodeBinDir()}
	for _, p := range pins {
		dirs = append(dirs, s.BinDir(p))
	}
	var out []string
	for _, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			dirs = append(dirs, path)
			continue
		}
		out = append(out, kv)
	}
	return append(out, "PATH="+strings.Join(dirs, string(filepath.ListSeparator)), "NODE_COMPILE_CACHE="+filepath.Join(s.dir, "compiled"))
}

func (s *Set) has(p Pin) bool {
	return checkVersion(filepath.Join(s.dir, p.folder()), p) == nil
}

// install puts p beside its place, checks it, and moves it there in one step.
func (s *Set) install(ctx context.Context, p Pin) (err error) {
	tmp, err := os.MkdirTemp(s.dir, temporary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := s.npmInstall(ctx, p, tmp); err != nil {
		return err
	}
	if err := checkVersion(tmp, p); err != nil {
		return err
	}
	if err := s.checkRuns(ctx, p, tmp); err != nil {
		return err
	}
	place := filepath.Join(s.dir, p.folder())
	if err := os.RemoveAll(place); err != nil { // what doesn't have the right version
		return err
	}
	return os.Rename(tmp, place)
}

// npmInstall runs npm, which tries again what the registry didn't answer.
func (s *Set) npmInstall(ctx context.Context, p Pin, prefix string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm is needed to install the agents: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, npmTimeout)
	defer cancel()
	args := []string{"install", "--prefix", prefix, "--no-audit", "--no-fund", "--no-package-lock", p.Package + "@" + p.Version}
	if p.IsBare {
		args = append(args, "--omit=optional")
	}
	cmd := exec.CommandContext(ctx, npm, args...)
	cmd.Dir = prefix
	cmd.Env = s.Env(os.Environ())
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install %s@%s: %w\n%s", p.Package, p.Version, err, bytes.TrimSpace(out))
	}
	return nil
}

// checkVersion looks at what is really installed: under a node that is too old
// for a package, npm installs an older version without a word.
func checkVersion(prefix string, p Pin) error {
	data, err := os.ReadFile(filepath.Join(prefix, "node_modules", filepath.FromSlash(p.Package), "package.json"))
	if err != nil {
		return err
	}
	var pkg struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &pkg); err != nil {
		return fmt.Errorf("reading package.json of %s: %w", p.Package, err)
	}
	if pkg.Version != p.Version {
		return fmt.Errorf("%s %s was installed, want %s", p.Package, pkg.Version, p.Version)
	}
	return nil
}

// checkRuns starts the command once: a package may be complete while the
// program that it downloads for the platform is not.
func (s *Set) checkRuns(ctx context.Context, p Pin, prefix string) error {
	if p.Bin == "" {
		return nil
	}
	bin, err := lookPath(binDir(prefix), p.Bin)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "agent-home-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "--version")
	cmd.Dir = home
	cmd.Env = s.Env(append(baseEnv(home, home), "PATH="+systemPath()))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s --version: %w\n%s", p.Bin, err, bytes.TrimSpace(out))
	}
	if !p.IsMute && !bytes.Contains(out, []byte(p.Version)) {
		return fmt.Errorf("%s --version says %q, want %s", p.Bin, bytes.TrimSpace(out), p.Version)
	}
	return nil
}

func binDir(prefix string) string { return filepath.Join(prefix, "node_modules", ".bin") }

// lookPath finds a command in dir and nowhere else.
func lookPath(dir, name string) (string, error) {
	found, err := exec.LookPath(filepath.Join(dir, name))
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", name, err)
	}
	return found, nil
}
