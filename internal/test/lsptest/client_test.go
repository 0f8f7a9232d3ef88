package lsptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// server is the other end of a client, which says and reads what a test wants.
type server struct {
	t    *testing.T
	from *bufio.Reader
	to   *io.PipeWriter
}

// connect makes a client and its server.
func connect(t *testing.T, tb testing.TB) (*Client, server) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := New(tb, to, from, time.Minute)
	t.Cleanup(func() {
		c.Close()
		out.Close()
	})
	return c, server{t, bufio.NewReader(in), out}
}

func (s server) says(messages ...string) {
	s.t.Helper()
	for _, m := range messages {
		if _, err := s.to.Write(Frame(m)); err != nil {
			s.t.Error(err)
		}
	}
}

func (s server) reads(want string) {
	s.t.Helper()
	if got, err := ReadFrame(s.from); string(got) != want || err != nil {
		s.t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestReadFrame(t *testing.T) {
	for in, want := range map[string]string{
		string(Frame("{}")):                  "{} <nil>",
		string(Frame("")):                    " <nil>",
		"":                                   " unexpected EOF",
		"Content-Length: 3\r\n\r\n{}":        "{}\x00 unexpected EOF",
		"warning: x\n" + string(Frame("{}")): " input does not match format",
		"Content-Length: -1\r\n\r\n":         " expected integer",
	} {
		got, err := ReadFrame(bufio.NewReader(strings.NewReader(in)))
		if got := fmt.Sprintf("%s %v", got, err); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestRequestsAndTheirAnswers(t *testing.T) {
	c, s := connect(t, t)
	go func() {
		s.reads(`{"id":1,"jsonrpc":"2.0","method":"slow"}`)
		s.reads(`{"id":2,"jsonrpc":"2.0","method":"workspace/executeCommand","params":{"arguments":["x"],"command":"quick"}}`)
		s.says(`{"id":2,"error":{"code":-1,"message":"no","data":{"reason":"none"}}}`, `{"id":1,"result":[5]}`)
	}()
	slow := c.begin("slow", nil)
	if m := c.Command("quick", "x"); m.Error == nil || m.Error.Code != -1 || string(m.Error.Data) != `{"reason":"none"}` {
		t.Errorf("got %+v", m)
	}
	if got := c.Must(slow()); string(got) != "[5]" {
		t.Errorf("got %s", got)
	}
}

func TestTheServersRequests(t *testing.T) {
	c, s := connect(t, t)
	c.Answer("ask", func(params json.RawMessage) any { return "about " + string(params) })
	go s.says(`{"id":"a","method":"ignored"}`, `{"id":"b","method":"ask","params":7}`, `{"id":8,"method":"window/workDoneProgress/create"}`, `{"method":"note"}`)
	s.reads(`{"id":"b","jsonrpc":"2.0","result":"about 7"}`)
	s.reads(`{"id":8,"jsonrpc":"2.0","result":null}`)
	c.Hears("note", "")
	if heard := c.Heard(); len(heard) != 4 || heard[0].Method != "ignored" || heard[0].At.After(time.Now()) {
		t.Errorf("heard %v", heard)
	}
}

func TestADivertedClientReadsWhenItWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := connect(t, t)
		gate, taken := make(chan bool), 0
		c.Divert(func(Message) {
			<-gate
			taken++
		})
		go s.says(`{"method":"a"}`, `{"method":"b"}`, `{"method":"c"}`)
		gate <- true
		synctest.Wait()
		if taken != 1 || len(c.Heard()) > 0 {
			t.Errorf("%d taken, %d kept", taken, len(c.Heard()))
		}
		close(gate)
		synctest.Wait()
		if taken != 3 {
			t.Errorf("%d taken", taken)
		}
	})
}

// witness is a test that may fail.
type witness struct {
	testing.TB
	said string
}

func (w *witness) Fatalf(format string, args ...any) {
	w.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestWhatNeverComes(t *testing.T) {
	for name, tt := range map[string]struct {
		happens func(server)
		want    string
	}{
		"patience ends":   {func(server) {}, "no x with y within 1m0s; heard 1 messages:\nx \"z\""},
		"the server ends": {func(s server) { s.to.Close() }, "no x with y before the server's end (unexpected EOF); heard 1 messages:\nx \"z\""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &witness{TB: t}
				c, s := connect(t, w)
				s.says(`{"method":"x","params":"z"}`)
				go c.Hears("x", "y")
				synctest.Wait()
				tt.happens(s)
				time.Sleep(time.Minute)
				synctest.Wait()
				if w.said != tt.want {
					t.Errorf("got %q, want %q", w.said, tt.want)
				}
			})
		})
	}
}
