package backends

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/outside"
)

// NotFoundError says that no agent could be found, and what to do about it.
type NotFoundError struct {
	Looked []Backend // the backends that were looked for, in order
	Path   string    // the PATH that was searched
}

// Error is one short line; Looked and Path have the details.
func (e *NotFoundError) Error() string {
	if len(e.Looked) != 1 {
		return "no agent is installed"
	}
	b := e.Looked[0]
	if filepath.Base(b.Command) != b.Command {
		return fmt.Sprintf("no program %s; %s", b.Command, b.HowToInstall())
	}
	return fmt.Sprintf("%s is not installed: %s", b.Name, b.HowToInstall())
}

// UnknownError says that there is no backend of that name.
type UnknownError struct {
	Name  string
	Known []string
}

func (e *UnknownError) Error() string {
	near := slices.DeleteFunc(slices.Clone(e.Known), func(known string) bool { // all are too many to read
		return strings.HasPrefix(known, ACPPrefix) != strings.HasPrefix(e.Name, ACPPrefix)
	})
	return fmt.Sprintf("unknown backend %q: %s, or a path to a program", e.Name, format.Known(e.Name, near))
}

// Names lists the known backends: those that are detected in the order of detection, and then
// those that are only named.
func Names() (names []string) {
	for _, b := range slices.Concat(builtin, acpAgents()) {
		names = append(names, b.Name)
	}
	return names
}

// Detected lists the backends that are looked for, in that order.
func Detected() []string { return Names()[:len(builtin)] }

// Lookup returns the backend called name, or an *UnknownError.
func Lookup(name string) (Backend, error) {
	known := builtin
	if strings.HasPrefix(name, ACPPrefix) {
		known = acpAgents()
	}
	if i := slices.IndexFunc(known, func(b Backend) bool { return b.Name == name }); i >= 0 {
		return known[i], nil
	}
	return Backend{}, &UnknownError{Name: name, Known: Names()}
}

// Find returns the path of the backend's program, or a *NotFoundError.
func (b Backend) Find() (string, error) {
	path, err := outside.LookPath(b.Command)
	if err == nil {
		return path, nil
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return "", &NotFoundError{Looked: []Backend{b}, Path: os.Getenv("PATH")}
	}
	return "", fmt.Errorf("starting %s: %w", b.Name, err)
}

// Detect returns the first backend that works here, or a *NotFoundError if none
// is installed, or what keeps the first that is installed from working. It
// waits for no answer behind that one, only for the end of whoever is still
// being asked. A program that worked before isn't asked again as long as its file
// stays the same.
func Detect(ctx context.Context) (Backend, Probe, error) {
	asking, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	answers := make([]chan Probe, len(builtin))
	for i, b := range builtin {
		answers[i] = make(chan Probe, 1)
		wg.Go(func() { answers[i] <- b.knownProbe(asking) })
	}
	var broken error
	for i := range builtin {
		probe := <-answers[i]
		if probe.Err == nil {
			return probe.Backend, probe, nil
		}
		if missing := (*NotFoundError)(nil); !errors.As(probe.Err, &missing) && broken == nil {
			broken = probe.Err
		}
	}
	if ctx.Err() != nil {
		return Backend{}, Probe{}, fmt.Errorf("looking for an agent: %w", ctx.Err())
	}
	if broken != nil {
		return Backend{}, Probe{}, fmt.Errorf("no agent works here: %w", broken)
	}
	return Backend{}, Probe{}, &NotFoundError{Looked: slices.Clone(builtin), Path: os.Getenv("PATH")}
}

// All returns the backends that are detected, in that order.
func All() []Backend { return slices.Clone(builtin) }
