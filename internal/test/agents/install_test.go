package agents

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// The test binary plays npm and the commands that npm installs: it is found
// under their names, and sees by its name what it is.
func TestMain(m *testing.M) {
	// syscall.Exit, because os.Exit takes a second under the race detector.
	switch name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); name {
	case "npm":
		syscall.Exit(playNPM(os.Args[1:]))
	case "node", "pi", "claude":
		syscall.Exit(playCommand(os.Args[0]))
	}
	os.Exit(m.Run())
}

// playNPM installs what "npm install --prefix DIR ... PACKAGE@VERSION" asks
// for, and notes it in the file FAKE_NPM_LOG. FAKE_NPM makes it misbehave.
func playNPM(args []string) int {
	prefix, spec := args[2], args[len(args)-1]
	at := strings.LastIndex(spec, "@")
	pkg, version := spec[:at], spec[at+1:]
	log, err := os.OpenFile(os.Getenv("FAKE_NPM_LOG"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return 3
	}
	defer log.Close()
	io.WriteString(log, spec+"\n")
	said := version
	switch os.Getenv("FAKE_NPM") {
	case "broken":
		os.Stdout.WriteString("npm error code E503\n")
		return 1
	case "installs an older version":
		version = "0.1.0"
	case "installs another program":
		said = "0.1.0"
	}
	if err := layOut(prefix, pkg, version, said); err != nil {
		os.Stdout.WriteString(err.Error())
		return 2
	}
	return 0
}

func layOut(prefix, pkg, version, said string) error {
	dir := filepath.Join(prefix, "node_modules", filepath.FromSlash(pkg))
	bin := binDir(prefix)
	for _, d := range []string{dir, bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(map[string]string{"version": version})
	if err != nil {
		return err
	}
	errs := []error{
		os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o600),
		os.WriteFile(filepath.Join(bin, "says"), []byte(said), 0o600),
	}
	for _, name := range []string{"node", "pi", "claude"} {
		errs = append(errs, os.Symlink(self, filepath.Join(bin, exe(name))))
	}
	return errors.Join(errs...)
}

// playCommand prints the version that layOut left beside the command.
func playCommand(path string) int {
	says, err := os.ReadFile(filepath.Join(filepath.Dir(path), "says"))
	if err != nil {
		return 1
	}
	os.Stdout.Write(says)
	return 0
}

func exe(name string) string {
	if os.PathSeparator == '\\' {
		return name + ".exe"
	}
	return name
}

// useFakeNPM puts a fake npm on PATH and returns a function that lists what it
// was asked to install.
func useFakeNPM(t *testing.T, behaviour string) (asked func() []string) {
	t.Helper()
	self, err := os.Executable()
	must.OK(t, err)
	dir := t.TempDir()
	must.OK(t, os.Symlink(self, filepath.Join(dir, exe("npm"))))
	log := filepath.Join(dir, "log")
	t.Setenv("PATH", dir)
	t.Setenv("FAKE_NPM", behaviour)
	t.Setenv("FAKE_NPM_LOG", log)
	return func() []string {
		data, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Fields(string(data))
	}
}

func installInto(t *testing.T, dir string) (*Set, error) {
	t.Helper()
	return install(t.Context(), dir, []Pin{Pi}, io.Discard)
}

func TestInstallOnce(t *testing.T) {
	asked := useFakeNPM(t, "")
	dir := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, temporary+"killed"), 0o700))
	set, err := installInto(t, dir)
	must.OK(t, err)
	for _, bin := range []string{filepath.Join(set.NodeBinDir(), exe("node")), filepath.Join(set.BinDir(Pi), exe("pi"))} {
		if _, err := os.Stat(bin); err != nil {
			t.Error(err)
		}
	}
	if got := asked(); len(got) != 2 || !strings.HasPrefix(got[0], "node-") || got[1] != Pi.Package+"@"+Pi.Version {
		t.Errorf("npm installed %q, want node before pi", got)
	}
	must.OK(t, must.Err(installInto(t, dir)))
	if got := asked(); len(got) != 2 {
		t.Errorf("the second time npm installed %q", got[2:])
	}
	if left, _ := filepath.Glob(filepath.Join(dir, temporary+"*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestInstallReplacesAnotherVersion(t *testing.T) {
	asked := useFakeNPM(t, "")
	dir := t.TempDir()
	must.OK(t, layOut(filepath.Join(dir, Pi.folder()), Pi.Package, "0.1.0", "0.1.0"))
	must.OK(t, must.Err(installInto(t, dir)))
	if got := asked(); len(got) != 2 {
		t.Errorf("npm installed %q", got)
	}
}

func TestInstallFailures(t *testing.T) {
	tests := []struct {
		behaviour string
		want      string // in the error; empty: none
		asked     int
	}{
		{"broken", "E503", 1},
		{"installs an older version", "0.1.0 was installed", 1},
		{"installs another program", `says "0.1.0"`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.behaviour, func(t *testing.T) {
			asked := useFakeNPM(t, tt.behaviour)
			dir := t.TempDir()
			_, err := installInto(t, dir)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if got := len(asked()); got != tt.asked {
				t.Errorf("npm ran %d times, want %d", got, tt.asked)
			}
			installed, _ := filepath.Glob(filepath.Join(dir, "[^.]*"))
			if tt.want != "" && len(installed) > 0 {
				t.Errorf("left behind: %q", installed)
			}
		})
	}
}

func TestInstallNeedsNPM(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := installInto(t, t.TempDir()); err == nil || !strings.Contains(err.Error(), "npm is needed") {
		t.Errorf("error %v", err)
	}
}

func TestInstallWaitsForAnother(t *testing.T) {
	asked := useFakeNPM(t, "")
	dir := t.TempDir()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := installInto(t, dir); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if got := asked(); len(got) != 2 {
		t.Errorf("npm installed %q", got)
	}
}

func TestInstallIsCancelled(t *testing.T) {
	asked := useFakeNPM(t, "broken")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := install(ctx, t.TempDir(), []Pin{Pi}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := len(asked()); got > 1 {
		t.Errorf("npm ran %d times", got)
	}
}
