package lsptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// Patience bounds every wait of a test for something that must happen.
const Patience = proctest.Patience

// Conversation is what a client says and must hear. testdata/conversations
// has the format in its README.
type Conversation struct {
	Title string
	Runs  string // "inside", "outside" or, for both, ""
	Steps []Step
}

type Step struct {
	Where      string // file:line
	Verb, Rest string
}

// ReadConversations reads the files that a pattern matches.
func ReadConversations(t testing.TB, pattern string) []Conversation {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations (%v)", err)
	}
	var all []Conversation
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(content), "\n") {
			where := fmt.Sprintf("%s:%d", file, i+1)
			verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case verb == "" || strings.HasPrefix(verb, "#"):
			case verb == "==":
				title, runs, _ := strings.Cut(strings.TrimSuffix(rest, "]"), " [")
				all = append(all, Conversation{Title: title, Runs: runs})
			case len(all) == 0:
				t.Fatalf("%s: no title yet", where)
			default:
				last := &all[len(all)-1]
				last.Steps = append(last.Steps, Step{where, verb, strings.TrimSpace(rest)})
			}
		}
	}
	return all
}

// Speaker is the client of a conversation.
type Speaker struct {
	t     testing.TB
	where string
	in    io.WriteCloser
	out   io.ReadCloser
	log   fmt.Stringer
	exit  <-chan int
	send  func(os.Signal) error // nil inside

	messages chan string // nil until the client begins to read
	pings    int
}

// LogBuffer is a log that is read while it is written.
type LogBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *LogBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *LogBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// NewSpeaker is the client of a server that reads from in and writes to out. Exit
// gets the server's exit code; send, which may be nil, signals its process.
func NewSpeaker(t testing.TB, in io.WriteCloser, out io.ReadCloser, log fmt.Stringer, exit <-chan int,
	send func(os.Signal) error) *Speaker {
	return &Speaker{t: t, in: in, out: out, log: log, exit: exit, send: send}
}

// Play plays steps one after another.
func (c *Speaker) Play(steps []Step) {
	for _, s := range steps {
		c.where = s.Where
		c.step(s)
	}
}

