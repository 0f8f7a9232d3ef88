package git

import "golang.org/x/sys/unix"

// maxMemory bounds what a git may have of its own, in bytes. The packs that it maps don't count.
const maxMemory = 4 << 30

// bound keeps a git that reads a file without end from filling the memory.
func bound(pid int) {
	var is unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &is) == nil && is.Cur > maxMemory {
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: maxMemory, Max: is.Max}, nil) // it has ended already
	}
}
