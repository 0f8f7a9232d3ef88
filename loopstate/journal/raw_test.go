package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Lines are what the file has, and the same is read of them as of that.
func TestLinesAreTheFile(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	r := NewRecorder(&watcher{})
	log := r.Open("ralph-raw", true)
	from, other := log.Follow(log.Begun(), 0), log.Follow(log.Begun(), 0)
	var all, buf []byte
	var progress []Item
	take := func() (isOver bool) {
		for {
			l, err := from.Lines(buf)
			if err != nil || l.Lost {
				t.Fatal(l.Lost, err)
			}
			all, buf, progress = append(all, l.Data...), l.Data, append(progress, l.Progress...)
			if l.Behind == 0 {
				return l.Complete
			}
		}
	}
	r.HandleLoop(loop.IterationStart{Iteration: 1})
	r.Handle(stream.Text{MessageID: "m", Delta: "one"})
	take()
	r.Handle(stream.Text{MessageID: "m", Delta: strings.Repeat("two ", 300_000)})
	r.Handle(stream.Thinking{MessageID: "m", Delta: "hm"})
	r.Handle(stream.ToolCall{ID: "t", Name: "bash"})
	r.Handle(stream.ToolProgress{ID: "t", Output: "so far"})
	if take() {
		t.Error("it is over before its end")
	}
	if len(progress) != 1 || !bytes.Contains(progress[0].JSON, []byte("so far")) {
		t.Errorf("progress: %+v", progress)
	}
	data, err := json.Marshal(progress[0])
	var again Item
	if err != nil || json.Unmarshal(data, &again) != nil || string(again.JSON) != string(progress[0].JSON) || again.Iteration != 1 || again.At.UnixMilli() != progress[0].At.UnixMilli() {
		t.Errorf("%s arrives as %+v, %v", data, again, err)
	}
	r.HandleLoop(loop.End{})
	if !take() {
		t.Error("it isn't over")
	}
	file, err := os.ReadFile(log.path)
	if _, lines, _ := bytes.Cut(file, []byte("\n")); err != nil || !bytes.Equal(lines, all) {
		t.Errorf("%d bytes of %d, %v", len(all), len(lines), err)
	}
	var want []Item
	for {
		page, _, err := other.Next(t.Context(), Options{})
		must.OK(t, err)
		if want = append(want, page.Items...); !page.More {
			break
		}
	}
	var told Backlog
	told.Add(all, log.End(), false)
	var got Page
	for told.Len() > 0 {
		page, _ := told.Next(Options{})
		got.Items, got.Skipped = append(got.Items, page.Items...), got.Skipped+page.Skipped
	}
	if diff := cmp.Diff(texts(want), texts(got.Items)); diff != "" || got.Skipped > 0 {
		t.Error(diff)
	}
}

// texts are items without where they were cut.
func texts(items []Item) (all []string) {
	for _, it := range items {
		if !it.Text {
			all = append(all, string(it.JSON))
		}
	}
	return all
}
