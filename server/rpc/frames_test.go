package rpc

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/jsonrpc2"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// readFrames reads all of in. Refused messages are in the list as "id code".
func readFrames(in io.Reader) (got []string, err error) {
	r := newFrameReader(in, func(why refusal) {
		id := string(why.id)
		if id == "" {
			id = "null"
		}
		got = append(got, fmt.Sprint(id, " ", why.code))
	})
	for {
		body, err := r.next()
		if err != nil {
			return got, err
		}
		got = append(got, string(body))
	}
}

func framed(body string) string { return string(frame([]byte(body))) }

func TestFrames(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
		err      error
	}{
		{"one", framed(ping), []string{ping}, io.EOF},
		{"two", framed(ping) + framed(ping), []string{ping, ping}, io.EOF},
		{"nothing", "", nil, io.EOF},
		{"other fields, other case, bare newlines", "Content-Type: application/vscode-jsonrpc; charset=utf-8\ncontent-length:40\n\n" + ping, []string{ping}, io.EOF},
		{"blank lines between two", framed(ping) + "\r\n\r\n" + framed(ping), []string{ping, ping}, io.EOF},
		{"garbage before a header", "hello there\nand more\n" + framed(ping), []string{"null -32700", ping}, io.EOF},
		{"rest of a body that was announced too short", `ng"}` + framed(ping), []string{ping}, io.EOF},
		{"body announced too short", "Content-Length: 36\r\n\r\n" + ping + framed(ping), []string{"null -32700", ping}, io.EOF},
		{"cut in the header", "Content-Len", nil, io.ErrUnexpectedEOF},
		{"cut before the body", "Content-Length: 40\r\n\r\n", nil, io.ErrUnexpectedEOF},
		{"cut in the body", framed(ping)[:40], nil, io.ErrUnexpectedEOF},
		{"length is a word", "Content-Length: many\r\n\r\n" + ping, nil, ErrBadHeader},
		{"length is negative", "Content-Length: -5\r\n\r\n" + ping, nil, ErrBadHeader},
		{"length is huge", "Content-Length: 99999999999999999999\r\n\r\n" + ping, nil, ErrBadHeader},
		{"length that nobody means", fmt.Sprintf("Content-Length: %d\r\n\r\n", int64(1)<<40) + ping, nil, ErrBadHeader},
		{"garbage without an end", strings.Repeat("x", maxHeader+1), nil, ErrBadHeader},
		{"blank lines without an end", strings.Repeat("\n", maxHeader+1), nil, ErrBadHeader},
		{"empty body", "Content-Length: 0\r\n\r\n" + framed(ping), []string{"null -32700", ping}, io.EOF},
		{"no JSON", framed(`{"jsonrpc":"2.0","id":5,`), []string{"null -32700"}, io.EOF},
		{"white space around", framed(" \n" + ping + "\n"), []string{" \n" + ping + "\n"}, io.EOF},
		{"batch", framed("[" + ping + "]"), []string{"null -32600"}, io.EOF},
		{"empty batch", framed("[]"), []string{"null -32600"}, io.EOF},
		{"no object", framed("42"), []string{"null -32600"}, io.EOF},
		{"no version", framed(`{"id":5,"method":"ping"}`), []string{"5 -32600"}, io.EOF},
		{"wrong version", framed(`{"jsonrpc":"1.0","id":"a","method":"ping"}`), []string{`"a" -32600`}, io.EOF},
		{"fractional id", framed(`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`), []string{"1.5 -32600"}, io.EOF},
		{"id of no use", framed(`{"jsonrpc":"2.0","id":{},"method":"ping"}`), []string{"null -32600"}, io.EOF},
		{"method of no use", framed(`{"jsonrpc":"2.0","id":7,"method":7}`), []string{"7 -32600"}, io.EOF},
		{"response without a version isn't answered", framed(`{"id":5,"result":1}`), nil, io.EOF},
		{"response with result and error isn't answered", framed(`{"jsonrpc":"2.0","id":5,"result":1,"error":{}}`), nil, io.EOF},
		{"too deep", framed(strings.Repeat("[", 20000) + strings.Repeat("]", 20000)), []string{"null -32700"}, io.EOF},
		{"invalid UTF-8", framed("{\"jsonrpc\":\"2.0\",\"method\":\"x\xff\"}"), []string{"{\"jsonrpc\":\"2.0\",\"method\":\"x\uFFFD\"}"}, io.EOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for how, in := range map[string]io.Reader{
				"at once":      strings.NewReader(tt.in),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.in)),
				"with the end": iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				got, err := readFrames(in)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s: messages (-want +got):\n%s", how, diff)
				}
				if !errors.Is(err, tt.err) {
					t.Errorf("%s: error %v, want %v", how, err, tt.err)
				}
			}
		})
	}
}

