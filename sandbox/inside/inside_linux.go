package inside

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// fixed is how many arguments a stage has before its places.
const fixed = 7

const rlimitNproc = 6

func init() {
	if len(os.Args) < 2 || os.Args[1] != role {
		return
	}
	runtime.LockOSThread() // a filter is a thread's, and goes with it into the program
	argv, why := obey(os.Args[1:])
	if why == "" {
		why = become(argv)
	}
	syscall.Write(2, []byte("ralph-lsp: behind the walls: "+why+"\n"))
	syscall.Exit(126)
}

// obey does what a stage's arguments say, and returns those behind them: a program's path, its
// name and its arguments.
func obey(said []string) (argv []string, why string) {
	places := 0
	if len(said) > fixed {
		places, _ = strconv.Atoi(said[6])
	}
	if len(said) < fixed+3*places+2 || places < 0 {
		return nil, "too few arguments"
	}
	if group := said[1]; group != "" {
		if err := os.WriteFile(group+"/cgroup.procs", []byte("0"), 0); err != nil {
			return nil, "the control group: " + err.Error()
		}
	}
	for i := range places {
		place := said[fixed+3*i:]
		var now syscall.Stat_t
		if err := syscall.Lstat(place[0], &now); err != nil || strconv.FormatUint(uint64(now.Dev), 10) != place[1] ||
			strconv.FormatUint(now.Ino, 10) != place[2] {
			return nil, place[0] + " was replaced while the run began"
		}
	}
	if said[4] == "true" {
		if err := scopeSockets(); err != nil {
			return nil, "the scope of sockets: " + err.Error()
		}
		if err := refuse(said[5] == "true"); err != nil {
			return nil, "a filter of system calls: " + err.Error()
		}
	}
	// Last, since they count for this process as well.
	for i, which := range []int{rlimitNproc, syscall.RLIMIT_DATA} {
		if err := lower(which, said[2+i]); err != nil {
			return nil, "a limit: " + err.Error()
		}
	}
	return said[fixed+3*places:], ""
}

// lower lowers a limit of this process's.
func lower(which int, said string) error {
	n, _ := strconv.ParseUint(said, 10, 64)
	var now syscall.Rlimit
	if err := syscall.Getrlimit(which, &now); err != nil || n == 0 {
		return err
	}
	n = min(n, now.Max)
	return syscall.Setrlimit(which, &syscall.Rlimit{Cur: n, Max: n})
}

// become starts the program in this process's place. A script that doesn't say by what is the shell's.
func become(argv []string) (why string) {
	program, args := argv[0], argv[1:]
	err := syscall.Exec(program, args, os.Environ())
	if err == syscall.ENOEXEC {
		err = syscall.Exec("/bin/sh", append([]string{"sh", program}, args[1:]...), os.Environ())
	}
	return program + ": " + err.Error()
}
