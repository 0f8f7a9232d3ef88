package loopstate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// In /sys not even root may make a folder.
func TestAFolderThatIsNotWritable(t *testing.T) {
	f := open(t, "/sys")
	_, err := f.Lock(Owner{})
	wantError(t, err, "folder /sys is not writable")
	wantError(t, f.Create(State{Prompt: "Go."}), "folder /sys is not writable")
}

// Who only looks whether a loop could be started writes nothing, and is told the same.
func TestWhetherAFolderIsWritable(t *testing.T) {
	for name, c := range map[string]struct {
		modes map[string]os.FileMode // from the folder on
		free  bool
	}{
		"a folder":                   {map[string]os.FileMode{".": 0o755}, true},
		"one that is read-only":      {map[string]os.FileMode{".": 0o555}, false},
		"one that nobody may enter":  {map[string]os.FileMode{".": 0o600}, false},
		"one with .pi":               {map[string]os.FileMode{".pi": 0o755, ".": 0o555}, true},
		"one with a read-only .pi":   {map[string]os.FileMode{".pi": 0o555}, false},
		"one that isn't there (yet)": {nil, true},
	} {
		dir := filepath.Join(t.TempDir(), "app")
		for _, sub := range []string{".pi", "."} {
			if mode, ok := c.modes[sub]; ok {
				must.OK(t, errors.Join(os.MkdirAll(filepath.Join(dir, sub), 0o755), os.Chmod(filepath.Join(dir, sub), mode)))
			}
		}
		proctest.Obedient(t, func() {
			err := CheckWritable(dir)
			if c.free {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
			if why := (*NotWritableError)(nil); !errors.As(err, &why) || why.Folder != dir ||
				!strings.HasPrefix(err.Error(), "folder "+dir+" is not writable: write "+dir) || !strings.HasSuffix(err.Error(), ": permission denied; change its permissions, or use another folder") {
				t.Errorf("%s: %v", name, err)
			}
		})
		if left, _ := filepath.Glob(filepath.Join(dir, ".pi", "*")); len(left) > 0 {
			t.Errorf("%s: %q", name, left)
		}
		os.Chmod(dir, 0o755) // else who isn't root can't remove it
	}
}

func TestWhatHelpsWithAFolderThatIsNotWritable(t *testing.T) {
	for err, want := range map[error]string{
		syscall.EACCES: "; change its permissions, or use another folder",
		syscall.EROFS:  "; use another folder",
	} {
		if got := (&NotWritableError{"x", err}).Error(); got != "folder x is not writable: "+err.Error()+want {
			t.Errorf("%s", got)
		}
	}
}

func TestANamedPipeInThePlaceOfTheFileDoesNotHang(t *testing.T) {
	f := open(t, t.TempDir())
	must.OK(t, os.MkdirAll(filepath.Dir(f.Path()), 0o755))
	must.OK(t, unix.Mkfifo(f.Path(), 0o600))
	_, err := f.Load()
	wantError(t, err, "is not a regular file")
}
