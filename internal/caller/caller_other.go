//go:build !linux

package caller

// look knows nothing: there is no reaper, and who asks says so by its environment.
func look(int) Who { return Who{} }
