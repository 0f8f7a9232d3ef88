package acp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/looptest"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
)

// Whatever a client says, each of its requests has one answer and the conversation goes on.
func FuzzAClientsLines(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2}}`, `{"id":"a","method":"session/prompt","params":null}`,
		`{"method":"session/cancel"}`, `[]`, `{`, `null`, `{"id":{},"method":"x"}`, `{"id":1,"result":7}`, `{"id":null,"error":{"code":"x"}}`,
		`{"id":2,"method":"session/new","params":{"cwd":"/w"}}`, `{"id":3,"method":"session/load","params":{"sessionId":"acp-zz","cwd":"/w"}}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var out bytes.Buffer
		a := Agent{Loops: looptest.New()}
		if err := a.Serve(strings.NewReader(line+"\n"+`{"id":"last","method":"nope"}`+"\n"), &out); err != nil {
			t.Fatal(err)
		}
		isAnswered := false
		for said := range strings.Lines(out.String()) {
			var m rpc.Message
			if err := json.Unmarshal([]byte(said), &m); err != nil {
				t.Fatalf("it says %q: %v", said, err)
			}
			isAnswered = isAnswered || string(m.ID) == `"last"`
		}
		if !isAnswered {
			t.Errorf("%q is the last word: %s", line, out.String())
		}
	})
}
