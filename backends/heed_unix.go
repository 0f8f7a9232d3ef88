//go:build unix

package backends

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// signalLimit bounds the wait for a signal's effect, which nobody can be sure of.
const signalLimit = time.Second

// heedSignals returns a context that ends when a signal comes that would end
// this process, for a caller that doesn't attend to signals: its own context can
// never end. heed is called when there is nothing more to be ended, and lets such
// a signal have its effect.
func heedSignals(parent context.Context) (ctx context.Context, heed func()) {
	if parent.Done() != nil {
		return parent, func() {}
	}
	deadly := slices.DeleteFunc([]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	ctx, cancel := context.WithCancel(parent)
	caught := make(chan os.Signal, 1)
	if len(deadly) > 0 { // none would mean all
		signal.Notify(caught, deadly...)
	}
	var first os.Signal // read it after attended
	attended := make(chan struct{})
	go func() {
		defer close(attended)
		select {
		case first = <-caught:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel()
		<-attended
		if first == nil {
			select {
			case first = <-caught:
			default:
				return
			}
		}
		syscall.Kill(os.Getpid(), first.(syscall.Signal))
		time.Sleep(signalLimit)
	}
}
