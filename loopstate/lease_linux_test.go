package loopstate

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestASaveUnderWayIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir())
		write(t, f, "---\niteration: 1\n---\nGo.\n")
		editor, err := os.OpenFile(f.Path(), os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		updated := make(chan State, 1)
		go func() {
			s, err := f.Update(func(s *State) error { s.Iteration = 2; return nil })
			if err != nil {
				t.Error(err)
			}
			updated <- s
		}()
		for _, part := range []string{"---\niteration: 1\n", "---\nGo", " on", ".\n"} {
			time.Sleep(heldTime / 4)
			if len(updated) > 0 {
				t.Error("the update didn't wait for the rest of the save")
			}
			editor.WriteString(part)
		}
		editor.Close()
		if s := <-updated; s.Prompt != "Go on.\n" {
			t.Errorf("the update saw the prompt %q", s.Prompt)
		}
		f.Settle()
		wantText(t, f, "---\niteration: 2\n---\nGo on.\n")
	})
}

// An editor that opens the file for each part of a save has it open at no time
// that counts.
func TestHalfAPromptIsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir())
		if err := f.Create(State{MaxIterations: 5, Prompt: "All that is to be done.\n"}); err != nil {
			t.Fatal(err)
		}
		lock, err := f.Lock(Owner{})
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Release()
		update := func() <-chan string {
			prompt := make(chan string, 1)
			go func() {
				s, err := f.Update(func(s *State) error { s.Iteration++; return nil })
				if err != nil {
					t.Error(err)
				}
				prompt <- s.Prompt
			}()
			return prompt
		}
		want := func(updated <-chan string, prompt string) {
			t.Helper()
			if got := <-updated; got != prompt {
				t.Errorf("a run is given the prompt %q, want %q", got, prompt)
			}
		}
		want(update(), "All that is to be done.\n")
		edits["in place"](f.Path(), "---\nmax_iterations: 5\n---\nAll")
		updated := update()
		for _, part := range []string{" that", " should", " be done", " now.\n"} {
			time.Sleep(settleTime / 2)
			addLine(f.Path(), part)
		}
		want(updated, "All that should be done now.\n")
		began := time.Now()
		addLine(f.Path(), "And this.\n")
		want(update(), "All that should be done now.\nAnd this.\n")
		if waited := time.Since(began); waited != 0 {
			t.Errorf("what is added was waited for: %v", waited)
		}
	})
}
