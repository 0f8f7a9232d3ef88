package proctest

import (
	"os"
	"os/signal"
	"syscall"
)

// HeedSignals lets the children of this process be ended by signals that it was
// itself started to ignore, as nohup and shells do it: what is ignored is
// inherited, what is caught isn't.
func HeedSignals() {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
