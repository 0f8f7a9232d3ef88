//go:build smoke

package windows

import "syscall"

func flagsOf(role string) []*syscall.SysProcAttr {
	if role != "grandchild" {
		return []*syscall.SysProcAttr{nil}
	}
	const breakaway, detached = 0x01000000, 0x8
	alone := uint32(syscall.CREATE_NEW_PROCESS_GROUP | detached)
	return []*syscall.SysProcAttr{{CreationFlags: alone | breakaway}, {CreationFlags: alone}}
}
