package loopstate

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// In /sys not even root may make a folder.
func TestAFolderThatIsNotWritable(t *testing.T) {
	f := open(t, "/sys")
	_, err := f.Lock(Owner{})
	wantError(t, err, "folder /sys is not writable")
	wantError(t, f.Create(State{Prompt: "Go."}), "folder /sys is not writable")
}

func TestANamedPipeInThePlaceOfTheFileDoesNotHang(t *testing.T) {
	f := open(t, t.TempDir())
	if err := os.MkdirAll(filepath.Dir(f.Path()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(f.Path(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := f.Load()
	wantError(t, err, "is not a regular file")
}
