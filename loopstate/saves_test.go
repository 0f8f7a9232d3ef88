package loopstate

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// By hand: go test -run NoSave ./loopstate -saves 10000 -pause 100ms
var (
	saves     = flag.Int("saves", 60, "how many saves of each style an update may not lose; a fifth of those that take long")
	savePause = flag.Duration("pause", 3*time.Millisecond, "the longest pause in the middle of a save")
)

// A saveStyle is how an editor or a shell saves. It makes the prompt that of
// save i, of many lines, or adds a line to it.
type saveStyle struct {
	name string
	save func(path string, i int) error
	adds bool
	long bool // it has pauses in it
}

// count is how many saves of a style are made.
func (s saveStyle) count() int {
	if s.long {
		return (*saves + 4) / 5
	}
	return *saves
}

var saveStyles = []saveStyle{
	{name: "append", save: appendLine, adds: true},
	{name: "truncate and write in chunks", long: true, save: func(path string, i int) error {
		return inChunks(path, os.O_TRUNC, savedText(i))
	}},
	{name: "write over in chunks", long: true, save: func(path string, i int) error {
		return inChunks(path, 0, savedText(i))
	}},
	{name: "write aside and rename", save: func(path string, i int) error {
		if err := os.WriteFile(path+"~", []byte(savedText(i)), 0o600); err != nil {
			return err
		}
		return os.Rename(path+"~", path)
	}},
	{name: "move away and write anew", long: true, save: func(path string, i int) error {
		if err := os.Rename(path, path+"~"); err != nil {
			return err
		}
		return inChunks(path, os.O_CREATE|os.O_EXCL, savedText(i))
	}},
}

func appendLine(path string, i int) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	pauseInSave()
	_, err = fmt.Fprintf(file, "line %d\n", i)
	return err
}

// inChunks writes a text in place.
func inChunks(path string, flags int, text string) error {
	file, err := os.OpenFile(path, os.O_RDWR|flags, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	for rest := text; rest != ""; {
		pauseInSave()
		n := min(len(rest), 4096)
		if _, err := file.WriteString(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return file.Truncate(int64(len(text)))
}

func pauseInSave() { time.Sleep(rand.N(*savePause)) }

const savedLines = 4000 // 65 KB, which take 16 writes

// savedText is a state file with a prompt that tells where it is cut off.
func savedText(i int) string {
	return "---\nloop_id: saved\niteration: 1\n---\n" + savedPrompt(i)
}

func savedPrompt(i int) string {
	return strings.Repeat(fmt.Sprintf("This is save %d.\n", i), savedLines+i%10)
}

// isWhole says whether a prompt is one that was saved, and which.
func (s saveStyle) isWhole(prompt string) (i int, ok bool) {
	if s.adds {
		i = strings.Count(prompt, "\n")
		want := strings.Builder{}
		for k := range i {
			fmt.Fprintf(&want, "line %d\n", k)
		}
		return i - 1, prompt == want.String()
	}
	if n, _ := fmt.Sscanf(prompt, "This is save %d.", &i); n != 1 {
		return 0, false
	}
	return i, prompt == savedPrompt(i)
}

// runs is how many updates come to one that takes the prompt to a run, which
// waits for a new one to be at rest.
func (s saveStyle) runs() int {
	if s.long {
		return 4
	}
	return 100
}

// An updater does with a file what a loop does that spends a lot, and looks at the
// prompts that it is given.
type updater struct {
	file  *File
	style saveStyle
	turns chan struct{} // a value per update, for who waits for one
	stop  chan struct{}
	done  chan error
}

func startUpdater(f *File, style saveStyle) *updater {
	u := &updater{f, style, make(chan struct{}), make(chan struct{}), make(chan error, 1)}
	go func() { u.done <- u.run() }()
	return u
}

func (u *updater) run() error {
	for n := 1; ; n++ {
		isRun := n%u.style.runs() == 0
		s, err := u.file.Load()
		if s.Iteration, s.Elapsed = 1+n%9, time.Duration(n); err == nil && (isRun || n%20 == 0) {
			err = u.file.Note(s)
		}
		if isRun && err == nil {
			s, err = u.file.Claim(func(s *State) error { s.Begun = true; return nil }) // which sets the iteration's number
		}
		if err != nil {
			return err
		}
		if _, ok := u.style.isWhole(s.Prompt); isRun && !ok {
			return fmt.Errorf("a run would be given a prompt of %d bytes that nobody saved: %.40q", len(s.Prompt), s.Prompt)
		}
		select {
		case u.turns <- struct{}{}:
		case <-u.stop:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}

// await waits for an update that began after now.
func (u *updater) await(t *testing.T) {
	t.Helper()
	for range 2 {
		select {
		case <-u.turns:
		case err := <-u.done:
			t.Fatal(err)
		}
	}
}

func TestNoSaveIsLostBesideUpdates(t *testing.T) {
	for _, style := range saveStyles {
		t.Run(style.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // its pauses are as long as they are meant to be
				f := open(t, t.TempDir())
				first := savedText(0)
				if style.adds {
					first = "---\nloop_id: saved\niteration: 1\n---\nline 0\n"
				}
				write(t, f, first)
				drivesIt(t, f)
				if _, err := f.Load(); err != nil { // as a loop does before it updates
					t.Fatal(err)
				}
				u := startUpdater(f, style)
				lost := 0
				for i := 1; i <= style.count(); i++ {
					must.OK(t, style.save(f.Path(), i-lost*btoi(style.adds)))
					u.await(t)
					if !style.shows(t, f, i-lost*btoi(style.adds)) {
						lost++
					}
				}
				close(u.stop)
				if err := <-u.done; err != nil || lost > 0 {
					t.Errorf("%d of %d saves were lost, %v", lost, style.count(), err)
				}
			})
		})
	}
}

// A prompt that may be half of one is waited for, and what a program has left isn't.
func TestAPromptThatWasLeftIsBelievedAtOnce(t *testing.T) {
	for isLeft, want := range map[bool]time.Duration{true: 0, false: runTime} {
		synctest.Test(t, func(t *testing.T) {
			f := open(t, t.TempDir())
			write(t, f, savedText(0))
			f.IsLeft = isLeft
			for _, want := range []time.Duration{want, runTime} {
				now := time.Now()
				if err := os.Chtimes(f.Path(), now, now); err != nil { // the file's own clock goes on
					t.Fatal(err)
				}
				must.OK(t, must.Err(f.Claim(func(*State) error { return nil })))
				if took := time.Since(now); took < want || took > want+2*settlePoll {
					t.Errorf("left %t: it took %s, not %s", isLeft, took, want)
				}
				write(t, f, savedText(1))
			}
		})
	}
}

// shows says whether the file's prompt is that of save i.
func (s saveStyle) shows(t *testing.T, f *File, i int) bool {
	t.Helper()
	state, err := f.Load()
	must.OK(t, err)
	now, ok := s.isWhole(state.Prompt)
	return ok && now == i
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
