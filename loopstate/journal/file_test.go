package journal

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// Who reads the story of a loop that isn't kept is told what to do, and not what the system says.
func TestAStoryThatIsNotKept(t *testing.T) {
	_, err := Open("never-heard-of")
	if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "lstat") || !strings.HasSuffix(err.Error(), "; ralph-lsp status says how it stands") {
		t.Errorf("it is told %v", err)
	}
}
