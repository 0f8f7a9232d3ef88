package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ralph-lsp/internal/lsptest"
)

// patience bounds every wait of a test for something that must happen.
const patience = time.Minute

// conversation is what a client says and must hear. testdata/conversations
// has the format in its README.
type conversation struct {
	title string
	runs  string // "inside", "outside" or, for both, ""
	steps []step
}

type step struct {
	where      string // file:line
	verb, rest string
}

func readConversations(t *testing.T) []conversation {
	t.Helper()
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations (%v)", err)
	}
	var all []conversation
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
				all = append(all, conversation{title: title, runs: runs})
			case len(all) == 0:
				t.Fatalf("%s: no title yet", where)
			default:
				last := &all[len(all)-1]
				last.steps = append(last.steps, step{where, verb, strings.TrimSpace(rest)})
			}
		}
	}
	return all
}

// TestConversations has each of them twice: with a server in this process and
// with the program as editors start it.
func TestConversations(t *testing.T) {
	program := buildProgram(t)
	for _, c := range readConversations(t) {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			if c.runs != "outside" {
				t.Run("inside", func(t *testing.T) { startInside(t).play(c.steps) })
			}
			if c.runs != "inside" {
				t.Run("outside", func(t *testing.T) { startOutside(t, program).play(c.steps) })
			}
		})
	}
}

func buildProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "ralph-lsp")
	out, err := exec.Command("go", "build", "-o", program, "../cmd/ralph-lsp").CombinedOutput()
	if err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	return program
}

// speaker is the client of a conversation.
type speaker struct {
	t     *testing.T
	where string
	in    io.WriteCloser
	out   io.ReadCloser
	log   *logBuffer
	exit  <-chan int
	send  func(os.Signal) error // nil inside

	messages chan string // nil until the client begins to read
	pings    int
}

type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func startInside(t *testing.T) *speaker {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	exit := make(chan int, 1)
	log := new(logBuffer)
	go func() {
		exit <- Run(t.Context(), inR, outW, Options{Version: "test", Log: slog.New(slog.NewTextHandler(log, nil))})
		_, _ = inR.Close(), outW.Close() // as the end of a process does
	}()
	t.Cleanup(func() { _, _ = inW.Close(), outR.Close() })
	return &speaker{t: t, in: inW, out: outR, log: log, exit: exit}
}

func startOutside(t *testing.T, program string) *speaker {
	cmd := exec.Command(program)
	cmd.Dir = t.TempDir()
	log := new(logBuffer)
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = outW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = outW.Close()
	exit := make(chan int, 1)
	go func() {
		_ = cmd.Wait()
		exit <- cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { _, _, _ = in.Close(), out.Close(), cmd.Process.Kill() })
	return &speaker{t: t, in: in, out: out, log: log, exit: exit, send: cmd.Process.Signal}
}

func (c *speaker) play(steps []step) {
	for _, s := range steps {
		c.where = s.where
		c.step(s)
	}
}

func (c *speaker) step(s step) {
	switch s.verb + " " + s.rest {
	case "close stdin":
		c.check(c.in.Close())
		return
	case "close stdout":
		c.check(c.out.Close())
		return
	}
	switch s.verb {
	case "send":
		c.write(frame(c.message(s.rest)))
	case "flood":
		times, body, _ := strings.Cut(s.rest, " ")
		n, err := strconv.Atoi(times)
		c.check(err)
		framed := frame(c.message(body))
		for range n {
			c.write(framed)
		}
	case "frame":
		body := c.text(s.rest)
		fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n", body.size)
		body.writeTo(c)
	case "raw":
		c.text(s.rest).writeTo(c)
	case "expect":
		c.expect(s.rest)
	case "quiet":
		c.pings++
		c.write(frame(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"ping %d","method":"ping"}`, c.pings)))
		c.expect(fmt.Sprintf(`{"id":"ping %d"}`, c.pings))
	case "log":
		c.awaitLog(s.rest)
	case "signal":
		c.signal(s.rest)
	case "exit":
		c.awaitExit(s.rest)
	default:
		c.fatalf("what is %q?", s.verb)
	}
}

func (c *speaker) fatalf(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s: %s\nlog:\n%s", c.where, fmt.Sprintf(format, args...), c.log)
}

func (c *speaker) check(err error) {
	c.t.Helper()
	if err != nil {
		c.fatalf("%v", err)
	}
}

func (c *speaker) write(b []byte) {
	_, err := c.in.Write(b)
	c.check(err)
}

// message adds the version to a message.
func (c *speaker) message(body string) []byte {
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
func (c *speaker) text(quoted string) (p pieces) {
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

func (p pieces) writeTo(c *speaker) {
	for _, piece := range p.list {
		atOnce := max(1, min(piece.times, int64(1<<20/max(len(piece.text), 1))))
		chunk := []byte(strings.Repeat(piece.text, int(atOnce)))
		for left := piece.times; left > 0; left -= atOnce {
			c.write(chunk[:int64(len(piece.text))*min(left, atOnce)])
		}
	}
}

// expect wants the next message to have all that want has. Log messages pass
// by, unless one is wanted.
func (c *speaker) expect(want string) {
	if c.messages == nil {
		c.messages = make(chan string)
		go c.read()
	}
	var wanted any
	c.check(json.Unmarshal([]byte(want), &wanted))
	late := time.After(patience)
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

// drain reads until there is a message that has the text.
func (c *speaker) drain(text string) {
	for {
		select {
		case message, open := <-c.messages:
			if !open {
				c.fatalf("stdout ended before %s", text)
			}
			if strings.Contains(message, text) {
				return
			}
		case <-time.After(patience):
			c.fatalf("nothing came; want %s", text)
		}
	}
}

// read passes the messages on until stdout ends or has something else on it.
func (c *speaker) read() {
	defer close(c.messages)
	in := bufio.NewReader(c.out)
	for {
		body, err := lsptest.ReadFrame(in)
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

func (c *speaker) awaitLog(text string) {
	for end := time.Now().Add(patience); !strings.Contains(c.log.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.fatalf("the log doesn't say %q", text)
		}
	}
}

func (c *speaker) signal(name string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "HUP": syscall.SIGHUP, "PIPE": syscall.SIGPIPE}
	sig, ok := signals[name]
	if !ok || c.send == nil {
		c.fatalf("can't send %s", name)
	}
	c.check(c.send(sig))
}

func (c *speaker) awaitExit(code string) {
	want, err := strconv.Atoi(code)
	c.check(err)
	select {
	case got := <-c.exit:
		if got != want {
			c.fatalf("exit code %d, want %d", got, want)
		}
	case <-time.After(patience):
		c.fatalf("it doesn't end")
	}
}
