package journal

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// flooded tells so much of a loop that the older part of its journal goes, several times.
func flooded(t *testing.T) (l told, path string, iterations int) {
	t.Helper()
	dir := inHome(t)
	l = begin("ralph-a")
	l.log.limit = 64 << 10
	for n := 1; n <= 24; n++ {
		l.HandleLoop(loop.IterationStart{Iteration: n})
		for range 40 {
			l.say("m", strings.Repeat("word ", 30))
			l.log.flush()
		}
		l.HandleLoop(loop.IterationEnd{Iteration: n, Outcome: loop.OutcomeOK})
		l.log.flush()
	}
	return l, filepath.Join(dir, FileOf("ralph-a")), 24
}

func TestAJournalIsBounded(t *testing.T) {
	l, path, iterations := flooded(t)
	reader, err := Open("ralph-a")
	if err != nil {
		t.Fatal(err)
	}
	if size := reader.Size(); size > 64<<10+maxUnwritten || size < 16<<10 {
		t.Errorf("its file has %d bytes", size)
	}
	for name, from := range map[string]readable{"here": l.log, "another process": reader} {
		said, last := all(t, from, "", Options{})
		if last.Cursor != l.log.End() {
			t.Errorf("%s: it ends at %s, want %s", name, last.Cursor, l.log.End())
		}
		at := slices.IndexFunc(said, func(line string) bool { return strings.HasSuffix(line, " note") })
		if at < 0 || at+1 == len(said) {
			t.Fatalf("%s: nothing says what is missing: %q", name, said[0])
		}
		if !strings.HasSuffix(said[at+1], " iteration begin") {
			t.Errorf("%s: what is kept begins with %q", name, said[at+1])
		}
		for _, line := range said[:at] {
			if !strings.Contains(line, " iteration ") {
				t.Errorf("%s: before it is %q", name, line)
			}
		}
	}
	here, err := l.log.Outline(t.Context())
	if err != nil || len(here.Iterations) != iterations {
		t.Errorf("an outline has %d iterations (%v), want %d", len(here.Iterations), err, iterations)
	}
	if len(here.Parts) == 0 {
		t.Fatal("it has no parts")
	}
	if page, err := reader.Read(t.Context(), here.Parts[0].Cursor, Options{}); err != nil || page.Reset {
		t.Errorf("its first part isn't there: %v", err)
	}
	l.end()
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("left is %v", files)
	}
}

// Who was told a part that is gone begins at what is there, and learns that; who has been told
// more doesn't notice.
func TestACursorInWhatIsDropped(t *testing.T) {
	inHome(t)
	l := begin("ralph-a")
	l.log.limit = 64 << 10
	slow, quick := l.log.Follow(l.log.Begun(), 0), l.log.Follow(l.log.Begun(), 0)
	l.iterate(1)
	if _, _, err := slow.Next(t.Context(), Options{}); err != nil {
		t.Fatal(err)
	}
	var lines int
	for n := 2; n <= 30; n++ {
		l.iterate(n)
		for range 40 {
			l.say("m", strings.Repeat("word ", 30))
			l.log.flush()
		}
		for more := true; more; {
			page, after, err := quick.Next(context.Background(), Options{})
			if err != nil || page.Reset || after == "" {
				t.Fatalf("who follows is told %+v behind %q (%v)", page, after, err)
			}
			lines += len(page.Items)
			more = page.More
		}
	}
	if page, after, err := slow.Next(t.Context(), Options{}); err != nil || !page.Reset || after != "" || len(page.Items) == 0 {
		t.Errorf("who lags is told %d updates behind %q, reset %t (%v)", len(page.Items), after, page.Reset, err)
	}
	reader, _ := Open("ralph-a")
	if page, err := reader.Read(t.Context(), l.log.Begun(), Options{}); err != nil || !page.Reset {
		t.Errorf("another process is told reset %t (%v)", page.Reset, err)
	}
	end, err := reader.End()
	if err != nil || end != l.log.End() {
		t.Errorf("the end is %s, want %s (%v)", end, l.log.End(), err)
	}
}

// A loop that goes on writes on where it was.
func TestALoopGoesOnWithABoundedJournal(t *testing.T) {
	l, _, _ := flooded(t)
	before, _ := all(t, l.log, "", Options{})
	at := l.log.End()
	l.log.Close()
	next := begin("ralph-a")
	if got := next.log.Begun(); got != at {
		t.Errorf("it begins at %s, want %s", got, at)
	}
	next.iterate(25)
	after, page := all(t, next.log, at, Options{Thinking: true})
	same(t, "behind it", after, iteration(25))
	if page.Reset {
		t.Error("its reader begins anew")
	}
	whole, _ := all(t, next.log, "", Options{Thinking: true})
	same(t, "all of it", whole, append(before, after...))
}

// Where another file can't be put into its place, the journal stays whole.
func TestAJournalThatCantBeTrimmed(t *testing.T) {
	dir := inHome(t)
	l := begin("ralph-a")
	l.log.limit = 4 << 10
	l.log.path = filepath.Join(dir, "nowhere", "it")
	for range 50 {
		l.say("m", strings.Repeat("word ", 60))
		l.log.flush()
	}
	reader, err := Open("ralph-a")
	if err != nil {
		t.Fatal(err)
	}
	if page, err := reader.Read(t.Context(), "", Options{}); err != nil || page.Skipped != 0 || reader.Size() < 15_000 {
		t.Errorf("%d bytes, %d skipped (%v)", reader.Size(), page.Skipped, err)
	}
	if l.log.failure() != nil || len(l.watcher.warnings) > 0 {
		t.Error("its user is warned")
	}
}
