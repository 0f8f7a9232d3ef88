package start

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Who looks for an agent runs no program of the folder outside the walls of the loop.
func TestAnAgentOfTheFolderIsFoundBehindItsWalls(t *testing.T) {
	walltest.Need(t)
	bubblewrap, err := exec.LookPath("bwrap")
	must.OK(t, err)
	tools := filepath.Dir(bubblewrap)
	for name, find := range map[string]func(Resolver) error{
		"a start":   func(r Resolver) error { r.Start.Sandbox = "workspace"; _, _, err := r.Resolve(t.Context()); return err },
		"a session": func(r Resolver) error { _, _, err := r.Interactive(t.Context(), "x"); return err },
		"one that goes on": func(r Resolver) error {
			r.Settings.Sandbox.Mode = ""
			_, err := goOn(t, r, Found{State: loopstate.State{Values: settings.Values{Sandbox: sandbox.Workspace}}}, r.Settings.Files)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			folder := filepath.Join(home, "tree")
			bin := filepath.Join(folder, "bin")
			must.OK(t, os.MkdirAll(bin, 0o755))
			must.OK(t, os.WriteFile(filepath.Join(bin, "pi"), []byte("#!/bin/sh\necho in >\""+folder+"/ran\"\necho out 2>/dev/null >~/out\necho 1.2.3\n"), 0o755))
			t.Setenv("PATH", bin+":"+tools+":/usr/bin:/bin")
			settings := config.Default()
			settings.Files = config.Files{Folder: folder}
			settings.Sandbox.Mode = sandbox.Workspace
			must.OK(t, find(Resolver{Prompt: "x", Settings: settings, Detect: Installed}))
			if _, err := os.Stat(filepath.Join(folder, "ran")); err != nil {
				t.Errorf("it wasn't asked: %v", err)
			}
			if _, err := os.Stat(filepath.Join(home, "out")); err == nil {
				t.Error("it wrote outside")
			}
		})
	}
}
