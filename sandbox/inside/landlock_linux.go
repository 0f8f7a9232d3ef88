package inside

import (
	"runtime"
	"syscall"
	"unsafe"
)

// Landlock's calls have these numbers on every machine. golang.org/x/sys would be initialised before
// each program behind walls.
const (
	createRuleset = 444
	restrictSelf  = 446

	askVersion       = 1 // LANDLOCK_CREATE_RULESET_VERSION
	scopesVersion    = 6 // the first with scopes, of Linux 6.12
	scopeAbstract    = 1 // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	rulesetSize      = 3 * 8
	noFlags, nothing = 0, 0
)

// CanScopeSockets says whether the kernel can close abstract unix sockets, which are in no folder and which only a
// network namespace closes otherwise.
func CanScopeSockets() bool {
	version, _, errno := syscall.RawSyscall(createRuleset, nothing, nothing, askVersion)
	return errno == 0 && version >= scopesVersion
}

// scopeSockets closes all abstract unix sockets but those that are made behind the same walls, from now on and for this
// thread and the program that it becomes. A ruleset that handles no access restricts nothing else. Where the kernel
// can't, they stay open, which doctor and each start say.
func scopeSockets() error {
	if !CanScopeSockets() {
		return nil
	}
	rules := [3]uint64{0, 0, scopeAbstract} // files, network, scopes
	fd, _, errno := syscall.RawSyscall(createRuleset, uintptr(unsafe.Pointer(&rules)), rulesetSize, noFlags)
	runtime.KeepAlive(&rules)
	if errno != 0 {
		return errno
	}
	_, _, errno = syscall.RawSyscall(restrictSelf, fd, noFlags, 0)
	syscall.Close(int(fd))
	if errno != 0 {
		return errno
	}
	return nil
}
