package paths

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Loops is the folder with a folder for each of this user's loops.
func Loops() (string, error) { return State("loops") }

// FolderPrefix returns how the names of the folders of a folder's loops begin. It is a hash, so nobody chooses it by
// the name of a folder.
func FolderPrefix(folder string) string { return hash(folder) + "-" }

// LoopName is the name of the folder that is kept for a loop. The folder in which it works is without links.
func LoopName(folder, id string) string { return FolderPrefix(folder) + hash(id) }

// LoopPattern matches LoopName of a loop, whichever folder it works in.
func LoopPattern(id string) string { return "*-" + hash(id) }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// ReadOwn reads a file of at most so many bytes that this user wrote.
func ReadOwn(path string, most int64) ([]byte, error) {
	file, err := OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return regular.All(file, most)
}

// TempSuffix is how a file ends that is still to get its name.
const TempSuffix = ".tmp"

// WriteOwn exchanges a file for this user alone: a whole one is there at any moment. lasting
// brings it to the disk before. Its folder is made where there is none.
func WriteOwn(path string, data []byte, lasting bool) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*"+TempSuffix)
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err == nil && lasting {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = Rename(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// IsDue says whether it is time for what is done once in a while, and notes that it is done now: the time of
// the file with a name in the state folder says when it was done last. A time in the future counts as far away.
func IsDue(name string, every time.Duration) bool {
	mark, err := State(name)
	if info, statErr := os.Stat(mark); err == nil && statErr == nil && time.Since(info.ModTime()).Abs() < every {
		return false
	}
	if now := time.Now(); err == nil && WriteOwn(mark, nil, false) == nil {
		_ = os.Chtimes(mark, now, now)
	}
	return true
}
