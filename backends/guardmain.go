package backends

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// GuardMain is the guard process: it returns when its parent is gone and
// nothing that was watched is left.
func GuardMain(stdin io.Reader) { guardMain(stdin, func() {}) }

// guardMain calls looked after each look at the owner's processes.
func guardMain(stdin io.Reader, looked func()) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	lines := make(chan string)
	go func() {
		for scan := bufio.NewScanner(stdin); scan.Scan(); {
			lines <- scan.Text()
		}
		close(lines)
	}()
	w := watch{scopes: map[string]bool{}, known: map[proc]bool{}}
	var next <-chan time.Time
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				w.end()
				return
			}
			w.obey(line)
			if next == nil && w.looks() {
				next = time.After(lookInterval)
			}
		case <-next:
			next = nil
			if !w.looks() {
				continue
			}
			begin := time.Now()
			w.look()
			next = time.After(max(lookInterval, lookShare*time.Since(begin)))
			looked()
		}
	}
}

// watch is what a guard knows.
type watch struct {
	owner     proc            // whose end it waits for; none where orphans don't stay below it
	inherited bool            // the owner had children before it started any
	scopes    map[string]bool // by their temporary folder
	known     map[proc]bool   // seen below the owner, and alive at the last look
}

// obey takes in a line of the owner's.
func (w *watch) obey(line string) {
	switch verb, rest, _ := strings.Cut(line, " "); verb {
	case "owner":
		if _, err := fmt.Sscan(rest, &w.owner.pid, &w.owner.start, &w.inherited); err != nil {
			w.owner = proc{}
		}
	case "watch":
		w.scopes[rest] = true
	case "release":
		delete(w.scopes, rest)
	}
}

// looks says whether there is something to look at.
func (w *watch) looks() bool { return w.owner.pid > 0 && len(w.scopes) > 0 }

// look notes which processes are the runs'.
func (w *watch) look() {
	continueForks(w.owner)
	if w.inherited {
		w.left() // those that bear the mark, and what is below them
		return
	}
	seen := w.known
	w.known = map[proc]bool{}
	for _, child := range childrenOf(w.owner) {
		if child.pid != os.Getpid() {
			w.remember(append(descendants(child), child))
		}
	}
	for p := range seen { // the owner may have died meanwhile
		if !w.known[p] && p.alive() {
			w.known[p] = true
		}
	}
}

func (w *watch) remember(found []proc) {
	for _, p := range found {
		w.known[p] = true
	}
}

// keepAlive forgets who is gone.
func (w *watch) keepAlive() {
	maps.DeleteFunc(w.known, func(p proc, _ bool) bool { return !p.alive() })
}

// left lists what is left of the runs, as far as it can be told without the owner.
func (w *watch) left() []proc {
	w.keepAlive()
	for _, p := range slices.Collect(maps.Keys(w.known)) {
		w.remember(descendants(p))
	}
	for tempDir := range w.scopes {
		w.remember(marked(map[string]string{EnvScope: scopeMark(tempDir)}))
	}
	return slices.Collect(maps.Keys(w.known))
}

// end ends what is left of the runs, and removes their temporary folders. Also
// of an owner that ended well something may be left: what none of its loops
// could claim while others ran.
func (w *watch) end() {
	for deadline := time.Now().Add(guardGrace); time.Now().Before(deadline) && len(w.left()) > 0; {
		time.Sleep(20 * time.Millisecond) // the kernel's SIGTERM may be enough
	}
	endAll(w.left)
	for tempDir := range w.scopes {
		os.RemoveAll(tempDir)
	}
}
