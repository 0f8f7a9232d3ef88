package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/lines"
)

func TestSameEventsHoweverTheInputArrives(t *testing.T) {
	for _, rec := range allRecordings(t) {
		data := rec.bytes(t)
		if len(data) > 50_000 {
			continue // the others are long enough
		}
		want := eventLines(t, decodeAll(t, rec.format, bytes.NewReader(data)))
		for way, reader := range waysToRead {
			if got := eventLines(t, decodeAll(t, rec.format, reader(data))); got != want {
				t.Errorf("%s %s: %s", rec.name, way, firstDifference(got, want))
			}
		}
		crlf := bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		if got := eventLines(t, decodeAll(t, rec.format, bytes.NewReader(crlf))); got != want {
			t.Errorf("%s with CRLF: %s", rec.name, firstDifference(got, want))
		}
		bom := append([]byte("\uFEFF"), data...)
		if got := eventLines(t, decodeAll(t, rec.format, bytes.NewReader(bom))); got != want {
			t.Errorf("%s with a byte order mark: %s", rec.name, firstDifference(got, want))
		}
	}
}

// TestShownTextIsTheMessage checks over all recordings that what was shown of a
// message adds up to what its end says.
func TestShownTextIsTheMessage(t *testing.T) {
	for _, rec := range allRecordings(t) {
		shown := map[string]string{}
		for _, e := range decodeAll(t, rec.format, bytes.NewReader(rec.bytes(t))) {
			switch e := e.(type) {
			case stream.Text:
				shown[e.MessageID] += e.Delta
			case stream.MessageEnd:
				if !e.Discarded && shown[e.MessageID] != e.Text {
					t.Errorf("%s: message %s was shown as %q and ended as %q", rec.name, e.MessageID, shown[e.MessageID], e.Text)
				}
			}
		}
	}
}

func TestBadLinesSpoilOnlyThemselves(t *testing.T) {
	good := piDelta("text_delta", "hi")
	for name, tt := range map[string]struct {
		line    string
		skipped int
		shown   string // of the line itself
	}{
		"echo of a terminal":    {"typed\r", 1, ""},
		"no JSON":               {"Error: something", 1, ""},
		"cut JSON":              {`{"type":"turn_end","message":{"stopReason":"st`, 1, ""},
		"trailing garbage":      {`{"type":"agent_settled"} x`, 1, ""},
		"cut delta":             {`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"h`, 1, ""},
		"array":                 {`[1,2]`, 1, ""},
		"number":                {`12`, 1, ""},
		"broken unknown event":  {`{"type":"new","x":[}`, 1, ""},
		"blank":                 {" \t", 0, ""},
		"no type":               {`{"hello":1}`, 0, ""},
		"type of another type":  {`{"type":5}`, 0, ""},
		"unknown type":          {`{"type":"new","x":[1]}`, 0, ""},
		"invalid UTF-8":         {piDelta("text_delta", "a\xffb"), 0, "a\uFFFDb"},
		"line separator":        {piDelta("text_delta", "a\u2028b"), 0, "a\u2028b"},
		"delta is null":         {strings.Replace(good, `"hi"`, `null`, 1), 0, ""},
		"event of another type": {`{"type":"message_update","assistantMessageEvent":"text_delta"}`, 0, ""},
		"message is a string":   {`{"type":"message_end","message":"x"}`, 0, ""},
	} {
		events, result := decodeLines(t, FormatPi, good, tt.line, good, piSettled)
		if liveText(events) != "hi"+tt.shown+"hi" || result.SkippedLines != tt.skipped || result.Lines != 4 || !result.Terminal {
			t.Errorf("%s: showed %q, %d of %d lines skipped, terminal %t", name, liveText(events), result.SkippedLines, result.Lines, result.Terminal)
		}
	}
}

func TestTooLongLinesAreSkippedAndCounted(t *testing.T) {
	long := io.MultiReader(strings.NewReader(piSession+"\n"), io.LimitReader(endless('x'), lines.Max+2), strings.NewReader("\n"+piSettled+"\n"))
	result, err := Reader{Format: FormatPi}.Run(long)
	if err != nil || result.SkippedLines != 1 || result.Lines != 3 || !result.Terminal {
		t.Errorf("result %+v, error %v", result, err)
	}
}

