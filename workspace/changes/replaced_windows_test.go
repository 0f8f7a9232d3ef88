package changes

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// The system refuses to exchange a file that somebody reads; a kept one waits for its reader.
func TestAFileThatIsReadIsReplaced(t *testing.T) {
	dir, err := os.MkdirTemp("", "kept")
	must.OK(t, err)
	defer os.RemoveAll(dir)
	s := storeOf(&archive{home: dir})
	must.OK(t, s.SaveNote("a", []byte("one")))
	reader, err := os.Open(filepath.Join(dir, "note-a"))
	must.OK(t, err)
	time.AfterFunc(50*time.Millisecond, func() { reader.Close() })
	if err := s.SaveNote("a", []byte("two")); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "note-a")); err != nil || string(got) != "two" {
		t.Errorf("it is %q, %v", got, err)
	}
}
