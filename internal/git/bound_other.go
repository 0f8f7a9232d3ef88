//go:build !linux

package git

// bound does nothing: no other system lets a process bound another one.
func bound(int) {}
