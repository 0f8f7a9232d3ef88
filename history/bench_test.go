package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// nothing is a Handler that looks at nothing.
type nothing struct{}

func (nothing) Handle(stream.Event) {}
func (nothing) HandleRecord(Record) {}

// longLoop hands the events of a loop on that has about so many bytes of text
// and output: turns with a paragraph in small pieces and a tool's output of 4 KB
// that grows.
func longLoop(size int, h Handler) {
	paragraph := strings.Fields(strings.Repeat("the parser reads \"quoted\" lines\nand keeps their ends; naïve ones don't. ", 8))
	output := strings.Repeat("ok  \tralph-lsp/stream\t0.123s\tcoverage: 93.1% of statements in \"./...\"\n", 56)
	h.HandleRecord(LoopStart{LoopID: "ralph-long", Backend: "pi", Title: "Work for long"})
	for turn, done := 0, 0; done < size; turn++ {
		if turn%50 == 0 {
			h.HandleRecord(begins(turn/50 + 1))
			h.HandleRecord(Input{Kind: InputCallback, Text: "Work for long"})
			h.Handle(stream.SessionStart{Backend: "pi", Provider: "anthropic", Model: "m"})
		}
		message, call := fmt.Sprintf("m%d", turn%50+1), fmt.Sprintf("toolu_%d", turn)
		for _, word := range paragraph {
			h.Handle(stream.Text{Delta: word + " ", MessageID: message})
		}
		text := strings.Join(paragraph, " ") + " "
		h.Handle(stream.MessageEnd{MessageID: message, Text: text})
		h.Handle(stream.ToolCall{ID: call, Name: "bash", Input: json.RawMessage(`{"command":"go test -race -cover ./..."}`)})
		for part := 1; part <= 4; part++ {
			h.Handle(stream.ToolProgress{ID: call, Output: output[:len(output)*part/4]})
		}
		h.Handle(stream.ToolResult{ID: call, Output: output})
		h.Handle(stream.TurnEnd{StopReason: "toolUse", Usage: stream.Usage{Tokens: stream.Tokens{Input: 100, Output: 200}, Cost: stream.USD(0.01)}})
		done += len(text) + len(output)
		if turn%50 == 49 {
			h.HandleRecord(ends(turn/50+1, "ok", stream.Cost{}))
		}
	}
	h.HandleRecord(LoopEnd{StopReason: "promise"})
}

// eventLog writes every event as a line, as a program does that keeps all.
type eventLog struct{ enc *json.Encoder }

type loggedEvent struct {
	Event string
	Data  any
}

func (l eventLog) Handle(e stream.Event) { l.log(e) }
func (l eventLog) HandleRecord(r Record) { l.log(r) }
func (l eventLog) log(e any) {
	if err := l.enc.Encode(loggedEvent{reflect.TypeOf(e).Name(), e}); err != nil {
		panic(err)
	}
}

// BenchmarkReload reads a session of more than 100 MB: its bytes alone, all
// that it holds, and, for comparison, a log of all events of the same loop.
func BenchmarkReload(b *testing.B) {
	const size = 75 << 20 // of text and output; JSON makes more of it
	dir := b.TempDir()
	w, err := NewWriter(Options{Folder: dir}, dir)
	if err != nil {
		b.Fatal(err)
	}
	longLoop(size, w)
	if err := errors.Join(w.Close(), w.Err()); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(w.Path())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read-into-one-buffer", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			readAll(b, w.Path())
		}
	})
	b.Run("read-into-memory", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			if _, err := os.ReadFile(w.Path()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("reload", func(b *testing.B) {
		b.SetBytes(info.Size())
		b.ReportAllocs()
		for b.Loop() {
			reload(b, w.Path())
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapSys-m.HeapReleased)/(1<<20), "heap-MiB")
	})
	b.Run("first-100-events", func(b *testing.B) {
		for b.Loop() {
			r, err := NewReader(w.Path())
			if err != nil {
				b.Fatal(err)
			}
			for range 100 {
				r.Next(nothing{})
			}
			r.Close()
		}
	})
	b.Run("event-log", func(b *testing.B) { benchEventLog(b, size, info.Size()) })
}

func benchEventLog(b *testing.B, size int, sessionSize int64) {
	file, err := os.Create(filepath.Join(b.TempDir(), "events.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	longLoop(size/10, eventLog{json.NewEncoder(file)}) // a tenth is enough, and takes long enough
	info, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		dec := json.NewDecoder(file)
		for {
			var e struct {
				Event string
				Data  map[string]any
			}
			if err := dec.Decode(&e); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(10*float64(info.Size())/float64(sessionSize), "bytes/session-byte")
	b.ReportMetric(10*b.Elapsed().Seconds()*1000/float64(b.N), "ms-for-all")
}

func readAll(b *testing.B, path string) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for buf := make([]byte, lineBuffer); err == nil; {
		_, err = f.Read(buf)
	}
}

func reload(b *testing.B, path string) {
	r, err := NewReader(path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for r.Next(nothing{}) {
	}
	if r.Err() != nil || r.Skipped() > 0 {
		b.Fatal(r.Err(), r.Skipped())
	}
}

// BenchmarkWriter writes a loop's events.
func BenchmarkWriter(b *testing.B) {
	const size = 4 << 20
	b.SetBytes(size)
	for b.Loop() {
		dir := b.TempDir()
		w, err := NewWriter(Options{Folder: dir}, dir)
		if err != nil {
			b.Fatal(err)
		}
		longLoop(size, w)
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList lists a folder with 10,000 loops.
func BenchmarkList(b *testing.B) {
	const sessions = 10_000
	dir, cwd := b.TempDir(), paths.Real(b.TempDir())
	w, err := NewWriter(Options{Folder: dir}, cwd)
	if err != nil {
		b.Fatal(err)
	}
	longLoop(100<<10, w)
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	content, err := os.ReadFile(w.Path())
	if err != nil {
		b.Fatal(err)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	short := bytes.Join(bytes.SplitAfter(content, []byte{'\n'})[:6], nil)
	last := content[bytes.LastIndexByte(content[:len(content)-1], '\n')+1:]
	content = append(append(short, bytes.Repeat([]byte(`{"type":"label"}`+"\n"), 600)...), last...) // 15 KB
	for i := range sessions - 1 {
		name := strings.NewReplacer(":", "-", ".", "-").Replace(stamp(start.Add(time.Duration(i)*time.Minute))) + "_x.jsonl"
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("prompts", func(b *testing.B) {
		for b.Loop() {
			if found, err := Prompts(Options{Folder: dir}, cwd); err != nil || len(found) != 1 || found[0].Uses != promptFiles {
				b.Fatal(found, err)
			}
		}
	})
	for _, limit := range []int{0, 50} {
		b.Run(fmt.Sprintf("limit-%d", limit), func(b *testing.B) {
			for b.Loop() {
				found, err := List(Options{Folder: dir}, cwd, limit, true)
				if err != nil || limit == 0 && len(found) != sessions || found[0].End == nil {
					b.Fatal(len(found), err)
				}
			}
		})
	}
}
