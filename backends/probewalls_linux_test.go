package backends

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"ralph-lsp/internal/walltest"
	"ralph-lsp/sandbox"
)

// A program that agents may have written is asked for its version behind their walls, or not at all.
func TestAProgramThatAgentsMayWriteIsAskedBehindTheirWalls(t *testing.T) {
	walltest.Need(t)
	walled := sandbox.Spec{Mode: sandbox.Workspace}
	for _, tt := range []struct {
		name      string
		walls     sandbox.Spec
		place     string // of the program, below the home folder
		link      string // by which PATH finds it
		want      string
		isOutside bool // it may write where walls would keep it from
	}{
		{name: "in the folder", walls: walled, place: "work/bin/pi", want: "pi 1.2.3"},
		{name: "behind a link", walls: walled, place: "work/tool", link: "bin/pi", want: "pi 1.2.3"},
		{name: "among what the agent keeps", walls: walled, place: ".pi/bin/pi", want: "pi 1.2.3"},
		{name: "in a folder that is opened", walls: sandbox.Spec{Mode: sandbox.Workspace, Write: []string{"~/open"}}, place: "open/pi", want: "pi 1.2.3"},
		{name: "elsewhere", walls: walled, place: "bin/pi", want: "pi 1.2.3", isOutside: true},
		{name: "without walls", place: "work/bin/pi", want: "pi 1.2.3", isOutside: true},
		{name: "where walls can't be had", walls: sandbox.Spec{Mode: sandbox.Workspace, Engine: "chroot"}, place: "work/bin/pi"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			folder, program := filepath.Join(home, "work"), filepath.Join(home, tt.place)
			found := program
			if tt.link != "" {
				found = filepath.Join(home, tt.link)
			}
			for _, dir := range []string{folder, filepath.Dir(program), filepath.Dir(found)} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(program, []byte("#!/bin/sh\necho out 2>/dev/null >~/out\necho pi 1.2.3\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if tt.link != "" {
				if err := os.Symlink(program, found); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", filepath.Dir(found)+":"+os.Getenv("PATH"))
			probe := pi.Probe(ForLoop(context.Background(), tt.walls, folder))
			if probe.Version != tt.want || (probe.Err == nil) != (tt.want != "") {
				t.Errorf("got %+v", probe)
			}
			if _, err := os.Stat(filepath.Join(home, "out")); (err == nil) != tt.isOutside {
				t.Errorf("it wrote outside: %v", err == nil)
			}
			if _, err := os.Stat(filepath.Join(folder, ".vscode")); err == nil {
				t.Error("what was made to mount on is left")
			}
		})
	}
}
