package looplog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ralph-lsp/wire"
)

// itemOf is an update's item.
func itemOf(t *testing.T, u wire.Update) Item {
	t.Helper()
	line, err := wire.NewEncoder().Encode(u, false)
	if err != nil {
		t.Fatal(err)
	}
	return NewItem(u, bytes.Clone(line), 1)
}

func said(t *testing.T, text string) Item {
	return itemOf(t, wire.Chunk{SessionUpdate: wire.KindMessageChunk, MessageID: "m1", Content: wire.TextContent{Type: "text", Text: text}})
}

func warned(t *testing.T, text string) Item {
	return itemOf(t, wire.Warning{SessionUpdate: wire.KindWarning, Message: text})
}

// read reads a log from a cursor to its end, and returns what it says.
func read(t *testing.T, l *Live, after string) (text string, last Page) {
	t.Helper()
	for {
		page, err := l.Read(t.Context(), after, Options{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range page.Updates(false) {
			text += string(u) + "\n"
		}
		if after = page.Cursor; !page.More {
			return text, page
		}
	}
}

func TestALogWithoutAFile(t *testing.T) {
	l := NewLive(new(Pages), "l1", "", 0)
	l.Add(said(t, "one"))
	middle, _ := l.End()
	l.Gap()
	l.Add(warned(t, "two"))
	l.Settle(100) // it has no meaning
	all, _ := read(t, l, "")
	rest, page := read(t, l, middle)
	if !strings.Contains(all, "one") || !strings.Contains(all, "two") || strings.Contains(rest, "one") || !strings.Contains(rest, "two") || page.Complete {
		t.Errorf("all\n%s\nrest\n%s\n%+v", all, rest, page)
	}
	if l.Close(); l.InFile() {
		t.Error("it is said to be in a file")
	}
	if rest, page = read(t, l, page.Cursor); rest != "" || !page.Complete {
		t.Errorf("behind the end: %s, %+v", rest, page)
	}
}

// TestWhatIsForgottenBeforeItIsKept has more between two places than is kept: a
// client that misses a part of it waits until the file has it, any other goes on.
func TestWhatIsForgottenBeforeItIsKept(t *testing.T) {
	for _, kept := range []bool{true, false} {
		l := NewLive(new(Pages), "l1", filepath.Join(t.TempDir(), "session.jsonl"), 0)
		if !kept {
			l.Lose()
		}
		l.Add(said(t, "early"))
		missed, _ := l.End()
		for i := range maxLive/1000 + 100 {
			l.Add(warned(t, fmt.Sprint(i, strings.Repeat("x", 900))))
		}
		late, _ := l.End()
		l.Add(said(t, "late"))
		text, page := read(t, l, missed)
		switch {
		case kept && (text != "" || page.Cursor != missed):
			t.Errorf("%d bytes behind what is forgotten", len(text))
		case !kept && (!strings.Contains(text, "late") || strings.Contains(text, "early")):
			t.Errorf("no file will have it, and it can't be read: %d bytes", len(text))
		}
		if rest, _ := read(t, l, late); !strings.Contains(rest, `"late"`) || strings.Contains(rest, "xxx") {
			t.Errorf("behind %s: %.100s", late, rest)
		}
		if l.size > maxLive {
			t.Errorf("%d bytes are kept", l.size)
		}
	}
}

// TestADeletedSessionLosesNoClient has only what is live.
func TestADeletedSessionLosesNoClient(t *testing.T) {
	l := NewLive(new(Pages), "l1", filepath.Join(t.TempDir(), "gone.jsonl"), 50)
	l.Add(warned(t, "live"))
	for _, after := range []string{"", "foreign"} {
		if text, _ := read(t, l, after); !strings.Contains(text, "live") {
			t.Errorf("behind %q: %s", after, text)
		}
	}
}

// TestADiscardIsNotCounted has a message that is taken back between two others.
func TestADiscardIsNotCounted(t *testing.T) {
	l := NewLive(new(Pages), "l1", "x.jsonl", 0)
	l.Add(said(t, "taken back"))
	inside, _ := l.End()
	l.Add(itemOf(t, wire.Discard{SessionUpdate: wire.KindDiscard, MessageID: "m1"}))
	behind, _ := l.End()
	l.Add(said(t, "again"))
	for after, want := range map[string]int{"": 3, inside: 2, behind: 1} {
		if text, _ := read(t, l, after); strings.Count(text, "\n") != want || !strings.Contains(text, "again") {
			t.Errorf("behind %q %d updates are wanted: %s", after, want, text)
		}
	}
}

// TestEachUpdateHasItsKind looks for the updates of the wire in kindOf.
func TestEachUpdateHasItsKind(t *testing.T) {
	files, err := filepath.Glob("../wire/*.go")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("item.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func \((\w+)\) +update\(\)`).FindAllSubmatch(source, -1) {
			found++
			if name := string(m[1]); name != "Raw" && !regexp.MustCompile(`wire\.`+name+`\b`).Match(own) {
				t.Errorf("item.go doesn't say what a wire.%s is counted as", name)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d kinds of updates are found", found)
	}
}
