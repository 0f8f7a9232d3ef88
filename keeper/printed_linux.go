package keeper

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// PrintedBy finds the files that a process prints into: the files behind its outputs, and where an output is a pipe,
// the files of the pipe's reader, such as tee. A loop's own output is no work of its agent's.
func PrintedBy(pid int) changes.Printed {
	var files []os.FileInfo
	var pipes []string
	for n := 1; n <= 2; n++ {
		path := fmt.Sprintf("/proc/%d/fd/%d", pid, n)
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if link, err := os.Readlink(path); info.Mode().IsRegular() {
			files = append(files, info)
		} else if info.Mode()&os.ModeNamedPipe != 0 && err == nil {
			pipes = append(pipes, link)
		}
	}
	readers := readers{window: pid}
	return func() []os.FileInfo {
		if len(pipes) == 0 {
			return files
		}
		return slices.Concat(files, readers.behind(pipes))
	}
}

// descriptor is an open file of a process.
type descriptor struct {
	path          string // in /proc
	link          string // what it leads to: "pipe:[4711]", "/home/me/loop.log"
	reads, writes bool
}

// maxReaders bounds how many programs one behind the other are followed: tee, ts, grep.
const maxReaders = 8

// To look at all processes takes milliseconds. So for a while only known readers are looked at: another one may begin
// after them. There may be none at all, as other users' processes can't be seen.
const (
	readersStay = 5 * time.Second
	readersCome = 200 * time.Millisecond
)

// readers are who reads pipes of ours, and who reads theirs.
type readers struct {
	window int       // whose pipes they are
	known  []string  // their folders of descriptors in /proc
	at     time.Time // all processes were looked at
}

// behind finds the files that are written by whoever reads pipes, by their links. Processes of other users
// aren't seen.
func (r *readers) behind(pipes []string) []os.FileInfo {
	files, still := r.follow(pipes, r.known)
	age := time.Since(r.at)
	if age < readersCome || age < readersStay && len(still) > 0 && len(still) == len(r.known) {
		return files
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*/fd")
	files, r.known = r.follow(pipes, dirs)
	r.at = time.Now()
	return files
}

// follow returns who among processes reads pipes or what their readers write, and the files that these
// write.
func (r *readers) follow(pipes, dirs []string) (files []os.FileInfo, found []string) {
	wanted := map[string]bool{}
	for _, pipe := range pipes {
		wanted[pipe] = true
	}
	all := r.processes(dirs)
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

// processes returns the processes that have the folders' files open, but the window.
func (r *readers) processes(dirs []string) map[string][]descriptor {
	all := map[string][]descriptor{}
	self := fmt.Sprintf("/proc/%d/fd", r.window)
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
