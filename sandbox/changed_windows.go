package sandbox

import (
	"os"
	"time"
)

// changedSince says whether a path was changed since then.
func changedSince(path string, then time.Time) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.ModTime().Before(then)
}
