package engine

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// A machine that is short of something says nothing of the file.
func TestAMachineShortOfResourcesIsWaitedFor(t *testing.T) {
	tooMany := &fs.PathError{Op: "open", Path: "f.md", Err: syscall.EMFILE}
	t.Run("for a while", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, nil, withTime(says("no"), time.Minute), says("<promise>DONE</promise>"))
			time.Sleep(time.Second)
			r.file.tell(tooMany)
			time.Sleep(2 * time.Minute)
			if st := r.Status(); st.State != loop.StateWaiting || st.Retry.Reason != loop.WaitResources || st.Retry.Attempt != 6 {
				t.Errorf("status %+v, %+v", st, st.Retry)
			}
			r.file.tell(nil)
			r.over(loop.StopPromise, 2)
			if n := r.log.count("the loop tries again"); n != 1 || !r.log.has("too many files open") && !r.log.has("ulimit -n") {
				t.Errorf("%d warnings", n)
			}
			if r.log.has("mend it before") {
				t.Error("the file is complained about")
			}
		})
	})
	t.Run("for good", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, nil, withTime(says("no"), time.Minute))
			time.Sleep(time.Second)
			r.file.tell(tooMany)
			end := r.over(loop.StopFailures, 1)
			if !strings.Contains(end.Error, "ulimit -n") {
				t.Errorf("error %q", end.Error)
			}
			if waits := r.log.count("state waiting resources"); waits != judge.ShortageTries {
				t.Errorf("%d waits", waits)
			}
			r.file.tell(nil)
			if _, err := r.file.Load(); err != nil {
				t.Errorf("the file is gone: %v", err)
			}
		})
	})
	t.Run("while it can be read", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, nil, withTime(says("no"), time.Minute), says("<promise>DONE</promise>"))
			time.Sleep(time.Second)
			r.file.refuse(tooMany)
			time.Sleep(time.Minute)
			for range 10 { // somebody saves it
				r.file.tell(nil)
				time.Sleep(time.Millisecond)
			}
			if st := r.Status(); st.State != loop.StateWaiting || st.Retry.Attempt != 2 {
				t.Errorf("status %+v, %+v", st, st.Retry)
			}
			r.file.refuse(nil)
			r.over(loop.StopPromise, 2)
		})
	})
	t.Run("until it is cancelled", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, nil, withTime(says("no"), time.Minute))
			time.Sleep(time.Second)
			r.file.tell(tooMany)
			time.Sleep(2 * time.Minute)
			r.Cancel()
			r.over(loop.StopCancelled, 1)
		})
	})
	t.Run("until the time is over", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := start(t, func(c *setup.Config) { c.Limits.MaxDuration = 90 * time.Second }, withTime(says("no"), time.Minute))
			time.Sleep(time.Second)
			r.file.tell(tooMany)
			time.Sleep(2 * time.Minute)
			r.file.tell(nil)
			r.over(loop.StopMaxTime, 1)
		})
	})
}

// Only a prompt that was claimed is known to be whole.
func TestEachRunClaimsItsPrompt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, says("no"), says("no"), says("<promise>DONE</promise>"))
		r.over(loop.StopPromise, 3)
		if r.file.claims != 3 {
			t.Errorf("%d prompts were claimed for 3 runs", r.file.claims)
		}
	})
}
