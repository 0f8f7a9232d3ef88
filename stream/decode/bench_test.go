package decode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// The benchmark inputs are made once, each in the shape of its recordings and
// always the same.
var (
	piOldStream = sync.OnceValue(func() []byte { return makePiOld(180 << 20) })
	piStream    = sync.OnceValue(func() []byte { return makePi(100 << 20) })
	claudeStrm  = sync.OnceValue(func() []byte { return makeClaude(100 << 20) })
)

// BenchmarkDecode compares decoding with a bare search for line ends over the
// same bytes, and with encoding/json into structs.
func BenchmarkDecode(b *testing.B) {
	for _, in := range []struct {
		name   string
		format Format
		data   func() []byte
		parse  func(line []byte) (text string)
	}{
		{"pi-before-0.84", FormatPi, piOldStream, parsePiStruct},
		{"pi", FormatPi, piStream, parsePiStruct},
		{"claude-partial", FormatClaude, claudeStrm, parseClaudeStruct},
	} {
		b.Run(in.name+"/scan", func(b *testing.B) {
			benchmark(b, in.data(), func(data []byte) { scanLines(data) })
		})
		b.Run(in.name+"/encoding-json", func(b *testing.B) {
			benchmark(b, in.data(), func(data []byte) { decodeWithStructs(b, data, in.parse) })
		})
		b.Run(in.name+"/ours", func(b *testing.B) {
			benchmark(b, in.data(), func(data []byte) { decode(b, in.format, bytes.NewReader(data)) })
		})
		b.Run(in.name+"/ours-by-read", func(b *testing.B) { // as from a pipe: each byte is copied once
			benchmark(b, in.data(), func(data []byte) { decode(b, in.format, struct{ io.Reader }{bytes.NewReader(data)}) })
		})
	}
}

func decode(b *testing.B, format Format, r io.Reader) {
	seen := 0
	must.OK(b, must.Err((Reader{Format: format, Handler: stream.HandlerFunc(func(stream.Event) { seen++ })}).Run(r)))
	if seen < 1000 {
		b.Fatalf("%d events", seen)
	}
}

// benchmark measures decode over data, with the allocations for each line.
func benchmark(b *testing.B, data []byte, decode func([]byte)) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		decode(data)
	}
	b.ReportMetric(float64(scanLines(data)), "lines/op")
}

func scanLines(data []byte) (lines int) {
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return lines
		}
		data = data[i+1:]
		lines++
	}
}

// decodeWithStructs is what one would write first.
func decodeWithStructs(b *testing.B, data []byte, parse func([]byte) string) {
	r := bufio.NewReaderSize(bytes.NewReader(data), 64<<10)
	texts := 0
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		must.OK(b, err)
		if parse(line) != "" {
			texts++
		}
	}
	if texts == 0 {
		b.Fatal("no text")
	}
}

func parsePiStruct(line []byte) string {
	var ev struct {
		Type                  string
		AssistantMessageEvent struct{ Type, Delta, Reason string }
		ToolCallID, ToolName  string
		Args                  json.RawMessage
		IsError               bool
	}
	if json.Unmarshal(line, &ev) != nil || ev.AssistantMessageEvent.Type != "text_delta" {
		return ""
	}
	return ev.AssistantMessageEvent.Delta
}

func parseClaudeStruct(line []byte) string {
	var ev struct {
		Type, Subtype string
		ParentID      *string `json:"parent_tool_use_id"`
		Message       json.RawMessage
		Event         struct {
			Type  string
			Delta struct{ Type, Text string }
		}
	}
	if json.Unmarshal(line, &ev) != nil || ev.Event.Delta.Type != "text_delta" {
		return ""
	}
	return ev.Event.Delta.Text
}

// deltas calls yield with pieces of 4 to 20 runes of an answer of so many bytes.
func deltas(rng *rand.Rand, bytes int, yield func(delta string)) {
	words := strings.Fields(`patch, while keeps flow loop état with façade <tags>, output → checks "quoted" tests\n 日本語`)
	var pending []rune
	for done := 0; done < bytes; {
		for len(pending) < 20 {
			pending = append(pending, []rune(words[rng.IntN(len(words))]+" ")...)
		}
		n := 4 + rng.IntN(17)
		delta := string(pending[:n])
		pending = pending[n:]
		done += len(delta)
		yield(delta)
	}
}

