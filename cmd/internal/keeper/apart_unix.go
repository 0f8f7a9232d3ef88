//go:build unix

package keeper

import "syscall"

// apart are the attributes of a process that no terminal's end reaches.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
