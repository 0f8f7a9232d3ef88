package backends

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Unheld is what isn't held here of the promise that nothing is left running.
var Unheld = ""

// child is a running agent. All processes that it starts are in its job, with or without a parent, and can't leave
// it. The job ends with its only handle, so also when this process is killed.
type child struct {
	pid     int
	start   string
	exited  chan struct{}
	stopped chan struct{} // never
	job     windows.Handle
	ended   func() syscall.WaitStatus
	settle  func() // when all that it started is gone
}

// throughShim lets a batch file of npm's be left out: cmd would read arguments in its own way,
// and end them at a line break. None that it would change is given to another batch file.
func throughShim(cmd *exec.Cmd) error {
	if extension := strings.ToLower(filepath.Ext(cmd.Path)); extension != ".cmd" && extension != ".bat" {
		return nil
	}
	text, err := regular.Read(cmd.Path, regular.Long)
	if err != nil {
		return err
	}
	dir := filepath.Dir(cmd.Path)
	switch target := shimTarget(string(text)); {
	case target == "":
		for _, arg := range cmd.Args[1:] {
			if strings.ContainsAny(arg, "\"%\r\n") {
				return fmt.Errorf("%s is a batch file, and %.40q would not reach its program as it is: name that program instead", cmd.Path, arg)
			}
		}
	case strings.EqualFold(filepath.Ext(target), ".exe"):
		cmd.Path = filepath.Join(dir, target)
		cmd.Args[0] = cmd.Path
	default:
		script := filepath.Join(dir, target)
		if cmd.Path = filepath.Join(dir, "node.exe"); !isFile(cmd.Path) {
			if cmd.Path, err = exec.LookPath("node"); err != nil {
				return fmt.Errorf("%s needs node: %w", script, err)
			}
		}
		cmd.Args = append([]string{cmd.Path, script}, cmd.Args[1:]...)
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// resumeProcess is for all threads of a process, whose handles os/exec keeps to itself.
var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// launch starts a process. It runs once it is in its job.
func (s *Scope) launch(cmd *exec.Cmd, _, _ bool) (*child, error) {
	if err := throughShim(cmd); err != nil {
		return nil, err
	}
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED,
		CmdLine:       commandLine(cmd.Args), // so that cmd reads its text as it was typed
	}
	if !hasConsole() {
		cmd.SysProcAttr.CreationFlags |= windows.CREATE_NO_WINDOW // of the one that it gets
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(startProblem(cmd, err), windows.CloseHandle(job))
	}
	pid := cmd.Process.Pid
	c := &child{
		pid: pid, start: reaper.Find(pid).Start, job: job, exited: make(chan struct{}),
		ended: func() syscall.WaitStatus { return cmd.ProcessState.Sys().(syscall.WaitStatus) },
	}
	var notIn error
	err = cmd.Process.WithHandle(func(handle uintptr) {
		if notIn = windows.AssignProcessToJobObject(job, windows.Handle(handle)); notIn != nil {
			notIn = os.NewSyscallError("AssignProcessToJobObject", notIn)
		} else if status, _, _ := resumeProcess.Call(handle); status != 0 {
			notIn = os.NewSyscallError("NtResumeProcess", windows.NTStatus(status))
		}
	})
	if err = errors.Join(err, notIn); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return nil, errors.Join(err, windows.CloseHandle(job))
	}
	go func() {
		cmd.Wait() // the streams are plain files: it waits for the process only
		close(c.exited)
	}()
	return c, nil
}

// newJob makes a job that ends with its last handle, which no child inherits.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, os.NewSyscallError("CreateJobObject", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)),
		uint32(unsafe.Sizeof(info)))
	if err != nil {
		return 0, errors.Join(os.NewSyscallError("SetInformationJobObject", err), windows.CloseHandle(job))
	}
	return job, nil
}

// status is how the child ended. None is ever lost here.
func (c *child) status() (status syscall.WaitStatus, lost bool) { return c.ended(), false }

// hasConsole says whether this process has a console, which those that it starts share.
func hasConsole() bool {
	page, err := windows.GetConsoleCP()
	return err == nil && page != 0
}

var (
	attachConsole = windows.NewLazySystemDLL("kernel32.dll").NewProc("AttachConsole")
	freeConsole   = windows.NewLazySystemDLL("kernel32.dll").NewProc("FreeConsole")
	attaching     sync.Mutex
)

// signal sends Ctrl-Break to the child's process group, for any signal: no other polite request reaches a process of
// another group, and this one only within its console. A process that has left the console, or has none, doesn't get
// it.
func (c *child) signal(os.Signal) {
	attaching.Lock()
	defer attaching.Unlock()
	if !hasConsole() {
		freeConsole.Call() // the place of one, which some have
		if ok, _, _ := attachConsole.Call(uintptr(c.pid)); ok == 0 {
			return
		}
		defer freeConsole.Call()
	}
	windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.pid))
}

// alive lists the processes of the job.
func (c *child) alive() (pids []int, err error) {
	var list struct {
		assigned, listed uint32
		pids             [1024]uintptr
	}
	err = windows.QueryInformationJobObject(c.job, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list)),
		uint32(unsafe.Sizeof(list)), nil)
	if errors.Is(err, windows.ERROR_MORE_DATA) {
		err = nil
	}
	for _, pid := range list.pids[:list.listed] {
		pids = append(pids, int(pid))
	}
	return pids, os.NewSyscallError("QueryInformationJobObject", err)
}

// consoleLimit is how long the process of the system that was the agent's console may stay behind it.
const consoleLimit = 100 * time.Millisecond

// sweep ends the child and all that it started. It returns how many lived. The job is closed
// when nothing is left in it.
func (c *child) sweep(grace time.Duration) (found int, err error) {
	if c.job == 0 {
		return 0, nil
	}
	pids, err := c.alive()
	for begin := time.Now(); len(pids) > 0 && err == nil && grace > 0 && time.Since(begin) < consoleLimit; pids, err = c.alive() {
		time.Sleep(time.Millisecond)
	}
	found = len(pids)
	if found > 0 && grace > 0 {
		c.signal(nil)
	}
	for begin := time.Now(); len(pids) > 0 && err == nil; pids, err = c.alive() {
		if time.Since(begin) > grace {
			windows.TerminateJobObject(c.job, 1)
		}
		if time.Since(begin) > grace+reaper.KillLimit {
			return found, reaper.Survivors(pids)
		}
		time.Sleep(5 * time.Millisecond)
	}
	err = errors.Join(err, windows.CloseHandle(c.job))
	c.job = 0
	return found, err
}

// End has nothing to do: a job ended with its owner.
func (d Remains) End() error { return nil }
