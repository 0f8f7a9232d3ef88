package rpc

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
	in := bufio.NewReader(io.MultiReader(strings.NewReader(`{"a":"`), io.LimitReader(zeros{}, MaxMessage), strings.NewReader("\"}\n\n{\"b\":1}\r\ncut off")))
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
		c := New(WriteLine, io.MultiReader(strings.NewReader(begins), io.LimitReader(zeros{}, MaxMessage), strings.NewReader("\"}}\n")), &out)
		if err := c.Serve(); err != nil {
			t.Fatal(err)
		}
		var m Message
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
