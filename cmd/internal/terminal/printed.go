package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// PrintedTo finds the files that this program prints into: those behind its outputs, and
// where such a one is a pipe, those of whoever reads it, such as tee, where /proc tells of them. A
// loop's own output is no work of its agent's.
func PrintedTo(outputs ...io.Writer) func() []os.FileInfo {
	return func() (files []os.FileInfo) {
		pipes := map[string]bool{} // by what is in /proc for them: "pipe:[4711]"
		for _, out := range outputs {
			f, ok := Unwrapped(out).(*os.File)
			if !ok {
				continue
			}
			switch info, err := f.Stat(); {
			case err != nil:
			case info.Mode().IsRegular():
				files = append(files, info)
			case info.Mode()&os.ModeNamedPipe != 0:
				link, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
				pipes[link] = true
			}
		}
		if len(pipes) > 0 {
			files = append(files, writtenBehind(pipes)...)
		}
		return files
	}
}

// maxReaders bounds how many programs one behind the other are followed: tee, ts, grep.
const maxReaders = 8

// writtenBehind finds the files of whoever reads pipes, and of who reads theirs. A shell starts them in one session
// with this program; to look at what all other processes have open takes long.
func writtenBehind(pipes map[string]bool) (files []os.FileInfo) {
	ours, self := sessionOf("/proc/self"), fmt.Sprintf("/proc/%d", os.Getpid())
	processes, _ := filepath.Glob("/proc/[0-9]*")
	processes = slices.DeleteFunc(processes, func(process string) bool { return process == self || sessionOf(process) != ours })
	for range maxReaders {
		files = nil
		known := len(pipes)
		for _, process := range processes {
			files = append(files, writtenBy(filepath.Join(process, "fd"), pipes)...)
		}
		if len(pipes) == known {
			break
		}
	}
	return files
}

// sessionOf reads the session of a process, behind its name in brackets, its state, parent and group.
func sessionOf(process string) string {
	stat, _ := os.ReadFile(filepath.Join(process, "stat"))
	if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) > 3 {
		return string(fields[3])
	}
	return ""
}

// writtenBy finds the files that a process writes if it reads one of the pipes; those that it writes are added
// to them.
func writtenBy(dir string, pipes map[string]bool) (files []os.FileInfo) {
	var writes []string
	isReader := false
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		link, err := os.Readlink(path)
		info, infoErr := entry.Info() // the link's mode says how it is open
		if err != nil || infoErr != nil {
			continue
		}
		isReader = isReader || info.Mode()&0o400 != 0 && pipes[link]
		if info.Mode()&0o200 != 0 {
			writes = append(writes, path)
		}
	}
	if !isReader {
		return nil
	}
	for _, path := range writes {
		switch info, err := os.Stat(path); {
		case err != nil:
		case info.Mode().IsRegular():
			files = append(files, info)
		case info.Mode()&os.ModeNamedPipe != 0:
			link, _ := os.Readlink(path)
			pipes[link] = true
		}
	}
	return files
}
