//go:build unix

package fleet

import (
	"math"

	"golang.org/x/sys/unix"
)

// freeOn is how many bytes may be written to the disk with a folder; where nobody can
// tell, any number.
func freeOn(dir string) uint64 {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return math.MaxUint64
	}
	return uint64(s.Bavail) * uint64(s.Bsize)
}
