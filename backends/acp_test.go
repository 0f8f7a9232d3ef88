package backends

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends/acp"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// acpFake is an agent of the Agent Client Protocol with a vice: what it does with a request, and
// whether that is all.
type acpFake struct {
	in     *bufio.Reader
	prompt json.RawMessage // the id of the prompt that it works on
	asks   bool            // it waits for an answer
	told   string          // what it was told, before that
}

// acpLine is what an agent is told.
type acpLine struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Code int }
}

func (f *acpFake) read() (l acpLine) {
	text, err := f.in.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	if json.Unmarshal([]byte(text), &l) != nil {
		panic(text)
	}
	return l
}

func (f *acpFake) reply(id json.RawMessage, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

func (f *acpFake) update(fields string) {
	fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{%s}}}`+"\n", fields)
}

func (f *acpFake) say(text string) {
	f.update(fmt.Sprintf(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}`, text))
}

func (f *acpFake) end(reason string) { f.reply(f.prompt, fmt.Sprintf(`{"stopReason":%q}`, reason)) }

// ask asks whether it may use a tool, and says what it was answered.
func (f *acpFake) ask(options string) {
	f.asks = true
	fmt.Printf(`{"jsonrpc":"2.0","id":"q-1","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c1","kind":"execute","title":"touch x"},"options":[%s]}}`+"\n", options)
	for {
		l := f.read()
		if string(l.ID) == `"q-1"` {
			f.say(f.told + string(l.Result))
			return
		}
		f.obey(l)
	}
}

const (
	acpOffers  = `{"protocolVersion":1,"agentInfo":{"name":"@x/fake","version":"7"},"agentCapabilities":{"sessionCapabilities":{"delete":{}}},"_meta":{"steering":{"supported":true}}}`
	acpSession = `{"sessionId":"s1","modes":{"currentModeId":"auto","availableModes":[{"id":"auto"},{"id":"edits"}]}}`
	acpOnce    = `{"optionId":"always","kind":"allow_always"},{"optionId":"once","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}`
)

// obey does what is asked, as it is asked of a good agent; but the prompt.
func (f *acpFake) obey(l acpLine) {
	switch l.Method {
	case "initialize":
		f.reply(l.ID, acpOffers)
	case "session/new":
		f.reply(l.ID, acpSession)
	case "session/set_mode", "session/delete":
		fmt.Fprintln(os.Stderr, l.Method, string(l.Params))
		f.reply(l.ID, "{}")
	case "session/prompt":
		f.prompt = l.ID
	case "session/cancel":
		f.end("cancelled")
	case "_session/steering":
		f.reply(l.ID, `{"outcome":"injected"}`)
		f.told = "told " + string(l.Params) + " before "
		if !f.asks {
			f.say("told " + string(l.Params))
			f.end("end_turn")
		}
	}
}

