//go:build unix

package backends

import "syscall"

func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
