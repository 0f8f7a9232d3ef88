//go:build !windows

package awake

import "runtime"

func hold() (release func()) {
	if runtime.GOOS == "darwin" {
		return holdBy("caffeinate", "-i", "cat")
	}
	return holdBy("systemd-inhibit", "--what=idle:sleep", "--who=ralph-lsp", "--why=a loop is at work", "--mode=block", "cat")
}