func (c *Speaker) step(s Step) {
	switch s.Verb + " " + s.Rest {
	case "close stdin":
		c.check(c.in.Close())
		return
	case "close stdout":
		c.check(c.out.Close())
		return
	}
	switch s.Verb {
	case "send":
		c.Write(Frame(string(c.message(s.Rest))))
	case "flood":
		times, body, _ := strings.Cut(s.Rest, " ")
		n, err := strconv.Atoi(times)
		c.check(err)
		framed := Frame(string(c.message(body)))
		for range n {
			c.Write(framed)
		}
	case "frame":
		body := c.text(s.Rest)
		fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n", body.size)
		body.writeTo(c)
	case "raw":
		c.text(s.Rest).writeTo(c)
	case "expect":
		c.expect(s.Rest)
	case "quiet":
		c.pings++
		c.Write(Frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ping %d","method":"ping"}`, c.pings)))
		c.expect(fmt.Sprintf(`{"id":"ping %d"}`, c.pings))
	case "log":
		c.awaitLog(s.Rest)
	case "signal":
		c.signal(s.Rest)
	case "exit":
		c.awaitExit(s.Rest)
	default:
		c.fatalf("what is %q?", s.Verb)
	}
}

func (c *Speaker) fatalf(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s: %s\nlog:\n%s", c.where, fmt.Sprintf(format, args...), c.log)
}

func (c *Speaker) check(err error) {
	c.t.Helper()
	if err != nil {
		c.fatalf("%v", err)
	}
}

// Write sends bytes as they are.
func (c *Speaker) Write(b []byte) {
	_, err := c.in.Write(b)
	c.check(err)
}

// message adds the version to a message.
func (c *Speaker) message(body string) []byte {
	rest, ok := strings.CutPrefix(body, "{")
	if !ok || !json.Valid([]byte(body)) {
		c.fatalf("%s is no JSON object", body)
	}
	return []byte(`{"jsonrpc":"2.0",` + rest)
}

// pieces is a text that may be longer than memory.
type pieces struct {
	list []piece
	size int64
}

type piece struct {
	text  string
	times int64
}

// text reads quoted strings, each with *N behind it when it comes N times.
func (c *Speaker) text(quoted string) (p pieces) {
	for rest := quoted; rest != ""; rest = strings.TrimSpace(rest) {
		literal, err := strconv.QuotedPrefix(rest)
		c.check(err)
		text, err := strconv.Unquote(literal)
		c.check(err)
		rest = rest[len(literal):]
		times := int64(1)
		if strings.HasPrefix(rest, "*") {
			number, after, _ := strings.Cut(rest[1:], " ")
			times, err = strconv.ParseInt(number, 10, 64)
			c.check(err)
			rest = after
		}
		p.list = append(p.list, piece{text, times})
		p.size += int64(len(text)) * times
	}
	return p
}

func (p pieces) writeTo(c *Speaker) {
	for _, piece := range p.list {
		atOnce := max(1, min(piece.times, int64(1<<20/max(len(piece.text), 1))))
		chunk := []byte(strings.Repeat(piece.text, int(atOnce)))
		for left := piece.times; left > 0; left -= atOnce {
			c.Write(chunk[:int64(len(piece.text))*min(left, atOnce)])
		}
	}
}

// expect wants the next message to have all that want has. Log messages pass
// by, unless one is wanted.
func (c *Speaker) expect(want string) {
	if c.messages == nil {
		c.messages = make(chan string)
		go c.read()
	}
	var wanted any
	c.check(json.Unmarshal([]byte(want), &wanted))
	late := time.After(Patience)
	for {
		select {
		case message, open := <-c.messages:
			if !open {
				c.fatalf("stdout ended before %s", want)
			}
			if strings.Contains(message, `"window/logMessage"`) && !strings.Contains(want, `"window/logMessage"`) {
				continue
			}
			var got any
			c.check(json.Unmarshal([]byte(message), &got))
			if !contains(got, wanted) {
				c.fatalf("got  %s\nwant %s", message, want)
			}
			return
		case <-late:
			c.fatalf("nothing came; want %s", want)
		}
	}
}

// Drain reads until there is a message that has the text.
func (c *Speaker) Drain(text string) {
	for {
		select {
		case message, open := <-c.messages:
			if !open {
				c.fatalf("stdout ended before %s", text)
			}
			if strings.Contains(message, text) {
				return
			}
		case <-time.After(Patience):
			c.fatalf("nothing came; want %s", text)
		}
	}
}

// read passes the messages on until stdout ends or has something else on it.
func (c *Speaker) read() {
	defer close(c.messages)
	in := bufio.NewReader(c.out)
	for {
		body, err := ReadFrame(in)
		if err != nil {
			return
		}
		select {
		case c.messages <- string(body):
		case <-c.t.Context().Done():
			return
		}
	}
}

// contains says whether got has all that want has; "*" is anything.
func contains(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for key, value := range want {
			member, there := object[key]
			ok = ok && there && contains(member, value)
		}
		return ok
	case []any:
		list, ok := got.([]any)
		ok = ok && len(list) == len(want)
		for i := range want {
			ok = ok && contains(list[i], want[i])
		}
		return ok
	}
	return want == "*" || got == want
}

func (c *Speaker) awaitLog(text string) {
	for end := time.Now().Add(Patience); !strings.Contains(c.log.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.fatalf("the log doesn't say %q", text)
		}
	}
}

func (c *Speaker) signal(name string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "HUP": syscall.SIGHUP, "PIPE": syscall.SIGPIPE}
	sig, ok := signals[name]
	if !ok || c.send == nil {
		c.fatalf("can't send %s", name)
	}
	c.check(c.send(sig))
}

func (c *Speaker) awaitExit(code string) {
	want, err := strconv.Atoi(code)
	c.check(err)
	select {
	case got := <-c.exit:
		if got != want {
			c.fatalf("exit code %d, want %d", got, want)
		}
	case <-time.After(Patience):
		c.fatalf("it doesn't end")
	}
}
