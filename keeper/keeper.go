// Package keeper is the process of one loop: it gets the loop from a window, drives it to its end, and
// tells its windows what happens. The loop doesn't wait for any of them.
//
// Its first window hands the loop over on a connection that the process was started with. While that
// owns the loop, its end is the loop's, unless the loop was detached or is to be kept (on_close).
package keeper

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/notify"
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
	serve(conn, caught)
	if info, err := log.Stat(); err == nil && info.Size() == 0 {
		_ = os.Remove(os.Args[1])
	}
}

// keeper drives a loop.
type keeper struct {
	loop    *engine.Loop
	cfg     setup.Config
	window  *window
	isAlone atomic.Bool // the loop was detached
}

// serve takes a loop over from its first window, and drives it to its end.
func serve(conn io.ReadWriteCloser, caught <-chan os.Signal) {
	in := bufio.NewReaderSize(conn, 64<<10)
	begin, err := client.ReadFrame(in)
	if err != nil || begin.Kind != client.Begin || begin.Hello == nil { // its window is gone, or has nothing to begin
		conn.Close()
		return
	}
	k := &keeper{window: newWindow(conn, *begin.Hello)}
	if k.cfg, err = setup.Decode(begin.Config); err == nil {
		err = k.start(begin)
	}
	if err != nil {
		reply := loop.ReplyOf(0, err)
		k.window.write(client.Frame{Kind: client.Refused, Reply: &reply})
		conn.Close()
		return
	}
	go func() {
		for range caught {
			k.loop.Interrupt()
		}
	}()
	go k.obey(in, begin.Owns)
	k.end(k.loop.Wait())
}

// start starts the loop, and tells its window.
func (k *keeper) start(begin client.Frame) (err error) {
	w := k.window
	host := start.Host()
	host.Attended = func() bool { return begin.Hello.Answers && !w.isGone() }
	host.Printed = PrintedBy(begin.Hello.PID)
	host.LetGo = func() {
		k.isAlone.Store(true)
		w.leave()
	}
	at := notify.At{Gone: w.isGone, BellOnly: begin.Hello.BellOnly, Desktop: true, Warn: w.note}
	if begin.Hello.Terminal {
		at.Terminal = ringer{w}
	}
	var log *journal.Log
	if k.loop, log, w.told, err = notify.Start(k.cfg, host, notify.Nobody{}, at); err != nil {
		return err
	}
	if !begin.Owns {
		_, _ = k.loop.Detach() // it always can be here
	}
	status := k.loop.Status()
	w.write(client.Frame{Kind: client.Welcome, LoopID: k.loop.ID(), PID: os.Getpid(), Status: &status})
	go w.tell(log, k.loop.Status)
	return nil
}

// obey does what the window asks for, until that is gone.
func (k *keeper) obey(in *bufio.Reader, owns bool) {
	for {
		f, err := client.ReadFrame(in)
		if err != nil {
			break
		}
		if f.Kind == client.Do && f.Request != nil {
			go func() {
				reply := k.loop.Do(k.window.hello.PID, *f.Request)
				k.window.reply(f.N, reply)
			}()
		}
	}
	k.window.close()
	switch {
	case !owns || k.isAlone.Load():
	case k.cfg.Said.OnClose == settings.OnCloseKeep:
		_, _ = k.loop.Detach()
	default:
		k.loop.Interrupt()
		return
	}
	k.rest()
}

// rest makes the process small: it stays for long, there may be a hundred, and it has little to do.
func (k *keeper) rest() {
	debug.SetGCPercent(25)
	time.AfterFunc(time.Second, debug.FreeOSMemory)
}

// end tells the window how the loop ended. Its user is called first, as the window may be what they look at.
func (k *keeper) end(end loop.End) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		k.window.told.Close()
	}()
	select {
	case <-told:
	case <-time.After(callPatience):
	}
	k.window.finish(end)
	<-told
}

// callPatience is how long the window waits for what calls its user.
const callPatience = 5 * time.Second

// ringer is the terminal of a window.
type ringer struct{ *window }

func (r ringer) Write(codes []byte) (int, error) {
	if r.isGone() {
		return 0, errors.New("the terminal is gone")
	}
	r.say(client.Frame{Kind: client.Ring, Text: string(codes)})
	return len(codes), nil
}