// zeros is a reader without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestAFrameThatIsTooLongCostsNothing(t *testing.T) {
	const announced, limit = 30_000_000, 5_000_000
	in := io.MultiReader(
		strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n", announced)),
		io.LimitReader(zeros{}, announced),
		strings.NewReader(framed(ping)))
	var r *frameReader
	var refused []jsonrpc2.Code
	r = newFrameReader(in, func(why refusal) { refused = append(refused, why.code) })
	r.limit = limit
	body, err := r.next()
	if string(body) != ping || err != nil {
		t.Errorf("the message behind it: %q, %v", body, err)
	}
	if diff := cmp.Diff([]jsonrpc2.Code{jsonrpc2.InvalidRequest}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if cap(r.body) > keptBuffer {
		t.Errorf("the buffer has %d bytes", cap(r.body))
	}
}

// A request that is too long is answered with its own id, wherever that stands.
func TestAFrameThatIsTooLongIsAnsweredByItsID(t *testing.T) {
	text := `"` + strings.Repeat(`\"id\":9,}{`, 200) + `"`
	for _, tt := range []struct{ name, begin, end, want string }{
		{"before the params", `{"jsonrpc":"2.0","id":5,"method":"x","params":{"text":`, `}}`, "5 -32600"},
		{"behind the params", ` { "method" : "x" , "params" : [ {"id":7}, `, ` ] , "id" : "a\"b" } `, `"a\"b" -32600`},
		{"a notification", `{"method":"x","params":{"id":3,"text":`, `}}`, "silent"},
		{"a response", `{"id":5,"result":`, `}`, "silent"},
		{"two ids", `{"id":1,"method":"x","params":`, `,"id":2}`, "2 -32600"},
		{"an id of no use", `{"id":{"id":5},"method":"x","params":`, `}`, "silent"},
		{"no id at all", `{"id":null,"method":"x","params":`, `}`, "null -32600"},
		{"an id that is too long", `{"id":"` + strings.Repeat("x", 300) + `","method":"x","params":`, `}`, "null -32600"},
		{"the longest id", `{"id":"` + strings.Repeat("x", maxSkimmed-2) + `","method":"x","params":`, `}`, `"` + strings.Repeat("x", maxSkimmed-2) + `" -32600`},
		{"an id that is no JSON", `{"id":5x,"method":"x","params":`, `}`, "null -32600"},
		{"a batch", `[{"id":5,"method":"x"},`, `]`, "null -32600"},
		{"cut off", `{"id":5,"method":"x","params":`, ``, "5 -32600"},
		{"neither", `{"params":`, `}`, "null -32600"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := framed(tt.begin+text+tt.end) + framed(ping)
			var got []string
			r := newFrameReader(strings.NewReader(in), func(why refusal) {
				switch {
				case why.silent:
					got = append(got, "silent")
				case why.id == nil:
					got = append(got, fmt.Sprint("null ", why.code))
				default:
					got = append(got, fmt.Sprint(string(why.id), " ", why.code))
				}
			})
			r.limit = 1000
			body, err := r.next()
			if string(body) != ping || err != nil {
				t.Errorf("the message behind it: %q, %v", body, err)
			}
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMemoryFollowsWhatIsSent(t *testing.T) {
	r := newFrameReader(strings.NewReader("Content-Length: 60000000\r\n\r\n{"), func(refusal) {})
	if _, err := r.next(); err != io.ErrUnexpectedEOF {
		t.Fatalf("error %v, want %v", err, io.ErrUnexpectedEOF)
	}
	if cap(r.body) > 4096 {
		t.Errorf("%d bytes for a body of which one byte came", cap(r.body))
	}
}

func TestALargeBufferIsNotKept(t *testing.T) {
	large := `{"jsonrpc":"2.0","method":"x","params":["` + strings.Repeat("x", 2*keptBuffer) + `"]}`
	r := newFrameReader(strings.NewReader(framed(large)+framed(ping)), func(refusal) {})
	for range 2 {
		must.OK(t, must.Err(r.next()))
	}
	if cap(r.body) > keptBuffer {
		t.Errorf("the buffer still has %d bytes", cap(r.body))
	}
}

// Whatever a client sends, jsonrpc2 gets only what it can take.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		framed(ping), "Content-Length: 36\r\n\r\n" + ping + framed(ping), framed("[]"), "Content-Length: -1\r\n\r\n", "a\nb: c\n" + framed("{}"),
		framed(`{"jsonrpc":"2.0","id":1.5,"method":"x"}`), framed(`{"jsonrpc":"2.0","id":"\ud800","result":null}`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := newFrameReader(strings.NewReader(string(in)), func(why refusal) {
			if _, err := (Codec{}).Marshal(why.id); err != nil {
				t.Errorf("the id %q can't be given back: %v", why.id, err)
			}
		})
		for {
			body, err := r.next()
			if err != nil {
				if err != io.EOF && err != io.ErrUnexpectedEOF && !errors.Is(err, ErrBadHeader) {
					t.Errorf("error %v", err)
				}
				return
			}
			if _, err := jsonrpc2.DecodeMessage(body); err != nil {
				t.Errorf("%q: %v", body, err)
			}
		}
	})
}
