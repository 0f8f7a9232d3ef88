package reaper

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Silence is how long a process that drives a loop may answer nothing before its reaper ends it.
// Time in which it was stopped, or held by the kernel, doesn't count, nor does time in which the
// machine slept: the clocks of both stand still then.
const Silence = 30 * time.Second

// beatInterval is how often such a process says that it is well. Silence is counted in them, so
// that a machine that lets nobody run for a while makes it longer.
const beatInterval = 5 * time.Second

// verdictGrace is what programs that the process has started have to end.
const verdictGrace = 300 * time.Millisecond

// Verdict is what the reaper appends to a file that has a JSON object: one that says why its
// process is gone.
const Verdict = `{"hung":"its process answered nothing for 30 s and was ended"}` + "\n"

// watcher ends the process that drives the loop when that hangs as a whole. That a loop hangs in a
// process that doesn't, the process itself knows.
type watcher struct {
	driver      Proc
	verdictFile string
	beats       atomic.Int64 // since it was looked last
	isWatched   atomic.Bool
	silent      int // ticks in a row without a beat; only watch uses it
}

// hear takes a beat. The first begins the watch.
func (w *watcher) hear() {
	w.beats.Add(1)
	if !w.isWatched.Swap(true) {
		go w.watch(time.NewTicker(beatInterval).C)
	}
}

// watch looks at each tick until it has ended the process.
func (w *watcher) watch(ticks <-chan time.Time) {
	for range ticks {
		if w.tick() {
			return
		}
	}
}

// tick counts ticks without a beat, and ends the process at one too many.
func (w *watcher) tick() (ended bool) {
	if w.beats.Swap(0) > 0 || !w.driver.couldAnswer() {
		w.silent = 0
		return false
	}
	if w.silent++; w.silent < int(Silence/beatInterval) {
		return false
	}
	EndBeside(w.driver, verdictGrace)
	w.note()
	w.driver.Signal(syscall.SIGKILL)
	return true
}

// couldAnswer says whether nothing keeps a process from running: no Ctrl-Z or debugger, and no disk.
func (p Proc) couldAnswer() bool {
	s, err := ReadStat(p.PID)
	return err == nil && s.Start == p.Start && (s.State == 'S' || s.State == 'R')
}

// note appends the verdict. The file is the record of the loop's owner: a regular one, or nothing is written.
func (w *watcher) note() {
	if w.verdictFile == "" {
		return
	}
	f, err := os.OpenFile(w.verdictFile, os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		_, _ = f.WriteString(Verdict) // the process is ended either way
	}
}

// EndBeside ends what a process has started besides reapers, which end what they keep by
// themselves: SIGTERM, and SIGKILL after a grace.
func EndBeside(p Proc, grace time.Duration) {
	found := p.besides()
	alive := func() (alive []Proc) {
		for _, p := range found {
			if p.Alive() {
				alive = append(alive, p)
			}
		}
		return alive
	}
	end(alive, func() bool { return len(alive()) == 0 }, grace)
}

// besides lists the living processes below this one that are no reaper, and below none.
func (p Proc) besides() (found []Proc) {
	for _, pid := range children(p.PID) {
		if s, err := ReadStat(pid); err == nil && s.parent == p.PID && !isReaper(pid) {
			found = append(append(found, s.Proc), s.Proc.Descendants()...)
		}
	}
	return found
}
