package sandbox

import (
	"strconv"
	"testing"
)

// TestTempBytes is how much runs may keep in memory while BoundTemp holds.
const TestTempBytes = 8 << 20

// BoundTemp bounds that for a test.
func BoundTemp(t *testing.T) {
	before := tempSize
	t.Cleanup(func() { tempSize = before })
	tempSize = func() string { return strconv.Itoa(TestTempBytes) }
}
