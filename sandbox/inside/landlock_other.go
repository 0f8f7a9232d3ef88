//go:build !linux

package inside

// CanScopeSockets says whether the kernel can close abstract unix sockets. There are none here.
func CanScopeSockets() bool { return true }
