package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph-lsp/backends"
	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
	"ralph-lsp/server/rpc"
	"ralph-lsp/wire"
)

// CheckStart returns why a loop could not be started as its configuration
// says, as far as that can be told without touching anything: a start that is
// refused must leave the loop alone that it would replace. It also returns the
// first run's command line and prompt.
func CheckStart(cfg loop.Config) (argv []string, prompt string, err error) {
	if slices.ContainsFunc(cfg.Args, func(arg string) bool { return strings.ContainsRune(arg, 0) }) {
		return nil, "", invalidKey("args", "an argument has a NUL byte, which no program can be given")
	}
	if argv, prompt, err = cfg.DryRun(); err != nil {
		return nil, "", err
	}
	if cfg.Backend.Prompt == backends.PromptArg && len(prompt) > backends.MaxArg {
		return nil, "", rpc.Errorf(rpc.CodeInvalidParams, "the prompt has %d bytes with the loop's rules, and %s takes it as an argument of at most %d",
			len(prompt), cfg.Backend.Name, backends.MaxArg)
	}
	return argv, prompt, checkStateFile(cfg.Folder)
}

// checkStateFile refuses a folder with something else where the state file goes.
func checkStateFile(folder string) error {
	file := filepath.Join(folder, filepath.FromSlash(loopstate.Name))
	dir := filepath.Dir(file)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return failed(wire.ReasonBadStateFile, fmt.Errorf("%s is no folder: move it away", dir), nil)
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return failed(wire.ReasonBadStateFile, fmt.Errorf("%s is no regular file: move it away", file), nil)
	}
	return nil
}

// launchInstead ends the loop that the user was asked about, and starts another. What
// is there by now instead of that one is left alone, so the start may be refused.
func (m *manager) launchInstead(cfg loop.Config, end func() error) (*managed, error) {
	if _, _, err := CheckStart(cfg); err != nil { // the answer may have taken long
		return nil, err
	}
	if err := end(); err != nil && !errors.Is(err, loop.ErrNotRunning) {
		return nil, err
	}
	return m.launch(cfg)
}

// clear ends the loop with an id in a folder, "" for any, whoever drives it, and
// discards one that nobody does.
func (m *manager) clear(ctx context.Context, path, loopID string) error {
	m.mu.Lock()
	var running *managed
	if f := m.at(path, path); f != nil {
		running = f.running
	}
	m.mu.Unlock()
	if running != nil {
		if loopID == "" || running.ID() == loopID {
			running.Cancel()
		}
		return nil
	}
	if _, owner, owned, _ := loop.FolderStatus(path); owned && owner.PID != os.Getpid() {
		turnOf(ctx).end() // another process may take long
	}
	_, err := loop.CancelFolder(ctx, path, loopID)
	if errors.Is(err, loop.ErrNotRunning) {
		return nil
	}
	return err
}
