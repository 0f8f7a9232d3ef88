package server

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// parentOf returns the process id of a process's parent, 0 when it has none
// that can be told.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// Behind the command in parentheses, which may contain anything, come the
	// state and the parent.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
