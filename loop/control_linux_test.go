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
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Whoever asks a loop whose process is suspended hears of that, and nothing is written behind its back.
func TestASuspendedLoopIsNotWaitedForForEver(t *testing.T) {
	folder := t.TempDir()
	file, err := loopstate.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	asked, over := make(chan struct{}), make(chan struct{})
	server, err := control.Serve(filepath.Join(t.TempDir(), "loop"), func(int, json.RawMessage) any {
		close(asked)
		<-over
		return Reply{}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	defer close(over)
	lock, err := file.Lock(loopstate.Owner{PID: os.Getpid(), LoopID: "ralph-1", Standing: loopstate.Standing{Control: server.Path}})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if err := file.Create(loopstate.State{Active: true, Iteration: 1, LoopID: "ralph-1", Prompt: "Build it"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	go func() { <-asked; cancel() }()
	_, err = askOwner(ctx, folder, Request{Do: caller.Steer, Steering: Steering{Text: "hi"}})
	if err == nil || !strings.Contains(err.Error(), "doesn't answer: is it suspended") {
		t.Errorf("got %v", err)
	}
	if _, err := CancelFolder(ctx, folder, ""); err == nil || !strings.Contains(err.Error(), "doesn't answer: is it suspended") {
		t.Errorf("a cancel says %v", err)
	}
	if s, err := file.Load(); err != nil || len(s.Guidance) > 0 {
		t.Errorf("the file says %+v, %v", s, err)
	}
}

// A loop that was about to be left as its user cancels it isn't left to be continued.
func TestALoopThatIsBeingLeftIsCancelled(t *testing.T) {
	folder := t.TempDir()
	file, err := loopstate.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{})
	server, err := control.Serve(filepath.Join(t.TempDir(), "loop"), func(int, json.RawMessage) any {
		close(asked)
		return Reply{Iteration: 1}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	lock, err := file.Lock(loopstate.Owner{PID: os.Getpid(), StartedAt: time.Now(), LoopID: "ralph-1", Standing: loopstate.Standing{Control: server.Path, Leaving: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Create(loopstate.State{Active: true, Iteration: 1, LoopID: "ralph-1", Prompt: "Build it"}); err != nil {
		t.Fatal(err)
	}
	answers := beginToCancel(t, folder)
	<-asked
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got != (cancelled{1, nil}) {
		t.Errorf("got %+v", got)
	}
	if state, err := file.Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its state file is still there: %+v, %v", state, err)
	}
}
