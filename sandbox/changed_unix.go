//go:build unix

package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// changedSince says whether a path was changed since then, by the time that nobody can set.
func changedSince(path string, then time.Time) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && !time.Unix(st.Ctim.Unix()).Before(then)
}
