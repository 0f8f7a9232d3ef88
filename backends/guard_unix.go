//go:build unix

package backends

import "syscall"

func guardAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