// quoteJSON returns s as pi and claude write it: without escaping HTML.
func quoteJSON(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

const piUsageJSON = `{"input":1000,"output":200,"cacheRead":5000,"cacheWrite":300,"totalTokens":6500,"cost":` +
	`{"input":0.003,"output":0.003,"cacheRead":0.0015,"cacheWrite":0.001125,"total":0.008624999999999999},"cacheWrite1h":0}`

// piMessageJSON is an assistant message with one text block.
func piMessageJSON(text string) string {
	return `{"role":"assistant","content":[{"type":"text","text":` + text + `,"index":0}],"api":"anthropic-messages",` +
		`"provider":"fake","model":"fake-model","usage":` + piUsageJSON +
		`,"stopReason":"stop","timestamp":1795173673198,"responseId":"msg_fake_1795173673239140143"}`
}

// makePiOld makes answers of 50 kB, each line with two snapshots of the text.
func makePiOld(size int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var out bytes.Buffer
	out.Grow(size + size/8)
	for out.Len() < size {
		var text strings.Builder
		deltas(rng, 50_000, func(delta string) {
			quoted := quoteJSON(delta)
			text.WriteString(quoted[1 : len(quoted)-1])
			message := piMessageJSON(`"` + text.String() + `"`)
			out.WriteString(`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":`)
			out.WriteString(quoted + `,"partial":` + message + `},"message":` + message + "}\n")
		})
		message := piMessageJSON(`"` + text.String() + `"`)
		out.WriteString(`{"type":"message_end","message":` + message + "}\n")
		out.WriteString(`{"type":"turn_end","message":` + message + `,"toolResults":[]}` + "\n")
	}
	return out.Bytes()
}

// makePi makes answers of 100 kB as pi writes them since 0.84.
func makePi(size int) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	var out bytes.Buffer
	for out.Len() < size {
		var text strings.Builder
		deltas(rng, 100_000, func(delta string) {
			text.WriteString(delta)
			out.WriteString(`{"type":"message_update","usage":` + piUsageJSON +
				`,"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":` + quoteJSON(delta) + "}}\n")
		})
		message := piMessageJSON(quoteJSON(text.String()))
		out.WriteString(`{"type":"message_end","message":` + message + "}\n")
		out.WriteString(`{"type":"turn_end","message":` + message + `,"toolResults":[]}` + "\n")
	}
	return out.Bytes()
}

// makeClaude makes answers of 100 kB as claude writes them with partial messages.
func makeClaude(size int) []byte {
	rng := rand.New(rand.NewPCG(5, 6))
	var out bytes.Buffer
	for n := 0; out.Len() < size; n++ {
		id := fmt.Sprintf("msg_fake_%019d", n)
		tail := `"session_id":"2f2a3142-4ab5-4c02-8fad-e251800de6dc","parent_tool_use_id":null,` +
			`"uuid":"38fd68a5-0e06-4954-999d-bfaab2d2cef3","api_message_id":"` + id + "\"}\n"
		var text strings.Builder
		out.WriteString(`{"type":"stream_event","event":{"message":{"content":[],"id":"` + id + `"},"type":"message_start"},` + tail)
		deltas(rng, 100_000, func(delta string) {
			text.WriteString(delta)
			out.WriteString(`{"type":"stream_event","event":{"delta":{"text":` + quoteJSON(delta) +
				`,"type":"text_delta"},"index":0,"type":"content_block_delta"},` + tail)
		})
		out.WriteString(`{"type":"assistant","message":{"content":[{"text":` + quoteJSON(text.String()) +
			`,"type":"text"}],"id":"` + id + `","role":"assistant"},` + tail)
		out.WriteString(`{"type":"stream_event","event":{"type":"message_stop"},` + tail)
	}
	return out.Bytes()
}
