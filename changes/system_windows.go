package changes

import (
	"os"
)

// traceOf returns what a file is rarely changed without changing.
func traceOf(path string) (trace, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return trace{}, err
	}
	nanos := info.ModTime().UnixNano()
	return trace{mode: uint32(info.Mode()), isDir: info.IsDir(), size: info.Size(), modified: nanos, changed: nanos}, nil
}
