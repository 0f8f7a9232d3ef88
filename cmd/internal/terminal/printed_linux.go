package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// descriptor is an open file of a process.
type descriptor struct {
	path          string // in /proc
	link          string // what it leads to: "pipe:[4711]", "/home/me/loop.log"
	reads, writes bool
}

// maxReaders bounds how many programs one behind the other are followed: tee, ts, grep.
const maxReaders = 8

// To look at all processes takes milliseconds. Readers that are known are looked at alone for a while, as
// another one may begin behind them; none may be found at all, as those of other users aren't seen.
const (
	readersStay = 5 * time.Second
	readersCome = 200 * time.Millisecond
)

// readers are who reads pipes of ours, and who reads theirs.
type readers struct {
	known []string  // their folders of descriptors in /proc
	at    time.Time // all processes were looked at
}

// behind finds the files that are written by whoever reads pipes of ours. Processes of other users
// aren't seen.
func (r *readers) behind(pipes []*os.File) []os.FileInfo {
	files, still := follow(pipes, r.known)
	age := time.Since(r.at)
	if age < readersCome || age < readersStay && len(still) > 0 && len(still) == len(r.known) {
		return files
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*/fd")
	files, r.known = follow(pipes, dirs)
	r.at = time.Now()
	return files
}

// follow returns who among processes reads pipes or what their readers write, and the files that these
// write.
func follow(pipes []*os.File, dirs []string) (files []os.FileInfo, found []string) {
	wanted := map[string]bool{}
	for _, pipe := range pipes {
		if link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", pipe.Fd())); err == nil {
			wanted[link] = true
		}
	}
	all := processes(dirs)
	for range maxReaders {
		before := len(wanted)
		for dir, open := range all {
			if !readsAny(open, wanted) {
				continue
			}
			delete(all, dir)
			found = append(found, dir)
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
	return files, found
}

func readsAny(open []descriptor, wanted map[string]bool) bool {
	for _, d := range open {
		if d.reads && wanted[d.link] {
			return true
		}
	}
	return false
}

// processes have what those of the folders have open, but this one.
func processes(dirs []string) map[string][]descriptor {
	all := map[string][]descriptor{}
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
