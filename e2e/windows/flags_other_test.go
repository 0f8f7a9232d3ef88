//go:build smoke && !windows

package windows

import "syscall"

func flagsOf(string) []*syscall.SysProcAttr { return nil }
