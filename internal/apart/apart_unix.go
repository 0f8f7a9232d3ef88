//go:build unix

// Package apart has what a process needs that goes on although the window ends that has started it.
package apart

import "syscall"

// Attributes are those of a process that no terminal's end reaches: it has a session of its own.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