// endless is a reader of one byte for ever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestCutOffStream(t *testing.T) {
	for name, tt := range map[string]struct {
		end      string
		cut      bool
		terminal bool
		skipped  int
	}{
		"whole":                       {piSettled + "\n", false, true, 0},
		"without the last line's end": {piSettled, true, true, 0},
		"in mid-line":                 {piSettled[:10], true, false, 1},
		"terminal sequence":           {piSettled + "\n\x1b[?25h", false, true, 0},
		"white space":                 {piSettled + "\n  ", false, true, 0},
	} {
		result, err := Reader{Format: FormatPi}.Run(strings.NewReader(piAgentStart + "\n" + tt.end))
		if err != nil || result.CutOff != tt.cut || result.Terminal != tt.terminal || result.SkippedLines != tt.skipped || (result.Failure == nil) != tt.terminal {
			t.Errorf("%s: %+v, error %v", name, result, err)
		}
	}
}

// A run that is ended while a tool is at work says which.
func TestTheToolThatWasAtWork(t *testing.T) {
	for _, tt := range []struct {
		events []stream.Event
		want   string
	}{
		{nil, ""},
		{[]stream.Event{call("1", "make")}, "bash make"},
		{[]stream.Event{call("1", "make"), call("2", "go test"), stream.ToolResult{ID: "2"}}, "bash make"},
		{[]stream.Event{call("1", "make"), call("2", "go test"), stream.ToolResult{ID: "1"}}, "bash go test"},
		{[]stream.Event{call("1", "make"), stream.ToolResult{ID: "1"}}, ""},
	} {
		run := readerRun{Reader: Reader{Format: FormatPi}}
		for _, e := range tt.events {
			run.emit(e)
		}
		if got := run.result(nil).AtWork; got != tt.want {
			t.Errorf("%d events: %q, want %q", len(tt.events), got, tt.want)
		}
	}
	run := readerRun{Reader: Reader{Format: FormatPi}}
	for i := range 10 * maxOpenCalls {
		run.emit(call(strconv.Itoa(i), "make"))
	}
	if len(run.summary.open) != maxOpenCalls {
		t.Errorf("%d calls are remembered", len(run.summary.open))
	}
}

func call(id, command string) stream.ToolCall {
	input, _ := json.Marshal(map[string]string{"command": command}) // texts can always be encoded
	return stream.ToolCall{ID: id, Name: "bash", Input: input}
}

// TestACutOffEventIsAFailure cuts real streams inside their last lines, where
// the agent has said all that it had to say, its promise included.
func TestACutOffEventIsAFailure(t *testing.T) {
	for _, tt := range []struct {
		format Format
		file   string
		isLast func(line string) bool // the event that says that all is done
	}{
		{FormatPi, "pi/plain.jsonl", func(l string) bool { return strings.Contains(l, `"type":"agent_end"`) }},
		{FormatPi, "pi/plain.jsonl", func(l string) bool { return strings.Contains(l, `"type":"agent_settled"`) }},
		{FormatPi, "pi-old/plain.jsonl", func(l string) bool { return strings.Contains(l, `"type":"agent_end"`) }},
		{FormatClaude, "claude/plain.jsonl", func(l string) bool { return strings.Contains(l, `"type":"result"`) }},
		{FormatOpencode, "opencode/tools.jsonl", func(l string) bool { return strings.Contains(l, `"reason":"stop"`) }},
		{FormatCodex, "codex/tools.jsonl", func(l string) bool { return strings.Contains(l, `"turn.completed"`) }},
		{FormatGemini, "gemini/tools.jsonl", func(l string) bool { return strings.Contains(l, `"type":"result"`) }},
	} {
		data := must.Read(t, "../../testdata/"+tt.file)
		lines := strings.SplitAfter(string(data), "\n")
		at := slices.IndexFunc(lines, tt.isLast)
		if at < 0 {
			t.Fatalf("%s: no such event", tt.file)
		}
		before, last := strings.Join(lines[:at], ""), strings.TrimSpace(lines[at])
		for _, length := range []int{1, len(last) / 2, len(last) - 1} {
			result, err := Reader{Format: tt.format}.Run(strings.NewReader(before + last[:length]))
			if err != nil || result.Terminal || !result.CutOff || result.Failure == nil || result.Failure.Kind != stream.KindServer || !strings.Contains(result.Failure.Message, "cut off") {
				t.Errorf("%s, cut at %d of %s: %+v, %+v, error %v", tt.file, length, last[:10], result.Failure, result, err)
			}
		}
		result, err := Reader{Format: tt.format}.Run(strings.NewReader(string(data) + "bye"))
		if err != nil || !result.Terminal || result.Failure != nil || !result.CutOff {
			t.Errorf("%s with a word behind it: %+v, error %v", tt.file, result, err)
		}
		result, err = Reader{Format: tt.format}.Run(strings.NewReader(strings.TrimSpace(string(data))))
		if err != nil || !result.Terminal || result.Failure != nil {
			t.Errorf("%s without the last line's end: %+v, error %v", tt.file, result, err)
		}
	}
}

