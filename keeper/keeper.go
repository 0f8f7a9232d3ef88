package keeper

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/keeper/door"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// Main is the process, which ends when it returns.
func Main() {
	caught := make(chan os.Signal, 4)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // as with nohup
			signal.Notify(caught, sig)
		}
	}
	conn, log, err := client.First()
	if err != nil {
		fmt.Fprintln(os.Stderr, "the connection with its window:", err)
		return
	}
	path := serve(conn, caught, os.Args[1])
	if info, err := log.Stat(); err == nil && info.Size() == 0 {
		_ = os.Remove(path)
	}
}

// keeper drives a loop.
type keeper struct {
	loop  Driven
	cfg   setup.Config
	door  *door.Door
	first *door.Window

	isTaken atomic.Bool // by a window that hasn't begun it
}

// serve takes a loop over from its first window, and drives it to its end. It moves the file for what this process says
// when it crashes to what else is kept of the loop, and returns where that is.
func serve(conn io.ReadWriteCloser, caught <-chan os.Signal, log string) string {
	in := bufio.NewReaderSize(conn, 64<<10)
	begin, err := client.ReadFrame(in)
	if err != nil || begin.Kind != client.Begin || begin.Hello == nil { // its window is gone, or has nothing to begin
		conn.Close()
		return log
	}
	k := &keeper{door: door.New(), first: door.NewWindow(conn, *begin.Hello)}
	if k.cfg, err = setup.Decode(begin.Config); err == nil {
		err = k.start()
	}
	if err != nil {
		k.door.Failed()
		k.first.Refuse(err)
		return log
	}
	if dir, err := registry.Dir(paths.Real(k.cfg.Folder), k.loop.ID()); err == nil {
		if to := filepath.Join(dir, registry.LogName); os.Rename(log, to) == nil {
			log = to
		}
	}
	go func() {
		for range caught {
			k.loop.Interrupt()
		}
	}()
	go k.door.Serve(k.first, in)
	k.end(k.loop.Wait())
	return log
}

// start starts the loop.
func (k *keeper) start() (err error) {
	w := k.first
	k.door.Expect(w)
	host := start.Host()
	host.Attended, host.Diagnose = k.door.IsAttended, k.door.Diagnose
	host.Printed = PrintedBy(w.PID)
	host.LetGo = func() {
		k.door.Loosen()
		k.rest()
	}
	host.Windows, host.Stood = k.door.Connect, k.door.Look
	at := notify.At{Gone: w.IsGone, BellOnly: w.BellOnly, Desktop: true, Patient: true, Warn: k.door.Note}
	if w.Editor { // in whose place another one may be
		at.Gone, at.Desktop = func() bool { return !k.door.IsAttended() }, false
	}
	if w.Terminal {
		at.Terminal = ringer{w}
	}
	if k.loop, err = Start(k.cfg, host, at); err != nil {
		return err
	}
	if !w.Owns {
		_, _ = k.loop.Detach() // it always can be here
	}
	w.Cursor = k.loop.Log.Begun()
	k.door.Orphaned(k.orphaned)
	k.door.Taken(k.taken)
	k.door.Begun(k.loop, k.loop.Log)
	return nil
}

// taken is called when a window takes the loop: from now on the loop ends with that window.
func (k *keeper) taken() {
	k.isTaken.Store(true)
	k.loop.Attach()
}

// orphaned is called when whoever owned the loop is gone.
func (k *keeper) orphaned() {
	if k.cfg.Values.OnClose == settings.OnCloseKeep && !k.isTaken.Load() {
		_, _ = k.loop.Detach()
	} else {
		k.loop.Interrupt()
	}
}

// rest makes the process small: it stays for long, there may be a hundred, and it has little to do.
func (k *keeper) rest() {
	debug.SetGCPercent(25)
	time.AfterFunc(time.Second, debug.FreeOSMemory)
}

// end tells the windows how the loop ended. Its user is called first, as a window may be what they look at.
func (k *keeper) end(end loop.End) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		k.loop.Told.Close()
	}()
	select {
	case <-told:
	case <-time.After(callPatience):
	}
	k.door.Finish(end)
	<-told
}

// callPatience is how long the windows wait for what calls their user.
const callPatience = 5 * time.Second

// ringer is the terminal of a window.
type ringer struct{ *door.Window }

func (r ringer) Write(codes []byte) (int, error) {
	if r.IsGone() {
		return 0, errors.New("the terminal is gone")
	}
	r.Ring(string(codes))
	return len(codes), nil
}
