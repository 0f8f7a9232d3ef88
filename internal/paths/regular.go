package paths

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// errNotRegular is for folders, devices and pipes, which might never end.
var errNotRegular = errors.New("it isn't a regular file")

// OpenRegular opens a file if it is a regular one, without waiting: opening a
// pipe would wait for somebody to write to it. The error is an *os.PathError.
func OpenRegular(path string, flag int) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // even opening it may do something to a device
		return nil, &os.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	file, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() { // it took the file's place meanwhile
		err = &os.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// ReadRegular reads a regular file, of one that is longer the first bytes.
func ReadRegular(path string, most int64) ([]byte, error) {
	file, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}
