package service

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Agents lists the agents that a start in a folder can name, "" for none. Of the files' own only the
// programs are looked for.
func (s *Service) Agents(ctx context.Context, folder string) answers.AgentsResult {
	settings, _ := s.Files(folder).Load() // an untrusted file names no agents, one with mistakes is told elsewhere
	probes := backends.Look(backends.ForLoop(ctx, settings.Sandbox, folder))
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
	return result
}

// rankOf puts agents that work before those that are broken, and these before those that are missing.
func rankOf(c wire.Class) int {
	return slices.Index([]wire.Class{wire.ClassOK, wire.ClassWarning, wire.ClassInfo}, c)
}

// Hats lists the hats of a folder that a start can name; a file that isn't trusted has none.
func (s *Service) Hats(folder string) answers.HatsResult {
	settings, _ := s.Files(folder).Load()
	return answers.HatsOf(settings)
}

// Trust lets all count that the files of a folder run and loosen, as they are now. It returns what that
// is, file by file, as far as it is remembered; none, where all counts already.
//
// Errors: *config.InvalidError, and what the system says.
func (s *Service) Trust(folder string) (trusted []*config.UntrustedError, err error) {
	files := s.Files(folder)
	for range 2 { // the file, then with it what else there is
		settings, err := files.Load()
		untrusted := settings.Trust
		if err == nil && untrusted == nil {
			err = files.CheckAgents(start.BroughtTo(settings))
		}
		if err != nil && !errors.As(err, &untrusted) {
			return trusted, err
		}
		if untrusted == nil {
			break
		}
		if err := untrusted.Remember(); err != nil {
			return trusted, err
		}
		trusted = append(trusted, untrusted)
	}
	return trusted, nil
}

// WithTrust does what untrusted files may keep from being done: it is done again for each that the user trusts. With trust
// it is the user's word for what they have seen; permit asks for anything else, and returns why that isn't done.
func WithTrust(trust bool, permit func(*config.UntrustedError) error, do func() error) error {
	for trusted := ""; ; {
		err := do()
		var untrusted *config.UntrustedError
		if !errors.As(err, &untrusted) || untrusted.File == trusted {
			return err
		}
		if !trust || untrusted.Agents && trusted != "" { // nobody has seen those yet
			if err := permit(untrusted); err != nil {
				return err
			}
		}
		if err := untrusted.Remember(); err != nil {
			return err
		}
		trusted = untrusted.File
	}
}
