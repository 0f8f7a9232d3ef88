//go:build e2e

package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

const installTimeout = 20 * time.Minute

// emacs returns the path of Emacs, which it installs with the packages of
// Debian that bring it and its two language clients.
func emacs(t *testing.T) string {
	t.Helper()
	unlock := lockInstallation(t)
	defer unlock()
	if missing := hadEmacs(); missing != nil {
		if err := aptInstall(t, "emacs-nox", "elpa-eglot", "elpa-lsp-mode"); err != nil {
			t.Fatalf("%v, and could not be installed: %v", missing, err)
		}
		if missing := missingFromEmacs(); missing != nil {
			t.Fatalf("%v, although its packages are installed", missing)
		}
	}
	path, err := exec.LookPath("emacs")
	must.OK(t, err)
	return path
}

// install makes sure that there is a program, by a package of Debian.
func install(t *testing.T, program, name string) {
	t.Helper()
	unlock := lockInstallation(t)
	defer unlock()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if err := aptInstall(t, name); err != nil {
		t.Fatalf("%s is missing: %v", program, err)
	}
}

// fromDebian returns the path of a program of another Debian suite, which it unpacks
// beside the editors of the plugins' tests.
func fromDebian(t *testing.T, suite, program string, packages ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), installTimeout)
	defer cancel()
	script := filepath.Join("..", "..", "tools", "editors", "get-debian.sh")
	cmd := exec.CommandContext(ctx, script, append([]string{suite, program}, packages...)...)
	cmd.Env = append(os.Environ(), "RALPH_EDITORS_CACHE="+filepath.Join(filepath.Dir(cacheDir(t)), "editors"))
	var told strings.Builder
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s of Debian %s: %v\n%s", program, suite, err, &told)
	}
	return strings.TrimSpace(string(out))
}

// hadEmacs is missingFromEmacs before anything was installed: a look takes Emacs seconds.
var hadEmacs = sync.OnceValue(missingFromEmacs)

// missingFromEmacs says what Emacs lacks to run the tests; nil is nothing.
func missingFromEmacs() error {
	require := "(progn (require 'package) (package-initialize) (require 'eglot) (require 'lsp-mode))"
	if out, err := exec.Command("emacs", "--batch", "--no-site-file", "--eval", require).CombinedOutput(); err != nil {
		return fmt.Errorf("Emacs with eglot and lsp-mode is missing: %w: %s", err, out)
	}
	return nil
}

// aptInstall installs packages of Debian.
func aptInstall(t *testing.T, packages ...string) error {
	if os.Geteuid() != 0 {
		return errors.New("only root may; run apt-get install " + strings.Join(packages, " "))
	}
	ctx, cancel := context.WithTimeout(t.Context(), installTimeout)
	defer cancel()
	apt := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	install := append([]string{"install", "-y", "--no-install-recommends"}, packages...)
	if apt(install...) == nil {
		return nil
	}
	if err := apt("update"); err != nil { // a fresh machine has no lists
		return err
	}
	return apt(install...)
}

// protocolPackage is the client side of the protocol as VS Code has it.
const (
	protocolPackage = "vscode-languageserver-protocol"
	protocolVersion = "3.18.5"
)

// protocolLibrary returns a folder whose node_modules has the package.
func protocolLibrary(t *testing.T) string {
	t.Helper()
	unlock := lockInstallation(t)
	defer unlock()
	dir := filepath.Join(cacheDir(t), protocolPackage+"-"+protocolVersion)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".installing-")
	must.OK(t, err)
	defer os.RemoveAll(tmp) // nothing is left there when all went well
	ctx, cancel := context.WithTimeout(t.Context(), installTimeout)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", tmp, "--no-audit", "--no-fund", "--no-package-lock",
		"--ignore-scripts", protocolPackage+"@"+protocolVersion)
	npm.Dir = tmp
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("installing %s with npm: %v\n%s", protocolPackage, err, out)
	}
	must.OK(t, os.Rename(tmp, dir))
	return dir
}

// cacheDir returns the folder, beside that of the agents, which keeps what was
// installed.
func cacheDir(t *testing.T) string {
	t.Helper()
	beside, err := agents.CacheDir()
	must.OK(t, err)
	dir := filepath.Join(filepath.Dir(beside), "clients")
	must.OK(t, os.MkdirAll(dir, 0o755))
	return dir
}

// lockInstallation makes two runs of the tests install one after another.
func lockInstallation(t *testing.T) (unlock func()) {
	t.Helper()
	lock, err := filelock.Hold(t.Context(), filepath.Join(cacheDir(t), ".lock"))
	if err != nil {
		t.Fatalf("locking the installation: %v", err)
	}
	return func() { lock.Close() }
}
