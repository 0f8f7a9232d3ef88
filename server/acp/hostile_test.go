package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/looptest"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
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
	k.told(append(all, over)...)
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("%s %v", a.Result, a.Error)
	}
	k.loops.Listed = []wire.LoopStatus{{LoopID: "ralph-b"}}
	k.loops.Set(func() { k.loops.Stories["ralph-b"] = append(all, over) })
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
	a := Agent{Loops: &fickle{Loops: looptest.New(), random: rand.New(rand.NewPCG(random.Uint64(), 1))}}
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

// fickle are loops that refuse now and then, and say and end as they like.
type fickle struct {
	*looptest.Loops
	mu     sync.Mutex
	random *rand.Rand
}

func (f *fickle) refuses() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.Asked) > 0 { // nobody reads what it is asked
		<-f.Asked
	}
	switch f.random.IntN(5) {
	case 0:
		return errors.New("refused")
	case 1:
		return &wire.Failure{Reason: wire.ReasonInterrupted, Err: errors.New("refused")}
	}
	return nil
}

func (f *fickle) Start(ctx context.Context, p wire.StartParams, on service.Listener) (service.Begun, error) {
	if err := f.refuses(); err != nil {
		return service.Begun{}, err
	}
	it, err := f.Loops.Start(ctx, p, on)
	f.Loop("ralph-a").Tell([][]string{{begun}, {begun, `{}`, `7`}, {begun, over}, {over}}[len(p.Text)%4]...)
	return it, err
}

func (f *fickle) Run(ctx context.Context, c wire.Command) (wire.Notice, error) {
	if err := f.refuses(); err != nil {
		return wire.Notice{}, err
	}
	return f.Loops.Run(ctx, c)
}