func TestCompleteComesInEveryCase(t *testing.T) {
	broken := errors.New("broken")
	for name, rd := range map[string]struct {
		format Format
		in     io.Reader
		want   error
	}{
		"empty":          {FormatClaude, strings.NewReader(""), nil},
		"read error":     {FormatPi, io.MultiReader(strings.NewReader(piSession+"\n"+piDelta("text_delta", "hi")), iotest.ErrReader(broken)), broken},
		"unknown format": {"xml", strings.NewReader("x"), nil},
	} {
		var c collector
		result, err := Reader{Format: rd.format, Handler: &c}.Run(rd.in)
		last, ok := c.events[len(c.events)-1].(stream.Complete)
		if !ok || len(only[stream.Complete](c.events)) != 1 || last.Result.Lines != result.Lines {
			t.Errorf("%s: events %+v, want one Complete at the end", name, c.events)
		}
		if result.Failure == nil || rd.want != nil && !errors.Is(err, rd.want) || (err != nil) != (rd.want != nil || !rd.format.Valid()) {
			t.Errorf("%s: result %+v, error %v", name, result, err)
		}
		if name == "read error" && (liveText(c.events) != "hi" || !strings.Contains(result.Failure.Message, "broken")) {
			t.Errorf("%s: showed %q, failure %+v", name, liveText(c.events), result.Failure)
		}
	}
}

func TestOnLineComesForEveryLine(t *testing.T) {
	lines := 0
	rd := Reader{Format: FormatPi, OnLine: func(bool) { lines++ }}
	result, err := rd.Run(strings.NewReader(piSession + "\n\n\x1b[31mgarbage\n" + piSettled))
	if err != nil || lines != 4 || result.Lines != 4 || result.SkippedLines != 1 {
		t.Errorf("%d lines seen, result %+v, error %v", lines, result, err)
	}
}

// lineRepeater is a stream of n equal lines.
type lineRepeater struct {
	line []byte
	n    int
	rest []byte
}

func (r *lineRepeater) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.rest) == 0 {
			if r.n == 0 {
				return n, io.EOF
			}
			r.rest, r.n = r.line, r.n-1
		}
		c := copy(p[n:], r.rest)
		n, r.rest = n+c, r.rest[c:]
	}
	return n, nil
}

