package loopstate

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// remoteSystems are file systems whose other users the kernel here doesn't
// know: a lease says nothing of them, or is refused as if somebody wrote.
var remoteSystems = []uint32{
	unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
	unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC,
}

// takeLease takes a lease on a file that is open for reading only: while it is
// held nobody has the file open for writing, and who asks for that waits. So it
// must be given up soon; the kernel takes it back after 45 s. The error is
// errBeingWritten when somebody has it open for writing, and
// errors.ErrUnsupported where there are no leases or the file is someone else's.
func takeLease(file *os.File) error {
	var system unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &system); err != nil || slices.Contains(remoteSystems, uint32(system.Type)) {
		return errors.ErrUnsupported
	}
	_, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EAGAIN):
		return errBeingWritten
	}
	return errors.ErrUnsupported
}

// isAwaited says whether somebody waits for a lease to be given up.
func isAwaited(file *os.File) bool {
	kind, err := unix.FcntlInt(file.Fd(), unix.F_GETLEASE, 0)
	return err != nil || kind != unix.F_RDLCK
}

// endLease gives a lease up.
func endLease(file *os.File) { unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_UNLCK) }