// vices are what else an agent does: by the method that it is asked, or "" for behind its prompt.
var vices = map[string]map[string]func(f *acpFake, l acpLine){
	"works": {"": func(f *acpFake, _ acpLine) {
		f.update(`"sessionUpdate":"tool_call","toolCallId":"c1","kind":"execute","title":"go test","status":"in_progress"`)
		f.update(`"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":"ok"`)
		f.say("done")
		f.end("end_turn")
	}},
	"repeats its ids": {"": func(f *acpFake, _ acpLine) {
		for range 3 {
			f.update(`"sessionUpdate":"tool_call","toolCallId":"c1","kind":"execute","title":"go test","status":"completed","rawOutput":"ok"`)
		}
		f.say("done")
		f.end("end_turn")
	}},
	"says nothing at all": {"": func(f *acpFake, _ acpLine) { f.end("end_turn") }},
	"refuses":             {"": func(f *acpFake, _ acpLine) { f.end("refusal") }},
	"has no such mode":    {"session/new": func(f *acpFake, l acpLine) { f.reply(l.ID, strings.ReplaceAll(acpSession, "edits", "plan")) }},
	"has no modes":        {"session/new": func(f *acpFake, l acpLine) { f.reply(l.ID, `{"sessionId":"s1"}`) }},
	"refuses its mode": {"session/set_mode": func(f *acpFake, l acpLine) {
		fmt.Printf(`{"id":%s,"error":{"code":-32602,"message":"not today"}}`+"\n", l.ID)
	}},
	"has a mode as option": {"session/new": func(f *acpFake, l acpLine) {
		f.reply(l.ID, `{"sessionId":"s1","configOptions":[{"id":"m","category":"mode","options":[{"value":"auto"},{"value":"edits"}]}]}`)
	}, "session/set_config_option": func(f *acpFake, l acpLine) { f.reply(l.ID, "{}") }, "": func(f *acpFake, _ acpLine) { f.say("done"); f.end("end_turn") }},
	"speaks version 2": {"initialize": func(f *acpFake, l acpLine) { f.reply(l.ID, `{"protocolVersion":2}`) }},
	"is limited": {"": func(f *acpFake, _ acpLine) {
		fmt.Printf(`{"id":%s,"error":{"code":-32603,"message":"Internal error: wait","data":{"errorKind":"rate_limit"}}}`+"\n", f.prompt)
	}},
	"has no login": {"session/new": func(f *acpFake, l acpLine) {
		fmt.Printf(`{"id":%s,"error":{"code":-32000,"message":"Log in"}}`+"\n", l.ID)
	}},
	"dies in mid-line": {"": func(*acpFake, acpLine) {
		fmt.Print(`{"jsonrpc":"2.0","method":"session/upd`)
		os.Exit(9)
	}},
	"writes a long line": {"": func(f *acpFake, _ acpLine) {
		f.update(`"sessionUpdate":"tool_call","toolCallId":"c1","kind":"read","status":"completed","rawOutput":"` + strings.Repeat("x", 10<<20) + `"`)
		f.say("done")
		f.end("end_turn")
	}},
	"wants our files": {"": func(f *acpFake, _ acpLine) {
		fmt.Println(`{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}`)
		f.say(fmt.Sprintf("error %d", f.read().Error.Code))
		f.end("end_turn")
	}},
	"asks":               {"": func(f *acpFake, _ acpLine) { f.ask(acpOnce); f.end("end_turn") }},
	"asks for for ever":  {"": func(f *acpFake, _ acpLine) { f.ask(`{"optionId":"always","kind":"allow_always"}`); f.end("end_turn") }},
	"asks after its end": {"session/cancel": func(f *acpFake, _ acpLine) { f.ask(acpOnce); f.end("cancelled") }, "": func(f *acpFake, _ acpLine) { f.say("working") }},
	"works on":           {"": func(f *acpFake, _ acpLine) { f.say("working") }},
	"ignores that it should end": {"": func(f *acpFake, _ acpLine) {
		signal.Ignore(syscall.SIGTERM)
		f.say("working")
	}, "session/cancel": func(*acpFake, acpLine) {}},
	"hangs": {"initialize": func(*acpFake, acpLine) { fmt.Println(`{"jsonrpc":"2.0","method":"_x/hello"}`); time.Sleep(time.Hour) }},
	"leaves a tool": {"": func(f *acpFake, _ acpLine) {
		spawn("deaf sleeper", nil) // in another group, with our output
		f.say("done")
		f.end("end_turn")
	}},
	"dies beside a tool": {"": func(f *acpFake, _ acpLine) {
		spawn("deaf sleeper", nil)
		f.say("working")
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		time.Sleep(time.Hour)
	}},
}

func init() {
	roles["acp"] = func() {
		vice, f := vices[os.Getenv("VICE")], &acpFake{in: bufio.NewReaderSize(os.Stdin, 1<<16)}
		for {
			l := f.read()
			if do := vice[l.Method]; do != nil {
				do(f, l)
				continue
			}
			if f.obey(l); l.Method == "session/prompt" && vice[""] != nil {
				vice[""](f, l)
			}
		}
	}
}

// startACP starts an agent with a vice that is to work in its mode "edits".
func startACP(t *testing.T, vice string, edit ...func(*Spec)) (*Process, <-chan string) {
	t.Helper()
	if vices[vice] == nil {
		t.Fatal("no such vice")
	}
	t.Setenv("VICE", vice)
	return startRole(t, "acp", append([]func(*Spec){func(s *Spec) { s.Backend = CustomACP(os.Args[0], nil, acp.Agent{Mode: "edits"}) }}, edit...)...)
}

// answering lets an agent ask, and answers at once.
func answering(a Answer) func(*Spec) {
	return func(s *Spec) { s.Ask = func(_ stream.Question, answer func(Answer) bool) { answer(a) } }
}

