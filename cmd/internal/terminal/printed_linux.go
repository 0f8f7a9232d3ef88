package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// descriptor is an open file of a process.
type descriptor struct {
	path          string // in /proc
	link          string // what it leads to: "pipe:[4711]", "/home/me/loop.log"
	reads, writes bool
}

// maxReaders bounds how many programs one behind the other are followed: tee, ts, grep.
const maxReaders = 8

// behind finds the files that are written by whoever reads pipes of ours, and by who
// reads theirs. Processes of other users aren't seen.
func behind(pipes []*os.File) (files []os.FileInfo) {
	wanted := map[string]bool{}
	for _, pipe := range pipes {
		if link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", pipe.Fd())); err == nil {
			wanted[link] = true
		}
	}
	all := processes()
	for range maxReaders {
		before := len(wanted)
		for process, open := range all {
			if !readsAny(open, wanted) {
				continue
			}
			delete(all, process)
			for _, d := range open {
				switch info, err := os.Stat(d.path); {
				case !d.writes || err != nil:
				case info.Mode().IsRegular():
					files = append(files, info)
				case info.Mode()&os.ModeNamedPipe != 0:
					wanted[d.link] = true
				}
			}
		}
		if len(wanted) == before {
			break
		}
	}
	return files
}

func readsAny(open []descriptor, wanted map[string]bool) bool {
	for _, d := range open {
		if d.reads && wanted[d.link] {
			return true
		}
	}
	return false
}

// processes are those besides this one, with what they have open.
func processes() map[string][]descriptor {
	all := map[string][]descriptor{}
	dirs, _ := filepath.Glob("/proc/[0-9]*/fd")
	self := fmt.Sprintf("/proc/%d/fd", os.Getpid())
	for _, dir := range dirs {
		if dir == self {
			continue
		}
		entries, _ := os.ReadDir(dir)
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			link, err := os.Readlink(path)
			info, infoErr := os.Lstat(path)
			if err != nil || infoErr != nil || strings.HasPrefix(link, "socket:") {
				continue
			}
			mode := info.Mode().Perm() // the link's, which says how it is open
			all[dir] = append(all[dir], descriptor{path, link, mode&0o400 != 0, mode&0o200 != 0})
		}
	}
	return all
}
