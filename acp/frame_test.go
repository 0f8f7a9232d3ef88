package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestALineThatIsTooLongEndsNothing(t *testing.T) {
	in := bufio.NewReader(io.MultiReader(strings.NewReader(`{"a":"`), io.LimitReader(zeros{}, maxMessage), strings.NewReader("\"}\n\n{\"b\":1}\r\ncut off")))
	if _, err := readLine(in); !errors.Is(err, errTooLong) {
		t.Errorf("got %v", err)
	}
	if line, err := readLine(in); string(line) != `{"b":1}` || err != nil {
		t.Errorf("got %q, %v", line, err)
	}
	if line, err := readLine(in); !errors.Is(err, io.EOF) {
		t.Errorf("a line that is cut off is read as %q, %v", line, err)
	}
}

// Whoever waits for the answer to a message that was skipped gets one.
func TestALineThatIsTooLongIsAnswered(t *testing.T) {
	for begins, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"prompt":"`: "7",
		`{"id":"a-b", "params":"`:                `"a-b"`,
		`{"params":{"id":7},"x":"`:               "null",
		`{"method":"session/prompt","params":{"`: "null",
	} {
		var out bytes.Buffer
		c := newConn(writeLine, io.MultiReader(strings.NewReader(begins), io.LimitReader(zeros{}, maxMessage), strings.NewReader("\"}}\n")), &out)
		if err := c.serve(); err != nil {
			t.Fatal(err)
		}
		var m message
		if err := json.Unmarshal(out.Bytes(), &m); err != nil || string(m.ID) != want || m.Error == nil {
			t.Errorf("%s is answered with %s, %v", begins, out.Bytes(), err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

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
		a := Agent{Sidecar: func(in io.Reader, _ io.Writer) { _, _ = io.Copy(io.Discard, in) }}
		if err := a.Serve(strings.NewReader(line+"\n"+`{"id":"last","method":"nope"}`+"\n"), &out); err != nil {
			t.Fatal(err)
		}
		isAnswered := false
		for said := range strings.Lines(out.String()) {
			var m message
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
