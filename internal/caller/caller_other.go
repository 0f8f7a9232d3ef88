//go:build !linux

package caller

// look knows nothing: there is no reaper, and who asks says so by its environment.
func look(int) Who { return Who{} }

// Peer is who asks on a socket, which is who it says.
func Peer(_ int, loop string) Who { return Who{loop: loop} }