// Whatever an agent does, a run ends with what it came to, and nothing of it is left.
func TestAgentsOfTheProtocol(t *testing.T) {
	for _, tt := range []struct {
		vice          string
		edit          func(*Spec)
		text, failure string
		tools         int
		kind          stream.ErrorKind
		refused       bool
		denied        int
		strays        int
	}{
		{vice: "works", text: "done", tools: 1},
		{vice: "repeats its ids", text: "done", tools: 1},
		{vice: "says nothing at all", failure: "without a word"},
		{vice: "refuses", failure: "the agent stopped: refusal"},
		{vice: "has no such mode", failure: "the agent has no mode edits, but auto, plan", refused: true},
		{vice: "has no modes", failure: "the agent has no mode edits, but none at all", refused: true},
		{vice: "refuses its mode", failure: "can't be set to its mode edits: not today", refused: true},
		{vice: "has a mode as option", text: "done"},
		{vice: "speaks version 2", failure: "speaks version 2 of the Agent Client Protocol, and not 1", refused: true},
		{vice: "is limited", failure: "wait", kind: stream.KindRateLimit},
		{vice: "has no login", failure: "Log in", kind: stream.KindAuth, refused: true},
		{vice: "dies in mid-line", failure: "cut off in the middle", kind: stream.KindServer},
		{vice: "writes a long line", text: "done", tools: 1},
		{vice: "wants our files", text: "error -32601"},
		{vice: "asks", edit: answering(Answer{Yes: true}), text: `{"outcome":{"optionId":"once","outcome":"selected"}}`, tools: 1},
		{vice: "asks", edit: answering(Answer{}), text: `{"outcome":{"optionId":"no","outcome":"selected"}}`, tools: 1},
		{vice: "asks", text: `{"outcome":{"optionId":"no","outcome":"selected"}}`, tools: 1, denied: 1},
		{vice: "asks for for ever", edit: answering(Answer{Yes: true}), text: `{"outcome":{"outcome":"cancelled"}}`, tools: 1, denied: 1},
		{vice: "asks", edit: answering(Answer{Text: "not now"}), text: `told {"_meta":{"steering":{"idleBehavior":"promptRequired"}},"prompt":[{"text":"not now","type":"text"}],"sessionId":"s1"} before {"outcome":{"optionId":"no","outcome":"selected"}}`, tools: 1},
		{vice: "leaves a tool", text: "done", strays: 1},
		{vice: "dies beside a tool", text: "working", failure: "the stream ended before the agent was done", strays: 1},
	} {
		t.Run(tt.vice, func(t *testing.T) {
			if tt.edit == nil {
				tt.edit = func(*Spec) {}
			}
			p, _ := startACP(t, tt.vice, tt.edit)
			exit := p.Wait()
			r := exit.Result
			if r.Text != tt.text || r.ToolCalls != tt.tools || len(r.Denials) != tt.denied || exit.Strays != tt.strays || exit.Survivor != nil {
				t.Errorf("got %+v", exit)
			}
			switch f := r.Failure; {
			case (f != nil) != (tt.failure != ""):
				t.Errorf("it failed with %+v", f)
			case f != nil && (!strings.Contains(f.Message, tt.failure) || f.Kind != tt.kind || f.Refused != tt.refused):
				t.Errorf("it failed with %+v", f)
			}
			checkNothingLeft(t, p)
		})
	}
}

// A run of one is a conversation in this order, and leaves nothing in the user's history.
func TestTheConversationOfARun(t *testing.T) {
	var told []string
	var mu sync.Mutex
	p, _ := startACP(t, "works", func(s *Spec) {
		s.Handler = stream.HandlerFunc(func(e stream.Event) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("%T", e))
		})
	})
	exit := p.Wait()
	want := "session/set_mode {\"modeId\":\"edits\",\"sessionId\":\"s1\"}\nsession/delete {\"sessionId\":\"s1\"}"
	if exit.Stderr != want || exit.Code != 0 || exit.Lingered {
		t.Errorf("got %+v", exit)
	}
	if slices.Contains(told, "stream.Answered") {
		t.Error("what is between us and the agent is told")
	}
}

func TestAnAgentOfTheProtocolIsSteered(t *testing.T) {
	heard := make(chan string, 9)
	p, texts := startACP(t, "works on", func(s *Spec) {
		next := s.Handler
		s.Handler = stream.HandlerFunc(func(e stream.Event) {
			switch e := e.(type) {
			case stream.Text:
				heard <- e.Delta
			case stream.Heard:
				heard <- "heard " + e.ID
			}
			next.Handle(e)
		})
	})
	await(t, heard)
	if !p.Steer("g1", "leave the parser alone") {
		t.Fatal("it isn't told")
	}
	if got := await(t, heard); got != "heard g1" {
		t.Error(got)
	}
	p.Wait()
	if got := await(t, texts); !strings.Contains(got, `"text":"leave the parser alone"`) {
		t.Error(got)
	}
}

// An agent is asked to end, and ended where it doesn't. Questions that it has left are answered.
func TestAnAgentOfTheProtocolIsAborted(t *testing.T) {
	for _, tt := range []struct {
		vice, failure, text string
		grace               time.Duration
	}{
		{"works on", "the run was cancelled", "working", hangs},
		{"asks after its end", "the run was cancelled", `{"outcome":{"outcome":"cancelled"}}`, hangs},
		{"ignores that it should end", "the stream ended before the agent was done", "working", 50 * time.Millisecond},
		{"hangs", "the stream ended before the agent was done", "", 50 * time.Millisecond},
	} {
		t.Run(tt.vice, func(t *testing.T) {
			begun := make(chan string, 9)
			p, _ := startACP(t, tt.vice, answering(Answer{Yes: true}), func(s *Spec) {
				s.Handler = stream.HandlerFunc(func(e stream.Event) {
					if text, ok := e.(stream.Text); ok {
						begun <- text.Delta
					}
				})
				if tt.vice == "hangs" {
					var once sync.Once
					s.OnOutput = func() { once.Do(func() { begun <- "" }) }
				}
			})
			await(t, begun)
			p.Abort(tt.grace)
			exit := p.Wait()
			if f := exit.Result.Failure; !exit.Stopped || f == nil || f.Message != tt.failure || exit.Result.Text != tt.text {
				t.Errorf("got %+v, %+v", exit, f)
			}
			checkNothingLeft(t, p)
		})
	}
}
