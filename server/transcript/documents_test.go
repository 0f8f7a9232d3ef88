package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const uri = "ralph-loop:/l1/Ralph%20app.md"

// story is a loop's log in which each update is a message, and a part by itself.
type story struct {
	texts []string
	bytes int64 // of a part
	reads int   // updates that were read
	reset bool  // the next read begins anew
	asked journal.Options
}

func (s *story) Read(_ context.Context, after string, o journal.Options) (page journal.Page, err error) {
	s.asked = o
	from, _ := strconv.Atoi(after)
	if s.reset {
		s.reset, page.Reset, from = false, true, 0
	}
	for i := from; i < len(s.texts) && len(page.Items) < 2; i++ {
		text, err := json.Marshal(wire.Chunk{SessionUpdate: wire.KindMessageChunk, MessageID: fmt.Sprint(i), Content: wire.TextContent{Text: s.texts[i]}})
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, journal.Item{JSON: text})
	}
	s.reads += len(page.Items)
	at := from + len(page.Items)
	page.Cursor, page.More = strconv.Itoa(at), at < len(s.texts)
	return page, nil
}

func (s *story) Outline(context.Context) (o wire.Outline, err error) {
	for i := range s.texts {
		o.Parts = append(o.Parts, wire.LogPart{Cursor: strconv.Itoa(i), Bytes: s.bytes})
	}
	return o, nil
}

func documents(ed *clienttest.Editor, s *story) *Documents {
	return New(ed, func(_ context.Context, loopID string) (service.Log, error) {
		if loopID != "l1" {
			return service.Log{}, errors.New("there is no loop " + loopID)
		}
		return service.Log{LoopID: loopID, Goes: true, Reader: s}, nil
	})
}

// refreshes is how often the editor was told of news.
func refreshes(ed *clienttest.Editor) int {
	synctest.Wait() // what is due at this moment may still be told
	n := 0
	for _, m := range ed.Got {
		if m.Method == methodRefresh && fmt.Sprint(m.Params) == "{"+uri+"}" {
			n++
		}
	}
	return n
}

// A document follows its loop: the editor is told of news, and asks again. What was read isn't read again.
func TestADocumentFollowsItsLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed, s := &clienttest.Editor{}, &story{}
		d := documents(ed, s)
		shows := func(want string) {
			t.Helper()
			if got, err := d.Content(t.Context(), uri); got != want || err != nil {
				t.Errorf("it shows %q, %v, want %q", got, err, want)
			}
		}
		shows("*Nothing has been said yet.*\n")
		s.texts = []string{"a", "b", "c"}
		for range 100 {
			d.Changed("l1")
			d.Changed("l2")
		}
		time.Sleep(time.Second)
		if n := refreshes(ed); n != 1 {
			t.Errorf("it was told %d times of news that came at once", n)
		}
		shows("a\n\nb\n\nc\n\n")
		d.Changed("l2")
		time.Sleep(time.Second)
		for i := range 10 {
			s.texts = append(s.texts, "d")
			d.Changed("l1")
			time.Sleep(time.Second)
			shows("a\n\nb\n\nc\n\n" + strings.Repeat("d\n\n", i+1))
		}
		if n := refreshes(ed); n != 11 || s.reads != 13 || s.asked.Thinking {
			t.Errorf("told %d times, and %d updates were read, with %+v", n, s.reads, s.asked)
		}
		if _, err := d.Content(t.Context(), uri+"?thinking"); err != nil || !s.asked.Thinking {
			t.Errorf("the model's reasoning, too: %+v, %v", s.asked, err)
		}
		s.texts, s.reset = []string{"anew"}, true
		shows("anew\n\n")
	})
}

// An editor isn't told for ever of a document that it has closed.
func TestAClosedDocumentIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed, s := &clienttest.Editor{}, &story{texts: []string{"a"}}
		d := documents(ed, s)
		open := func() {
			if _, err := d.Content(t.Context(), uri); err != nil {
				t.Error(err)
			}
			for range 100 {
				d.Changed("l1")
				time.Sleep(time.Second)
			}
		}
		open()
		was := refreshes(ed)
		if was < 2 || was > maxUnasked+1 {
			t.Errorf("it was told %d times", was)
		}
		open()
		if n := refreshes(ed); n != 2*was {
			t.Errorf("one that is open again is told of news %d times, want %d", n-was, was)
		}
	})
}

// Only the end of a long story is read, and the documents of few loops are remembered.
func TestALongStoryIsReadFromItsEnd(t *testing.T) {
	s := &story{texts: []string{"a", "b", "c", "d"}, bytes: maxRead / 2}
	d := documents(&clienttest.Editor{}, s)
	if got, err := d.Content(t.Context(), uri); got != "*... the beginning is not kept ...*\n\nc\n\nd\n\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for i := range 3 * maxOpen {
		must.OK(t, must.Err(d.Content(t.Context(), fmt.Sprintf("%s?%d", uri, i))))
	}
	if len(d.open) > maxOpen {
		t.Errorf("%d documents are remembered", len(d.open))
	}
}

func TestWhatIsNoTranscriptIsRefused(t *testing.T) {
	d := documents(&clienttest.Editor{}, &story{})
	for uri, want := range map[string]string{"file:///w/a.md": "names no transcript", "ralph-loop:/l9": "there is no loop l9", "ralph-loop:%": "names no transcript"} {
		if _, err := d.Content(t.Context(), uri); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