func TestMemoryDoesNotGrowWithTheStream(t *testing.T) {
	const size, limit = 50 << 20, 8 << 20
	snapshot := piMessageJSON(`"` + strings.Repeat("text so far ", 4000) + `"`)
	for name, in := range map[string]struct {
		line     string
		perEvent uint64 // bytes that may be allocated for each line
	}{
		"with snapshots":       {`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"hello","partial":` + snapshot + `},"message":` + snapshot + `}`, 100},
		"one endless message":  {piDelta("text_delta", strings.Repeat("x", 100)), 48 + 112 + 20},
		"one endless tool run": {`{"type":"tool_execution_update","toolCallId":"t","partialResult":{"content":[{"type":"text","text":""}],"details":"` + strings.Repeat("x", 10_000) + `"}}`, 500},
	} {
		n := size / len(in.line)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, err := Reader{Format: FormatPi, Handler: stream.HandlerFunc(func(stream.Event) {})}.Run(&lineRepeater{line: []byte(in.line + "\n"), n: n})
		runtime.ReadMemStats(&after)
		if err != nil || result.Lines != n {
			t.Fatalf("%s: read %d lines, error %v", name, result.Lines, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc - uint64(n)*in.perEvent; int64(used) > limit {
			t.Errorf("%s: decoding %d MB allocated %d kB besides the events", name, size>>20, used>>10)
		}
	}
}

func TestDeltasAllocateTheirEventsAndTexts(t *testing.T) {
	const n = 10_000
	for name, in := range map[string]struct {
		format Format
		line   string
	}{
		"pi":     {FormatPi, piDelta("text_delta", "some text")},
		"claude": {FormatClaude, claudeDelta("text_delta", "some text", "")},
	} {
		allocs := testing.AllocsPerRun(5, func() {
			rd := Reader{Format: in.format, Handler: stream.HandlerFunc(func(stream.Event) {})}
			must.OK(t, must.Err(rd.Run(&lineRepeater{line: []byte(in.line + "\n"), n: n})))
		})
		if perLine := allocs / n; perLine > 2.05 {
			t.Errorf("%s: %.2f allocations for each delta, want two: the event and its text", name, perLine)
		}
	}
}

// TestNothingWaitsForWhatComesNext reads line by line: all that was read must
// have been handed on before there is another read.
func TestNothingWaitsForWhatComesNext(t *testing.T) {
	shown := ""
	show := stream.HandlerFunc(func(e stream.Event) {
		if e, ok := e.(stream.Text); ok {
			shown += e.Delta
		}
	})
	want := ""
	var parts []io.Reader
	for _, word := range []string{"one ", "two ", "three "} {
		parts = append(parts, strings.NewReader(piDelta("text_delta", word)+"\n"), checkRead(func() {
			want += word
			if shown != want {
				t.Errorf("%q was shown of %q", shown, want)
			}
		}))
	}
	must.OK(t, must.Err((Reader{Format: FormatPi, Handler: show}).Run(io.MultiReader(parts...))))
	if want == "" {
		t.Error("nothing was read")
	}
}

// checkRead is an empty reader that calls itself when it is read.
type checkRead func()

func (c checkRead) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

// An agent or its provider may write any amount as its error. People get its beginning and its end, in each format.
func TestAnErrorIsNotLongerThanAnybodyReads(t *testing.T) {
	long := "429 rate limited: begin " + strings.Repeat("x", 200<<10) + " end"
	quoted := `"` + long + `"`
	for format, lines := range map[Format][]string{
		FormatACP:      {`{"id":1,"result":{"sessionId":"s"}}`, `{"id":2,"error":{"code":-32603,"message":` + quoted + `}}`},
		FormatCodex:    {`{"type":"turn.failed","error":{"message":` + quoted + `}}`},
		FormatClaude:   {`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":[` + quoted + `],"result":` + quoted + `}`},
		FormatGemini:   {`{"type":"error","severity":"error","message":` + quoted + `}`, `{"type":"result","status":"error","error":{"type":"x","message":` + quoted + `}}`},
		FormatOpencode: {`{"type":"error","error":{"name":"x","data":{"message":` + quoted + `}}}`},
	} {
		var longest int
		events := 0
		note := func(e stream.Event) {
			data, _ := json.Marshal(e)
			longest, events = max(longest, len(data)), events+1
		}
		result, err := Reader{Format: format, Handler: stream.HandlerFunc(note)}.Run(strings.NewReader(strings.Join(lines, "\n") + "\n"))
		failure := result.Failure
		if err != nil || failure == nil || len(failure.Message) > maxError || !strings.Contains(failure.Message, "begin") || !strings.Contains(failure.Message, " end") || !strings.Contains(failure.Message, "left out") {
			t.Errorf("%s: %v, %.100v", format, err, failure)
		} else if failure.Kind != stream.KindRateLimit {
			t.Errorf("%s: it means %q", format, failure.Kind)
		}
		if longest > 3*maxError || events == 0 {
			t.Errorf("%s: an event of %d bytes", format, longest)
		}
	}
	for _, e := range []stream.Event{stream.Retry{Message: long}, stream.Compaction{Error: long}, stream.TurnEnd{Error: long}, stream.TurnEnd{StopReason: long}, stream.Answered{Failure: long}} {
		if data, _ := json.Marshal(bounded(e)); len(data) > maxError+200 {
			t.Errorf("%T has %d bytes", e, len(data))
		}
	}
	if e := bounded(stream.Text{Delta: long}); e != (stream.Text{Delta: long}) {
		t.Error("words of an agent are cut")
	}
}
