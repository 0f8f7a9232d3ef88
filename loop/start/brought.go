package start

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// checkBrought refuses a start whose agents would run what the folder brings along, before
// their user trusts it.
func checkBrought(cfg setup.Config, files config.Files) error {
	var all []config.Planted
	look := func(b backends.Backend, args []string) {
		for _, p := range brought(files.Folder, b, args) {
			if !slices.ContainsFunc(all, func(q config.Planted) bool { return q.File == p.File }) {
				all = append(all, p)
			}
		}
	}
	look(cfg.Backend, cfg.Args)
	for _, role := range cfg.Others() {
		look(role.Backend, role.Args)
	}
	return files.CheckAgents(all)
}

// BroughtTo lists what a user has to trust in a folder besides its settings: files that known agents obey, the folder's own
// agents, and the checks of the plan that the settings name.
func BroughtTo(s config.Settings) (all []config.Planted) {
	folder := s.Files.Folder
	for _, name := range backends.Names() {
		b, _ := backends.Lookup(name) // it is one of them
		b.Hooks.Off = nil             // whoever wants its hooks trusts the same file
		for _, p := range brought(folder, b, nil) {
			if !slices.ContainsFunc(all, func(q config.Planted) bool { return q.File == p.File }) { // two agents may have the same
				all = append(all, p)
			}
		}
	}
	for _, a := range agents.Read(folder).Agents {
		if a.IsFolder {
			all = append(all, Planted(folder, a))
		}
	}
	if p, err := setup.ReadPlan(folder, s.Loop.Plan); s.Loop.Plan != "" && err == nil {
		all = append(all, checksOf(folder, p.Name, p.Commands())...)
	}
	return all
}

// brought are the files of a folder that make an agent run something.
func brought(folder string, b backends.Backend, args []string) (all []config.Planted) {
	home, _ := os.UserHomeDir() // without one, none is left out
	for _, file := range b.Brings {
		for _, path := range file.PlacesOf(folder, home) {
			data, isThere := readBrought(path)
			if !isThere {
				continue
			}
			if want := b.Wants(file, data, args); want != "" {
				name, _ := filepath.Rel(folder, path) // both are absolute
				all = append(all, config.Planted{File: path, Data: data, Want: filepath.ToSlash(name) + ": " + want})
			}
		}
	}
	return all
}

// maxBrought is how much of such a file is read, in bytes; a longer one can't be understood.
const maxBrought = 1 << 20

func readBrought(path string) (data []byte, isThere bool) {
	if _, err := os.Stat(path); err != nil {
		return nil, false
	}
	data, err := regular.Read(path, maxBrought)
	if err != nil {
		return nil, true
	}
	return data, true
}
