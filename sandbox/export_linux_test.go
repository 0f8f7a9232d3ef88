package sandbox

import "testing"

// TestTempBytes is how much runs may keep in memory while BoundTemp holds.
const TestTempBytes = 8 << 20

// BoundTemp bounds that for a test.
func BoundTemp(t *testing.T) {
	before := tempBytes
	t.Cleanup(func() { tempBytes = before })
	tempBytes = func() uint64 { return TestTempBytes }
}

// What a table tests without a kernel that has it.
var (
	MakeGroup = makeGroup
	Sockets   = sockets
)

// WithoutScopes makes the kernel one that can't close abstract sockets, as far as words go.
func WithoutScopes(t *testing.T) {
	before := canScope
	t.Cleanup(func() { canScope = before })
	canScope = func() bool { return false }
}
