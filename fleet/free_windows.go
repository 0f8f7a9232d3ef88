package fleet

import (
	"math"

	"golang.org/x/sys/windows"
)

// freeOn is how many bytes may be written to the disk with a folder; where nobody can
// tell, any number.
func freeOn(dir string) uint64 {
	var free uint64
	name, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	}
	if err != nil {
		return math.MaxUint64
	}
	return free
}
