package sandbox

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-lsp/ralph-lsp/sandbox/inside"
)

// tempShare is which part of the machine's memory what a run keeps in memory as files may take.
const tempShare = 4

// tempBytes bounds the files that a run has in memory. Tests have less.
var tempBytes = func() uint64 { return max(totalMemory()/tempShare, 512<<20) }

// totalMemory is the machine's, in bytes.
func totalMemory() uint64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 4 << 30
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

func mayWriteFile(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// pin keeps the file of a path from being forgotten, readable or not, and a link as a link.
func pin(path string) (*os.File, error) {
	return os.OpenFile(path, unix.O_PATH|unix.O_NOFOLLOW, 0)
}

// numbers holds what is at a path, and says what it is to the kernel.
func numbers(path string) (*os.File, inside.FileID, error) {
	file, err := pin(path)
	if err != nil {
		return nil, inside.FileID{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, inside.FileID{}, err
	}
	stat := info.Sys().(*syscall.Stat_t)
	return file, inside.FileID{Path: path, Dev: uint64(stat.Dev), Ino: stat.Ino}, nil
}

// links is how many names a file has.
func links(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Nlink) }

// privileges takes away root's privileges. The one to write other users' files stays where the folder is another
// user's, as in a container.
func privileges(folder string) []string {
	if os.Geteuid() != 0 {
		return nil
	}
	args := []string{"--cap-drop", "ALL"}
	if info, err := os.Stat(folder); err == nil && info.Sys().(*syscall.Stat_t).Uid != 0 {
		args = append(args, "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_CHOWN")
	}
	return args
}

// processes shows those inside. For root the kernel's own settings, which are in there, are
// writable without any privilege; so is the rest that belongs to it. Others need to write there
// to make namespaces of their own, and may write no setting.
func processes() []string {
	args := []string{"--proc", "/proc"}
	if os.Geteuid() == 0 {
		args = append(args, "--remount-ro", "/proc")
	}
	return args
}

// isReadOnly says whether nobody can write at a path, walls or not.
func isReadOnly(path string) bool {
	const readOnly = 1 // ST_RDONLY
	var fs syscall.Statfs_t
	return syscall.Statfs(existing(path), &fs) == nil && fs.Flags&readOnly != 0
}
