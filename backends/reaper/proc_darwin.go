package reaper

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Find is the process that has a number now; without a start, if there is none.
func Find(pid int) Proc {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || info.Proc.P_stat == zombie {
		return Proc{PID: pid}
	}
	return entryOf(info).Proc
}

// Parent is the number of a process's parent, 0 when it has none that can be told.
func Parent(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}

const zombie = 5 // SZOMB: it only waits for its parent

func entryOf(k *unix.KinfoProc) Entry {
	began := k.Proc.P_starttime
	start := strconv.FormatInt(began.Sec*1000+int64(began.Usec)/1000, 10)
	return Entry{Proc{int(k.Proc.P_pid), start}, int(k.Eproc.Ppid), int(k.Eproc.Pgid)}
}

// System is the table of this system.
type System struct{}

// Processes lists the processes of this user.
func (System) Processes() (all []Entry) {
	processes, _ := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	for i := range processes {
		if k := &processes[i]; k.Proc.P_stat != zombie {
			all = append(all, entryOf(k))
		}
	}
	return all
}

// Bears looks into the arguments and the environment that a process was started with.
func (System) Bears(p Proc, mark string) bool {
	started, err := unix.SysctlRaw("kern.procargs2", p.PID)
	return err == nil && bytes.Contains(started, []byte("\x00"+mark+"\x00"))
}

// Signal looks whether it is that one still.
func (System) Signal(p Proc, signal syscall.Signal) {
	if p.Start != "" && Find(p.PID) == p {
		syscall.Kill(p.PID, signal)
	}
}

// Watch looks at the tree each time that one of it forks, until done is closed.
func (t *Tree) Watch(done <-chan struct{}) {
	queue, err := unix.Kqueue()
	if err != nil {
		return // its children are looked for at its end
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	watched := map[Proc]bool{}
	for {
		for _, p := range t.Find(false) {
			if !watched[p] {
				watched[p] = true
				event := unix.Kevent_t{Ident: uint64(p.PID), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_CLEAR, Fflags: unix.NOTE_FORK}
				_, _ = unix.Kevent(queue, []unix.Kevent_t{event}, nil, nil)
			}
		}
		events, second := make([]unix.Kevent_t, 16), unix.Timespec{Sec: 1}
		_, _ = unix.Kevent(queue, nil, events, &second)
		select {
		case <-done:
			return
		default:
		}
	}
}
