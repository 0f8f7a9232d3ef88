package loopstate

import (
	"slices"

	"golang.org/x/sys/unix"
)

// tellers are file systems on which all that changes a file goes through this machine's kernel, which tells it.
var tellers = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC,
	0x2FC12FC1, // ZFS
}

// tellsAll says whether each change of a folder's files is told.
func tellsAll(folder string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(folder, &fs) == nil && slices.Contains(tellers, int64(fs.Type))
}
