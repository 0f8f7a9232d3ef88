// Package memtest measures what a reader of a long stream keeps of it.
package memtest

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
)

// Streams are runs without an end, by names that begin with the agent's: what it
// prints again and again, with # for ids that are new each time.
var Streams = map[string][]string{
	"claude messages": {`{"type":"assistant","message":{"id":"msg_#","model":"m","content":[{"type":"text","text":"Short, ` +
		`like this."}],"usage":{"input_tokens":3,"output_tokens":5}}}`},
	"claude one message": {`{"type":"assistant","message":{"id":"msg_1","model":"m","content":[{"type":"text","text":"` +
		long + `"}],"usage":{"input_tokens":3,"output_tokens":5}}}`},
	"claude tools": {
		`{"type":"assistant","message":{"id":"msg_#","model":"m","content":[{"type":"tool_use","id":"toolu_#","name":"Bash",` +
			`"input":{"command":"ls #"}}],"usage":{"input_tokens":3,"output_tokens":5}}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_#","content":"some files"}]}}`,
	},
	"claude tools without results": {`{"type":"assistant","message":{"id":"msg_#","model":"m","content":[{"type":"tool_use",` +
		`"id":"toolu_#","name":"Bash","input":{"command":"ls #"}}],"usage":{"input_tokens":3,"output_tokens":5}}}`},
	"claude denials": {`{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"toolu_#"}`},
	"claude subagents": {`{"type":"assistant","parent_tool_use_id":"toolu_#","message":{"id":"msg_#","model":"m",` +
		`"content":[{"type":"text","text":"Short, like this."}],"usage":{"input_tokens":3,"output_tokens":5}}}`},
	"pi messages": {
		`{"type":"message_start","message":{"role":"assistant","content":[],"provider":"p","model":"m"}}`,
		`{"type":"message_update","usage":{"input":1},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,` +
			`"delta":"Short, like this #."}}`,
		`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Short, like this #."}],` +
			`"provider":"p","model":"m","stopReason":"stop"}}`,
		`{"type":"turn_end","message":{"role":"assistant","content":[],"provider":"p","model":"m","stopReason":"stop",` +
			`"usage":{"input":1,"output":1,"cost":{"total":0.1}}}}`,
	},
	"pi one message": {`{"type":"message_update","usage":{"input":1},"assistantMessageEvent":{"type":"text_delta",` +
		`"contentIndex":0,"delta":"` + long + `"}}`},
	"pi tools that spend": {
		`{"type":"tool_execution_start","toolCallId":"call_#","toolName":"bash","args":{"command":"ls #"}}`,
		`{"type":"tool_execution_end","toolCallId":"call_#","toolName":"bash","result":{"content":[{"type":"text","text":"some ` +
			`files"}],"usage":{"input":1,"output":1,"cost":{"total":0.1}}},"isError":false}`,
	},
	"codex tools": {
		`{"type":"item.started","item":{"id":"item_#","type":"command_execution","command":"ls #","aggregated_output":"",` +
			`"status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":"item_#","type":"command_execution","command":"ls #","aggregated_output":"some ` +
			`files","exit_code":0,"status":"completed"}}`,
	},
	"codex tools without results": {`{"type":"item.started","item":{"id":"item_#","type":"command_execution","command":"ls ` +
		`#","aggregated_output":"","status":"in_progress"}}`},
	"gemini tools without results": {`{"type":"tool_use","timestamp":"2026-11-20T11:39:27.936Z",` +
		`"tool_name":"run_shell_command","tool_id":"t#","parameters":{"command":"ls #"}}`},
	"text lines": {long},
}

// long is the text of a line, for what keeps up to 2 MiB of a text.
const long = "Long enough that a few thousand lines are more than any text of which the end is kept, and so long t" +
	"hat it is no longer short at all, whoever reads it and counts how many letters it has in the end, line #."

// Names are those of Streams, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Streams)) }

// Growth lets consume read n lines of a stream and returns by how many bytes the
// heap grew in the second half of them: what was kept of those lines. What is kept
// of any run, such as a last message, is there before.
func Growth(n int, lines []string, consume func(io.Reader)) (bytes int64) {
	return GrowthAtRest(n, lines, func() {}, consume)
}

// GrowthAtRest is Growth for a consumer that goes on beside its reading. Rest waits until it
// has done all that it was given: what it has in its hands meanwhile isn't kept.
func GrowthAtRest(n int, lines []string, rest func(), consume func(io.Reader)) (bytes int64) {
	r := &reader{n: n, lines: lines, atRest: rest}
	consume(r)
	return r.end - r.middle
}

type reader struct {
	n, i        int
	lines       []string
	rest        string
	atRest      func()
	middle, end int64 // bytes of the heap
}

func (r *reader) Read(p []byte) (int, error) {
	if r.rest == "" {
		switch r.i {
		case r.n / 2:
			r.atRest()
			r.middle = heap()
		case r.n:
			r.atRest()
			r.end = heap()
			return 0, io.EOF
		}
		template, round := r.lines[r.i%len(r.lines)], r.i/len(r.lines)
		r.rest = strings.ReplaceAll(template, "#", fmt.Sprintf("%010d", round)) + "\n"
		r.i++
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
