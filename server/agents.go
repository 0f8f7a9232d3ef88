package server

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// agents are the known backends, with what is known of their installation.
type agents struct {
	probes atomic.Pointer[map[string]backends.Probe] // by the names of the backends; nil before it was looked
}

// probe looks for all of them, which takes long.
func (a *agents) probe(ctx context.Context) {
	probes := map[string]backends.Probe{}
	for _, p := range backends.ProbeAll(ctx) {
		probes[p.Backend.Name] = p
	}
	a.probes.Store(&probes)
}

// known is what probe found of a backend.
func (a *agents) known(name string) (p backends.Probe, ok bool) {
	if probes := a.probes.Load(); probes != nil {
		p, ok = (*probes)[name]
	}
	return p, ok
}

// detect finds the first agent that is installed; one that was found at the start is not looked for again.
func (a *agents) detect(ctx context.Context) (backends.Backend, error) {
	for _, name := range backends.Names() {
		if p, ok := a.known(name); ok && p.Err == nil {
			return p.Backend, nil
		}
	}
	return start.Installed(ctx)
}

// MissingBackend returns how to install a backend that isn't, "" for one that is or
// that nobody has looked for yet.
func (a *agents) MissingBackend(name string) string {
	if p, ok := a.known(name); ok && p.Err != nil && !errors.Is(p.Err, backends.ErrNoAnswer) {
		return p.Backend.HowToInstall()
	}
	return ""
}
