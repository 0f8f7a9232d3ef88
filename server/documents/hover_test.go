package documents

import (
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// TestHover has documents with the cursor as ‸ and the hover's range between « and ».
func TestHover(t *testing.T) {
	maxIterations := "How often the agent runs in total."
	running := withLoop(loop.Status{State: loop.StateRunning, Iteration: 3, Limits: loop.Limits{MaxIterations: 50}, Usage: loop.Usage{Cost: stream.USD(1.42)}})
	tests := []struct {
		name  string
		uri   uri.URI
		text  string
		world *docWorld
		want  string
	}{
		{"prompt", promptURI, "max_‸iterations: 3", nil, ""},
		{"key of a state file", stateURI, "---\n«max_‸iterations»: 3\n---\nx", nil, "**max_iterations**: whole number, default `50`\n\n" + maxIterations + "\n\n`0` means: no limit."},
		{"its value", stateURI, "---\nmax_iterations: «0‸» # 😀\n---\nx", nil, "**max_iterations**: whole number, default `50`\n\n" + maxIterations + "\n\nNow: no limit."},
		{"no promise", stateURI, "---\ncompletion_promise: «n‸ull»\n---\nx", nil, "**completion_promise**: text, default `null`\n\nThe statement that ends the loop when the agent outputs it as `<promise>...</promise>`. The bare word `LOOP_COMPLETE` in its last line always does.\n\nNow: none."},
		{"with a loop", stateURI, "---\n«hat‸»: a\n---\nx", running, "**hat**: text\n\nThe role that the loop was started with.\n\nThe loop: 3/50 · $1.42."},
		{"with a loop that failed", stateURI, "---\n«hat‸»: a\n---\nx", withLoop(loop.Status{State: loop.StateFailed, Ended: loop.Ended{StopReason: loop.StopFailures}, Iteration: 3}),
			"**hat**: text\n\nThe role that the loop was started with.\n\nThe loop: failed at 3: too many failures in a row."},
		{"with a loop that ended", stateURI, "---\n«hat‸»: a\n---\nx", withLoop(loop.Status{State: loop.StateEnded, Ended: loop.Ended{StopReason: loop.StopMaxCost}, Iteration: 3}),
			"**hat**: text\n\nThe role that the loop was started with.\n\nThe loop: stopped: cost limit reached."},
		{"unknown key", stateURI, "---\nco‸lour: 3\n---\nx", nil, ""},
		{"behind the front matter", stateURI, "---\nhat: a\n---\nmax_‸iterations: 3", nil, ""},
		{"key of a config", configURI, "[limits]\n«max_‸iterations» = 3", nil, "**limits.max_iterations**: whole number, default `50`\n\n" + maxIterations + "\n\n`0` means: no limit."},
		{"duration of nothing", configURI, "# 😀\nlimits.max_duration = «\"0‸s\"»", nil, "**limits.max_duration**: duration, default `\"4h\"`\n\nHow long the loop may run; waits and pauses don't count.\n\nNow: no limit."},
		{"header", configURI, "[«lim‸its»]", nil, "**limits**: table\n\nWhen a loop ends although the agent didn't promise that it is done."},
		{"the user's name", configURI, "[hats.«\"😀‸\"»]", nil, "**hats.😀**: table\n\nA role."},
		{"hats that hand over", configURI, "[«ha‸ts».plan]\ntriggers = [\"loop.start\"]\npublishes = [\"ready\"]\n[hats.build]\ntriggers = [\"ready\"]", nil,
			"**hats**: table\n\nRoles: each is a backend with arguments and instructions of its own. One is chosen at the start of a loop, or they hand over to each other by topics.\n\n```text\nloop.start -> plan\nplan  may finish\n  ready -> build\nbuild  may finish\n```"},
		{"in an inline table", configURI, "hats.a.backend = { type = \"pi\", «ar‸gs» = [] }", nil, "**hats.a.backend.args**: list of texts, default `[]`\n\nArguments that the role's backend gets after its own."},
		{"one of a few", configURI, "[backends.pi]\nprompt = «\"a‸rg\"»", nil, "**backends.pi.prompt**: text (stdin, arg, file), default `\"stdin\"`\n\nHow the prompt goes in: on standard input, as the last argument, or in a file that the last argument names."},
		{"automatic", configURI, "backend = «\"au‸to\"»", nil, "**backend**: name of a backend, default `\"auto\"`\n\nThe agent that runs the loop. `auto` takes the first one that is installed.\n\nNow: the first one installed of " + strings.Join(backends.Detected(), ", ") + "."},
		{"comment", configURI, "# back‸end = 3", nil, ""},
	}
	for _, tt := range tests {
		inBoth(t, tt.name, func(t *testing.T, utf8 bool) {
			text, cursor, ranges := cut(tt.text)
			d := withDoc(tt.uri, text, utf8, tt.world)
			doc := d.get(tt.uri)
			p := protocol.HoverParams{}
			p.TextDocument.URI, p.Position = tt.uri, doc.position(cursor)
			hover := d.Hover(p)
			if hover == nil {
				if tt.want != "" {
					t.Fatal("no hover")
				}
				return
			}
			if got := hover.Contents.(*protocol.MarkupContent).Value; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if len(ranges) == 1 && *hover.Range != doc.span(ranges[0][0], ranges[0][1]) {
				t.Errorf("range %+v, want %+v", *hover.Range, doc.span(ranges[0][0], ranges[0][1]))
			}
		})
	}
}
