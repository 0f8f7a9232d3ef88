package loop

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Whoever asks a loop whose process is suspended hears of that, and nothing is written behind its back.
func TestASuspendedLoopIsNotWaitedForForEver(t *testing.T) {
	folder := t.TempDir()
	file, err := loopstate.Open(folder)
	must.OK(t, err)
	asked, over := make(chan struct{}), make(chan struct{})
	server, err := control.Serve(filepath.Join(t.TempDir(), "loop"), func(int, json.RawMessage) any {
		close(asked)
		<-over
		return Reply{}
	}, nil)
	must.OK(t, err)
	defer server.Close()
	defer close(over)
	lock, err := file.Lock(loopstate.Owner{PID: os.Getpid(), LoopID: "ralph-1", Standing: loopstate.Standing{Control: server.Path}})
	must.OK(t, err)
	defer lock.Release()
	must.OK(t, file.Create(loopstate.State{Active: true, Iteration: 1, LoopID: "ralph-1", Prompt: "Build it"}))
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	go func() { <-asked; cancel() }()
	_, err = askOwner(ctx, folder, Request{Do: caller.Steer, Steering: Steering{Text: "hi"}})
	if err == nil || !strings.Contains(err.Error(), "doesn't answer: is it suspended") {
		t.Errorf("got %v", err)
	}
	if _, err := CancelFolder(ctx, folder, ""); err == nil || !strings.Contains(err.Error(), "doesn't answer: is it suspended") {
		t.Errorf("a cancel says %v", err)
	}
	if s, err := file.Load(); err != nil || len(s.Queued) > 0 {
		t.Errorf("the file says %+v, %v", s, err)
	}
}

// A loop that was about to be left as its user cancels it isn't left to be continued.
func TestALoopThatIsBeingLeftIsCancelled(t *testing.T) {
	folder := t.TempDir()
	file, err := loopstate.Open(folder)
	must.OK(t, err)
	asked := make(chan struct{})
	server, err := control.Serve(filepath.Join(t.TempDir(), "loop"), func(int, json.RawMessage) any {
		close(asked)
		return Reply{Iteration: 1}
	}, nil)
	must.OK(t, err)
	defer server.Close()
	lock, err := file.Lock(loopstate.Owner{PID: os.Getpid(), StartedAt: time.Now(), LoopID: "ralph-1", Standing: loopstate.Standing{Control: server.Path, Leaving: true}})
	must.OK(t, err)
	must.OK(t, file.Create(loopstate.State{Active: true, Iteration: 1, LoopID: "ralph-1", Prompt: "Build it"}))
	answers := beginToCancel(t, folder)
	<-asked
	must.OK(t, lock.Release())
	if got := <-answers; got != (cancelled{1, nil}) {
		t.Errorf("got %+v", got)
	}
	if state, err := file.Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its state file is still there: %+v, %v", state, err)
	}
}
