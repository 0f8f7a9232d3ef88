package loopstate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// watchPoll is how often the file is looked at though nothing was heard: network file systems tell nothing of what others
	// write there. Where the system's own tell all, it is restPoll.
	watchPoll = 2 * time.Second
	restPoll  = 10 * time.Second
	// watchQuiet gathers the events of one save into one signal.
	watchQuiet = 20 * time.Millisecond
)

// Watch signals changes of the file, even when it is deleted or created, until ctx ends; then the
// channel is closed. A burst of changes is one signal, and at most one is pending. Our own writes
// are signalled too. A process that doesn't drive the loop also hears when another one does, and of changes of what that
// says.
func (f *File) Watch(ctx context.Context) (<-chan struct{}, error) {
	return f.watch(ctx, restPoll)
}

func (f *File) watch(ctx context.Context, poll time.Duration) (<-chan struct{}, error) {
	if _, err := f.realPath(Name); err != nil {
		return nil, err
	}
	w := &watcher{file: f, signals: make(chan struct{}, 1), rest: poll}
	if notify, err := fsnotify.NewWatcher(); err == nil {
		w.notify = notify
		w.events, w.errors = notify.Events, notify.Errors
	}
	w.follow()
	w.last = w.look()
	go w.run(ctx)
	return w.signals, nil
}

// watcher is one Watch. All but signals belongs to the goroutine in run.
type watcher struct {
	file    *File
	signals chan struct{}
	last    [2]fileState  // of the last look
	target  string        // the file's real path; "" when it leads out of the folder
	record  string        // where another process says how the loop stands; "": none does, or this one
	rest    time.Duration // between two looks where events tell all
	isDeaf  bool          // events don't tell all: the file system doesn't, or the user's limit of watches is reached

	notify *fsnotify.Watcher // nil: poll only
	events chan fsnotify.Event
	errors chan error
}

// every is the time between two looks.
func (w *watcher) every() time.Duration {
	if w.isDeaf {
		return min(w.rest, watchPoll)
	}
	return w.rest
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.signals)
	if w.notify != nil {
		defer w.notify.Close()
	}
	poll := time.NewTimer(w.every())
	defer poll.Stop()
	var quiet <-chan time.Time // set while events are gathered
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-w.events:
			if quiet == nil && w.concerns(event.Name) {
				quiet = time.After(watchQuiet)
			}
		case <-w.errors: // events were lost
			if quiet == nil {
				quiet = time.After(watchQuiet)
			}
		case <-quiet:
			quiet = nil
			w.follow()
			w.last = w.look()
			w.signal()
		case <-poll.C:
			w.follow()
			poll.Reset(w.every())
			if now := w.look(); now != w.last {
				w.last = now
				w.signal()
			}
		}
	}
}

func (w *watcher) signal() {
	select {
	case w.signals <- struct{}{}:
	default: // one is pending
	}
}

// follow watches the folders through which the file can change: the loop's
// folder, where .pi appears and goes, .pi, and the one that a link leads to. The record of the loop's owner is watched as a file,
// as its folder has the journal too.
// Those that are watched already stay so; a folder that was remade is a new
// one.
func (w *watcher) follow() {
	dirs := []string{w.file.root}
	if dir, err := w.file.dirPath(); err == nil {
		dirs = append(dirs, dir)
	}
	w.target = ""
	if path, err := w.file.realPath(Name); err == nil {
		w.target = path
		dirs = append(dirs, filepath.Dir(path))
	}
	if w.record = ""; !w.file.record.drives.Load() {
		w.record = w.file.ownersRecord()
	}
	if w.record != "" { // fsnotify takes "" for the working directory
		dirs = append(dirs, w.record)
	}
	if w.isDeaf = w.notify == nil; w.isDeaf {
		return
	}
	for _, dir := range dirs {
		if err := w.notify.Add(dir); errors.Is(err, fs.ErrNotExist) {
			continue // it appears in its parent, or in a look
		} else if err != nil || !tellsAll(dir) {
			w.isDeaf = true
		}
	}
}

// concerns says whether the file may have changed when the path did, or who drives its loop, or what that says.
func (w *watcher) concerns(path string) bool {
	base := filepath.Base(path)
	if base == stateDir || base == filepath.Base(Name) || path == w.target || path == w.record {
		return true
	}
	return base == filepath.Base(lockName) && !w.file.record.drives.Load()
}

// look returns what shows that the file has changed, or what another process says of its loop: that may have been replaced
// where nothing was heard, and nothing more may come of a loop that only waits.
func (w *watcher) look() (now [2]fileState) {
	for i, path := range []string{w.target, w.record} {
		if info, err := os.Stat(path); path != "" && err == nil {
			now[i] = stateOf(info)
		}
	}
	return now
}
