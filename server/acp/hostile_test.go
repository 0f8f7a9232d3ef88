package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
)

// Whatever the sidecar may tell is told in a shape of the protocol's, live and in a replay.
func TestEveryUpdateOfTheWire(t *testing.T) {
	var all []string
	files, err := filepath.Glob("../../testdata/wire/update-*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%v of %v", len(files), err)
	}
	for _, file := range append(files, "../../testdata/wire/rare.json") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if data[0] == '{' {
			data = append(append([]byte("["), data...), ']')
		}
		var updates []json.RawMessage
		if err := json.Unmarshal(data, &updates); err != nil {
			t.Fatal(err)
		}
		for _, u := range updates {
			if bytes.Contains(u, []byte(`"sessionUpdate"`)) && !bytes.Contains(u, []byte(`"_ralph/end"`)) {
				all = append(all, string(u))
			}
		}
	}
	k := running(t, &Agent{})
	k.told("c1", "c2", append(all, over)...)
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("%s %v", a.Result, a.Error)
	}
	k.results["ralph.loop.history"] = `{"loops":[{"loopId":"ralph-b","startedAt":"2026-01-02T12:00:00Z"}]}`
	k.results["ralph.loop.read"] = `{"updates":[` + strings.Join(append(all, over), ",") + `],"cursor":"c9"}`
	k.ask("session/load", `{"sessionId":"ralph-b","cwd":"/w/app","mcpServers":[]}`)
	if a := k.answer(); a.Error != nil {
		t.Error(a.Error)
	}
}

// clientLines are what clients say in a session, one message a line.
const clientLines = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"c","version":"1"},"clientCapabilities":{"fs":{"readTextFile":true},"terminal":true,"elicitation":{"form":{}}}}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/app","mcpServers":[]}}
{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"acp-mr2k-ABCDEFGH","cwd":"/w/app","mcpServers":[]}}
{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"acp-mr2k-ABCDEFGH","prompt":[{"type":"text","text":"Mend it"},{"type":"resource","resource":{"uri":"file:///w/a.go","text":"package a"}},{"type":"image","data":"aGk="}]}}
{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"acp-mr2k-ABCDEFGH","prompt":[{"type":"text","text":"/ralph-resume 80"}]}}
{"jsonrpc":"2.0","id":5,"method":"_session/steering","params":{"sessionId":"acp-mr2k-ABCDEFGH","prompt":[{"type":"text","text":"Faster"}]}}
{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"acp-mr2k-ABCDEFGH"}}
{"jsonrpc":"2.0","id":6,"method":"session/set_config_option","params":{"sessionId":"acp-mr2k-ABCDEFGH","configId":"maxIterations","value":"5"}}
{"jsonrpc":"2.0","id":7,"method":"session/set_mode","params":{"sessionId":"acp-mr2k-ABCDEFGH","modeId":"builder"}}
{"jsonrpc":"2.0","id":8,"method":"session/list","params":{"cwd":"/w/app"}}
{"jsonrpc":"2.0","id":9,"method":"session/resume","params":{"sessionId":"ralph-a","cwd":"/w/app"}}
{"jsonrpc":"2.0","id":10,"method":"session/close","params":{"sessionId":"acp-mr2k-ABCDEFGH"}}
{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"1"}}}
{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`

// broken are bytes that stand in the way of a message in many ways.
var broken = []string{"", "null", "{}", "[]", "7", `""`, "1e999", `"\ud800"`, "\x00", "\xff", `{"a":`, "[[[[", `,"id":{}`, "-1", "file:///%zz", strings.Repeat("a", 5000)}

func TestBrokenLines(t *testing.T) { checkBrokenLines(t, 500) }

// checkBrokenLines wants lines that are nearly right to end nothing: the last request is answered,
// and all that is said is a message. Seeds are fixed, so a failure comes again.
func checkBrokenLines(t *testing.T, n int) {
	t.Helper()
	seeds := strings.Split(clientLines, "\n")
	random := rand.New(rand.NewPCG(1, 2))
	var in strings.Builder
	for range n {
		line := seeds[random.IntN(len(seeds))]
		for range random.IntN(3) {
			at := random.IntN(len(line) + 1)
			to := min(len(line), at+random.IntN(30))
			line = line[:at] + broken[random.IntN(len(broken))] + line[to:]
		}
		in.WriteString(strings.ReplaceAll(line, "\n", " ") + "\n")
	}
	in.WriteString(`{"id":"last","method":"nope"}` + "\n")
	var out bytes.Buffer
	a := Agent{Sidecar: func(in io.Reader, out io.Writer) { answerAll(in, out, random.Uint64()) }}
	if err := a.Serve(strings.NewReader(in.String()), &out); err != nil {
		t.Fatal(err)
	}
	isAnswered := false
	for said := range strings.Lines(out.String()) {
		var m rpc.Message
		if err := json.Unmarshal([]byte(said), &m); err != nil {
			t.Fatalf("it says %q: %v", said, err)
		}
		isAnswered = isAnswered || string(m.ID) == `"last"`
		if shape := sentBy[m.Method]; shape != "" {
			checkShape(t, shape, m.Params)
		}
	}
	if !isAnswered {
		t.Error("the last request isn't answered")
	}
}

// answerAll is a sidecar that answers each command in one of the ways in which commands are answered.
func answerAll(in io.Reader, out io.Writer, seed uint64) {
	ways := []string{`{}`, `null`, `{"loopId":"ralph-a","text":"as told"}`, `{"loops":[{"loopId":"ralph-a","state":"running"}]}`, `{"cursor":"c","updates":[` + begun + `]}`, `7`}
	random := rand.New(rand.NewPCG(seed, 1))
	says := rpc.NewQueue() // as with a real one, what it says keeps it from hearing nothing
	isSaid := make(chan struct{})
	go func() {
		defer close(isSaid)
		_, _ = io.Copy(out, says)
	}()
	defer func() { says.Close(); <-isSaid }()
	c := rpc.New(rpc.WriteFrame, nil, says)
	c.Handle = func(_ string, id, _ json.RawMessage) {
		if random.IntN(5) == 0 {
			c.Reply(id, nil, rpc.Errorf(-32803, "refused"))
		} else {
			c.Reply(id, json.RawMessage(ways[random.IntN(len(ways))]), nil)
		}
		c.Notify("ralph/update", json.RawMessage(fmt.Sprintf(`{"loopId":"ralph-a","after":"c","cursor":"c","updates":[%s]}`, []string{begun, over, `{}`, `7`}[random.IntN(4)])))
	}
	_, _ = io.Copy(&rpc.Heard{Take: c.Take}, in)
}
