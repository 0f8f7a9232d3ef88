package decode

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// recording is a recorded stream.
type recording struct {
	name   string // folder/case
	file   string
	format Format
}

// allRecordings returns every recorded stream: those of a format such as
// "gemini-stream-json" are in testdata/gemini, and in folders such as testdata/gemini-old.
func allRecordings(t testing.TB) []recording {
	t.Helper()
	var all []recording
	for _, format := range Formats() {
		before := len(all)
		agent, _, _ := strings.Cut(string(format), "-")
		files, err := filepath.Glob(filepath.Join("..", "..", "testdata", agent+"*", "*.jsonl"))
		must.OK(t, err)
		for _, file := range files {
			folder := filepath.Base(filepath.Dir(file))
			isVariant := strings.HasPrefix(folder, agent+"-")
			if folder == agent || isVariant {
				all = append(all, recording{folder + "/" + strings.TrimSuffix(filepath.Base(file), ".jsonl"), file, format})
			}
		}
		if len(all) == before && format != FormatText { // every text is one
			t.Errorf("%s has no recording testdata/%s/*.jsonl", format, agent)
		}
	}
	return all
}

func (r recording) bytes(t testing.TB) []byte {
	t.Helper()
	data := must.Read(t, r.file)
	return data
}

// TestRecordedStreams compares the events of each recorded stream with the
// golden file next to it, one JSON object for each event.
func TestRecordedStreams(t *testing.T) {
	for _, rec := range allRecordings(t) {
		t.Run(rec.name, func(t *testing.T) {
			got := eventLines(t, decodeAll(t, rec.format, bytes.NewReader(rec.bytes(t))))
			golden := strings.TrimSuffix(rec.file, ".jsonl") + ".golden"
			if *update {
				must.OK(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (go test -update writes it)", err)
			}
			if got != string(want) {
				t.Errorf("events differ from %s: %s", golden, firstDifference(got, string(want)))
			}
		})
	}
}

// TestRecordingsAreExplained wants each folder to be in the list.
func TestRecordingsAreExplained(t *testing.T) {
	readme := must.Read(t, "../../testdata/README.md")
	for _, rec := range allRecordings(t) {
		folder, _, _ := strings.Cut(rec.name, "/")
		if !bytes.Contains(readme, []byte("\n| `"+folder+"/` | ")) {
			t.Errorf("testdata/README.md has no line for %s/", folder)
		}
	}
}

// eventLines writes events as they stand in golden files.
func eventLines(t testing.TB, events []stream.Event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		var fields bytes.Buffer
		enc := json.NewEncoder(&fields)
		enc.SetEscapeHTML(false)
		must.OK(t, enc.Encode(e))
		b.WriteString(`{"event":"` + reflect.TypeOf(e).Name() + `"`)
		if rest := strings.TrimPrefix(fields.String(), "{"); rest != "}\n" {
			b.WriteString(",")
		}
		b.WriteString(fields.String()[1:])
	}
	return b.String()
}

// firstDifference names the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		line := func(s []string) string {
			if i < len(s) {
				return s[i]
			}
			return "(nothing)"
		}
		if line(g) != line(w) {
			return "line " + strings.TrimSpace(line(g)) + "\nwant " + line(w)
		}
	}
	return "nowhere"
}
