package loopstate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ralph-lsp/internal/limits"
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
		if err := f.Create(State{Given: limits.Given{MaxIterations: new(5)}, Prompt: "All that is to be done.\n"}); err != nil {
			t.Fatal(err)
		}
		defer f.Settle()
		update := func() <-chan string {
			prompt := make(chan string, 1)
			go func() {
				s, err := f.Claim(func(s *State) error { s.Iteration++; return nil })
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

// Many saves in a row, or one that takes long, don't make half a prompt a whole
// one; somebody who only adds holds nothing up for long.
func TestAPromptThatIsWrittenForLong(t *testing.T) {
	const whole = "---\niteration: 1\n---\nAll that is to be done.\n"
	tests := map[string]struct {
		flags int
		parts []string
		waits time.Duration
		want  string
	}{
		"slowly": {os.O_TRUNC, []string{whole[:30], "that", " is", " to", " be", " done", ".", "."}, 7*time.Second + heldTime, "All that that is to be done.."},
		"added":  {os.O_APPEND, []string{"a", "b", "c", "d", "e", "f", "g", "h"}, saveTime, "All that is to be done.\nabcde"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, t.TempDir())
				write(t, f, whole)
				f.believe("All that is to be done.\n")
				editor, err := os.OpenFile(f.Path(), os.O_WRONLY|tt.flags, 0)
				if err != nil {
					t.Fatal(err)
				}
				prompt := make(chan string, 1)
				began := time.Now()
				var waited time.Duration
				go func() {
					s, err := f.Claim(func(*State) error { return nil })
					if err != nil {
						t.Error(err)
					}
					waited = time.Since(began)
					prompt <- s.Prompt
				}()
				for _, part := range tt.parts {
					editor.WriteString(part)
					time.Sleep(time.Second)
				}
				if got := <-prompt; !strings.HasPrefix(got, tt.want) || waited < tt.waits || waited > tt.waits+settlePoll {
					t.Errorf("%q after %v, want %q after about %v", got, waited, tt.want, tt.waits)
				}
				editor.Close()
				f.Settle()
			})
		})
	}
}

// A slow editor, or a busy disk, may leave the file empty or in part for longer
// than anything that is saved stays as it is.
func TestTheBeginningOfASlowSaveIsNoBadFile(t *testing.T) {
	for name, tt := range map[string]struct {
		stalls time.Duration
		access func(f *File) (State, error)
	}{
		"a look":    {heldTime - heldPoll, (*File).Load},
		"an update": {saveTime - heldPoll, func(f *File) (State, error) { return f.Update(func(*State) error { return nil }) }},
		"a run":     {wholeTime - 2*heldTime - heldPoll, func(f *File) (State, error) { return f.Claim(func(*State) error { return nil }) }},
	} {
		for _, part := range []string{"", "---\niterat", "---\niteration: 7\n---\n"} {
			t.Run(fmt.Sprintf("%s, %d bytes", name, len(part)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := open(t, t.TempDir())
					write(t, f, "---\niteration: 1\n---\nGo.\n")
					if _, err := f.Load(); err != nil {
						t.Fatal(err)
					}
					whole := "---\niteration: 7\n---\nGo on.\n"
					editor := truncated(t, f.Path())
					editor.WriteString(part)
					var rest sync.WaitGroup
					rest.Go(func() {
						defer editor.Close()
						time.Sleep(tt.stalls)
						editor.WriteString(whole[len(part):])
					})
					s, err := tt.access(f)
					if err != nil || s.Iteration != 7 || s.Prompt != "Go on.\n" {
						t.Errorf("%d, %q, %v", s.Iteration, s.Prompt, err)
					}
					rest.Wait()
					f.Settle()
				})
			})
		}
	}
}

func TestABrokenFileThatIsHeldOpenIsToldInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir())
		write(t, f, "---\niteration: 1\n---\nGo.\n")
		defer truncated(t, f.Path()).Close()
		_, err := f.Update(func(*State) error { return nil })
		wantError(t, err, "the first line is not")
	})
}

// An editor that had the file open when it was replaced is slow.
func TestTheBeginningOfASlowSaveIsNotTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir())
		base := "---\niteration: 1\n---\nGo.\n"
		write(t, f, base)
		path := filepath.Join(f.folder, "replaced")
		if err := os.WriteFile(path, []byte(base), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		editor := truncated(t, path)
		f.linger(file, []byte(base))
		whole := "---\niteration: 7\n---\nGo on.\n"
		for _, part := range []string{whole[:10], whole[10:]} {
			wantText(t, f, base)
			editor.WriteString(part)
			time.Sleep(heldTime + 3*heldPoll)
		}
		wantText(t, f, whole)
		editor.Close()
		f.Settle()
		wantText(t, f, whole)
	})
}

// truncated opens a file as who saves in place does.
func truncated(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Saves that follow each other outlast what is waited for one, and that time ends
// in the middle of one.
func TestTheMiddleOfASaveIsNoBadFileHoweverManyThereAre(t *testing.T) {
	const turn = 50 * time.Millisecond
	for name, access := range map[string]func(*File) (State, error){
		"an update": func(f *File) (State, error) { return f.Update(func(*State) error { return nil }) },
		"a run":     func(f *File) (State, error) { return f.Claim(func(*State) error { return nil }) },
	} {
		for way, save := range map[string]func(f *File, editor *os.File, i int){
			"in place": func(f *File, editor *os.File, i int) {
				editor.Truncate(0)
				time.Sleep(turn)
				editor.WriteAt(fmt.Appendf(nil, "---\n---\nSave %d.", i), 0)
				time.Sleep(turn)
			},
			"moved away": func(f *File, editor *os.File, i int) {
				os.Rename(f.Path(), f.Path()+"~")
				time.Sleep(turn)
				editor.WriteAt(fmt.Appendf(nil, "---\n---\nSave %d.", i), 0)
				os.Rename(f.Path()+"~", f.Path())
				time.Sleep(turn)
			},
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := open(t, t.TempDir())
					write(t, f, "---\n---\nSave 1.")
					if _, err := f.Load(); err != nil {
						t.Fatal(err)
					}
					editor, err := os.OpenFile(f.Path(), os.O_WRONLY, 0)
					if err != nil {
						t.Fatal(err)
					}
					stop := make(chan struct{})
					var saves sync.WaitGroup
					saves.Go(func() {
						defer editor.Close()
						for i := 1000; ; i++ {
							select {
							case <-stop:
								return
							default:
								save(f, editor, i)
							}
						}
					})
					synctest.Wait()
					if s, err := access(f); err != nil || s.Prompt == "" {
						t.Errorf("%q, %v", s.Prompt, err)
					}
					close(stop)
					saves.Wait()
					f.Settle()
				})
			})
		}
	}
}
