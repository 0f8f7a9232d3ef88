package server

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// agents are the known backends, with what is known of their installation.
type agents struct {
	mu     sync.Mutex
	probes map[string]backends.Probe // by the names of the backends; nil before it was looked
}

// probe looks for all of them, which takes long.
func (a *agents) probe(ctx context.Context) {
	probes := map[string]backends.Probe{}
	for _, p := range backends.ProbeAll(ctx) {
		probes[p.Backend.Name] = p
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.probes = probes
}

// known is what probe found of a backend.
func (a *agents) known(name string) (p backends.Probe, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok = a.probes[name]
	return p, ok
}

// detect finds the first agent that is installed; what was found at the start
// is not looked for again.
func (a *agents) detect(ctx context.Context) (backends.Backend, error) {
	for _, name := range backends.Names() {
		if p, ok := a.known(name); ok && p.Err == nil {
			return p.Backend, nil
		}
	}
	return start.Installed(ctx)
}

// listAgents lists the agents that a start in a folder can name. Of the files' own only
// the programs are looked for.
func (s *starter) listAgents(ctx context.Context, p wire.FolderParams) (any, error) {
	path, err := s.workspace.FolderPath(p.Folder)
	if err != nil && p.Folder != "" {
		return nil, err
	}
	settings, _ := s.Files(path).Load() // an untrusted file names no agents, one with mistakes is told elsewhere
	probes := backends.Look(backends.ForLoop(ctx, settings.Sandbox, path))
	names := slices.Collect(maps.Keys(settings.Backends))
	if strings.HasPrefix(settings.Backend, backends.ACPPrefix) { // which is looked for only where it is named
		names = append(names, settings.Backend)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		own := settings.Backends[name]
		i := slices.IndexFunc(probes, func(p backends.Probe) bool { return p.Backend.Name == name })
		if i >= 0 && own.Command == "" {
			continue // known, with arguments
		}
		known, _ := backends.Lookup(name) // or it is a program of the file's
		probe := backends.Probe{Backend: backends.Backend{Name: name, Command: cmp.Or(own.Command, known.Command), Install: known.Install}}
		probe.Path, probe.Err = probe.Backend.Find()
		if i >= 0 {
			probe.Backend.ModelFlag, probes[i] = probes[i].Backend.ModelFlag, probe
		} else {
			probes = append(probes, probe)
		}
	}
	result := answers.AgentsResult{}
	for _, probe := range probes {
		result.Agents = append(result.Agents, answers.AgentOf(probe))
	}
	slices.SortStableFunc(result.Agents, func(a, b answers.AgentInfo) int { return rankOf(a.Class) - rankOf(b.Class) })
	for i := range result.Agents {
		a := &result.Agents[i]
		if a.Default = a.Name == settings.Backend || settings.Backend == config.Auto && a.Class == wire.ClassOK; a.Default {
			break
		}
	}
	return result, nil
}

// listHats lists the hats of a folder that a start can name; those of a file that isn't trusted are none.
func (s *starter) listHats(_ context.Context, p wire.FolderParams) (any, error) {
	path, err := s.workspace.FolderPath(p.Folder)
	if err != nil && p.Folder != "" {
		return nil, err
	}
	settings, _ := s.Files(path).Load()
	return answers.HatsOf(settings), nil
}

// rankOf puts agents that work before those that are broken, and these before those that are missing.
func rankOf(c wire.Class) int {
	return slices.Index([]wire.Class{wire.ClassOK, wire.ClassWarning, wire.ClassInfo}, c)
}

// MissingBackend returns how to install a backend that isn't, "" for one that is or
// that nobody has looked for yet.
func (a *agents) MissingBackend(name string) string {
	if p, ok := a.known(name); ok && p.Err != nil && !errors.Is(p.Err, backends.ErrNoAnswer) {
		return p.Backend.HowToInstall()
	}
	return ""
}
