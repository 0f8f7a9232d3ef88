package wire

import (
	"strings"
	"testing"
)

func TestAPathOfAURIHasNoNUL(t *testing.T) {
	if path, err := PathOf("file:///tmp/a%00b"); err == nil || !strings.Contains(err.Error(), "a NUL byte (%00), which no path can have") {
		t.Errorf("it is %q, %v", path, err)
	}
}
