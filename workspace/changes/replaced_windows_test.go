package changes

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The system refuses to exchange a file that somebody reads; a kept one waits for its reader.
func TestAFileThatIsReadIsReplaced(t *testing.T) {
	dir, err := os.MkdirTemp("", "kept")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := storeOf(&archive{home: dir})
	if err := s.SaveNote("a", []byte("one")); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(filepath.Join(dir, "note-a"))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { reader.Close() })
	if err := s.SaveNote("a", []byte("two")); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "note-a")); err != nil || string(got) != "two" {
		t.Errorf("it is %q, %v", got, err)
	}
}
