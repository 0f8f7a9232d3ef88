package backends

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// A program is asked for its version behind the walls of the loop that wants it, or not at all:
// one that agents can't write may run what they can.
func TestAProgramIsAskedBehindTheWallsOfTheLoop(t *testing.T) {
	walltest.Need(t)
	walled := sandbox.Spec{Mode: sandbox.Workspace}
	for _, tt := range []struct {
		name      string
		walls     sandbox.Spec
		place     string // of the program, below the home folder
		link      string // by which PATH finds it
		want      string
		isOutside bool // it may write where walls would keep it from
		isBroken  bool
	}{
		{name: "in the folder", walls: walled, place: "work/bin/pi", want: "pi 1.2.3"},
		{name: "behind a link", walls: walled, place: "work/tool", link: "bin/pi", want: "pi 1.2.3"},
		{name: "among what the agent keeps", walls: walled, place: ".pi/bin/pi", want: "pi 1.2.3"},
		{name: "in a folder that is opened", walls: sandbox.Spec{Mode: sandbox.Workspace, Write: []string{"~/open"}}, place: "open/pi", want: "pi 1.2.3"},
		{name: "elsewhere", walls: walled, place: "bin/pi", want: "pi 1.2.3"},
		{name: "elsewhere, without walls", place: "bin/pi", want: "pi 1.2.3", isOutside: true},
		{name: "elsewhere, where walls can't be had", walls: sandbox.Spec{Mode: sandbox.Workspace, Engine: "chroot"}, place: "bin/pi"},
		{name: "without walls", place: "work/bin/pi", want: "pi 1.2.3", isOutside: true},
		{name: "where walls can't be had", walls: sandbox.Spec{Mode: sandbox.Workspace, Engine: "chroot"}, place: "work/bin/pi", isBroken: true},
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
				must.OK(t, os.MkdirAll(dir, 0o755))
			}
			must.OK(t, os.WriteFile(program, []byte("#!/bin/sh\necho out 2>/dev/null >~/out\necho pi 1.2.3\n"), 0o755))
			if tt.link != "" {
				must.OK(t, os.Symlink(program, found))
			}
			t.Setenv("PATH", filepath.Dir(found)+":"+os.Getenv("PATH"))
			probe := pi.Probe(ForLoop(context.Background(), tt.walls, folder))
			if probe.Version != tt.want || (probe.Err != nil) != tt.isBroken {
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

// What manages versions of programs runs the one that the folder names, and agents may write that.
func TestAShimIsAskedBehindTheWallsOfTheLoop(t *testing.T) {
	walltest.Need(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	folder, other := filepath.Join(home, "work"), filepath.Join(home, "other")
	for path, text := range map[string]string{
		"shims/pi":       "#!/bin/sh\nexec $(cat .tool)\n",
		"work/.tool":     "./evil\n",
		"work/evil":      "#!/bin/sh\necho out 2>/dev/null >~/out\necho pi 1.2.3 in ${PWD##*/}\n",
		"other/anything": "",
	} {
		path = filepath.Join(home, path)
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)))
	}
	t.Setenv("PATH", filepath.Join(home, "shims")+":"+os.Getenv("PATH"))
	t.Chdir(other) // not by where we are
	ctx := ForLoop(ForLoop(context.Background(), sandbox.Spec{}, other), sandbox.Spec{Mode: sandbox.Workspace}, folder)
	if probe := pi.Probe(ctx); probe.Version != "pi 1.2.3 in work" || probe.Err != nil {
		t.Errorf("got %+v", probe)
	}
	if _, err := os.Stat(filepath.Join(home, "out")); err == nil {
		t.Error("it wrote outside")
	}
}

// What wasn't asked is asked when there are walls.
func TestWhatWasNotAskedIsNotRemembered(t *testing.T) {
	walltest.Need(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	folder, bin := filepath.Join(home, "work"), filepath.Join(home, "bin")
	must.OK(t, errors.Join(os.Mkdir(folder, 0o755), os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "pi"), []byte("#!/bin/sh\necho 1.2.3\n"), 0o755)))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, c := range []struct{ engine, want string }{{"chroot", ""}, {sandbox.Bubblewrap, "1.2.3"}, {"chroot", "1.2.3"}} {
		version, err := pi.Version(ForLoop(context.Background(), sandbox.Spec{Mode: sandbox.Workspace, Engine: c.engine}, folder))
		if version != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.engine, version, err)
		}
	}
}
