// Package memtest measures what a reader of a long stream keeps of it.
package memtest

import (
	"io"
	"runtime"
	"slices"
)

// Streams are runs without an end: line i of what an agent prints again and again,
// by a name that begins with the agent's. All ids are new each time.
var Streams = map[string]func(b []byte, i int) []byte{
	"claude messages": func(b []byte, i int) []byte {
		return line(b, `{"type":"assistant","message":{"id":"msg_#","model":"m","content":[{"type":"text","text":"Short, like this."}],"usage":{"input_tokens":3,"output_tokens":5}}}`, i)
	},
	"claude one message": func(b []byte, i int) []byte {
		return line(b, `{"type":"assistant","message":{"id":"msg_1","model":"m","content":[{"type":"text","text":"`+long+`"}],"usage":{"input_tokens":3,"output_tokens":5}}}`, i)
	},
	"claude tools": func(b []byte, i int) []byte {
		return line(b, []string{
			`{"type":"assistant","message":{"id":"msg_#","model":"m","content":[{"type":"tool_use","id":"toolu_#","name":"Bash","input":{"command":"ls #"}}],"usage":{"input_tokens":3,"output_tokens":5}}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_#","content":"some files"}]}}`,
		}[i%2], i/2)
	},
	"claude tools without results": func(b []byte, i int) []byte {
		return line(b, `{"type":"assistant","message":{"id":"msg_#","model":"m","content":[{"type":"tool_use","id":"toolu_#","name":"Bash","input":{"command":"ls #"}}],"usage":{"input_tokens":3,"output_tokens":5}}}`, i)
	},
	"claude denials": func(b []byte, i int) []byte {
		return line(b, `{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"toolu_#"}`, i)
	},
	"claude subagents": func(b []byte, i int) []byte {
		return line(b, `{"type":"assistant","parent_tool_use_id":"toolu_#","message":{"id":"msg_#","model":"m","content":[{"type":"text","text":"Short, like this."}],"usage":{"input_tokens":3,"output_tokens":5}}}`, i)
	},
	"pi messages": func(b []byte, i int) []byte {
		return line(b, []string{
			`{"type":"message_start","message":{"role":"assistant","content":[],"provider":"p","model":"m"}}`,
			`{"type":"message_update","usage":{"input":1},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"Short, like this #."}}`,
			`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Short, like this #."}],"provider":"p","model":"m","stopReason":"stop"}}`,
			`{"type":"turn_end","message":{"role":"assistant","content":[],"provider":"p","model":"m","stopReason":"stop","usage":{"input":1,"output":1,"cost":{"total":0.1}}}}`,
		}[i%4], i/4)
	},
	"pi one message": func(b []byte, i int) []byte {
		return line(b, `{"type":"message_update","usage":{"input":1},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"`+long+`"}}`, i)
	},
	"pi tools that spend": func(b []byte, i int) []byte {
		return line(b, []string{
			`{"type":"tool_execution_start","toolCallId":"call_#","toolName":"bash","args":{"command":"ls #"}}`,
			`{"type":"tool_execution_end","toolCallId":"call_#","toolName":"bash","result":{"content":[{"type":"text","text":"some files"}],"usage":{"input":1,"output":1,"cost":{"total":0.1}}},"isError":false}`,
		}[i%2], i/2)
	},
	"codex tools": func(b []byte, i int) []byte {
		return line(b, []string{
			`{"type":"item.started","item":{"id":"item_#","type":"command_execution","command":"ls #","aggregated_output":"","status":"in_progress"}}`,
			`{"type":"item.completed","item":{"id":"item_#","type":"command_execution","command":"ls #","aggregated_output":"some files","exit_code":0,"status":"completed"}}`,
		}[i%2], i/2)
	},
	"codex tools without results": func(b []byte, i int) []byte {
		return line(b, `{"type":"item.started","item":{"id":"item_#","type":"command_execution","command":"ls #","aggregated_output":"","status":"in_progress"}}`, i)
	},
	"gemini tools without results": func(b []byte, i int) []byte {
		return line(b, `{"type":"tool_use","timestamp":"2026-11-20T11:39:27.936Z","tool_name":"run_shell_command","tool_id":"t#","parameters":{"command":"ls #"}}`, i)
	},
	"text lines": func(b []byte, i int) []byte { return line(b, long, i) },
}

// long is the text of a line, for what keeps up to 2 MiB of a text.
const long = "Long enough that a few thousand lines are more than any text of which the end is kept, and so long t" +
	"hat it is no longer short at all, whoever reads it and counts how many letters it has in the end, line #."

// Names are those of Streams, sorted.
func Names() []string {
	var names []string
	for name := range Streams {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// line appends a line with each # replaced by a number of ten digits.
func line(b []byte, template string, n int) []byte {
	for _, c := range []byte(template) {
		if c != '#' {
			b = append(b, c)
			continue
		}
		var digits [10]byte
		for i, rest := len(digits)-1, n; i >= 0; i, rest = i-1, rest/10 {
			digits[i] = '0' + byte(rest%10)
		}
		b = append(b, digits[:]...)
	}
	return append(b, '\n')
}

// Growth lets consume read n lines of a stream and returns by how many bytes the
// heap grew in the second half of them: what was kept of those lines. What is kept
// of any run, such as a last message, is there before.
func Growth(n int, line func(b []byte, i int) []byte, consume func(io.Reader)) (bytes int64) {
	r := &reader{n: n, line: line}
	consume(r)
	return r.end - r.middle
}

type reader struct {
	n, i        int
	line        func(b []byte, i int) []byte
	rest, buf   []byte
	middle, end int64 // bytes of the heap
}

func (r *reader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		switch r.i {
		case r.n / 2:
			r.middle = heap()
		case r.n:
			r.end = heap()
			r.i++
			return 0, io.EOF
		}
		r.buf = r.buf[:0]
		stop := r.n
		if r.i < r.n/2 {
			stop = r.n / 2
		}
		for stop = min(stop, r.i+100); r.i < stop; r.i++ {
			r.buf = r.line(r.buf, r.i)
		}
		r.rest = r.buf
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools keep goes with the second
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return int64(mem.HeapAlloc)
}
