//go:build !windows

package regular

import "syscall"

// NoFollow is a flag of Open: a link isn't followed.
const NoFollow = syscall.O_NOFOLLOW
