package backends

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

func init() {
	roles["is talked to"] = func() { talked(func(string) bool { return true }) }
	roles["ends with its answer"] = func() { talked(func(kind string) bool { return kind != "steer" }) }
	roles["refuses its prompt"] = func() {
		fmt.Println(`{"type":"response","command":"prompt","success":false,"error":"No API key found"}`)
		readAll()
	}
	roles["lets an extension take its prompt"] = func() {
		in := bufio.NewReader(os.Stdin)
		in.ReadString('\n')
		fmt.Println(`{"id":"p1","type":"response","command":"prompt","success":true}`)
		in.ReadString('\n')
		fmt.Println(`{"type":"response","command":"get_state","success":true,"data":{"isStreaming":false}}`)
		readAll()
	}
	roles["never reads"] = func() {
		say("I don't listen")
		time.Sleep(time.Hour)
	}
	roles["dies when it is talked to"] = func() {
		in := bufio.NewReader(os.Stdin)
		in.ReadString('\n')
		say("working")
		in.ReadByte() // of what is written to it
		os.Exit(7)
	}
	roles["ignores that it should end"] = func() {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		say("working")
		readAll()
		time.Sleep(time.Hour)
	}
	roles["asks"] = func() {
		in := bufio.NewReader(os.Stdin)
		in.ReadString('\n')
		fmt.Println(`{"type":"extension_ui_request","id":"i1","method":"confirm","title":"Sure?"}`)
		words, _ := in.ReadString('\n')
		say(regexp.MustCompile(`"id":"[^"]*",`).ReplaceAllString(strings.TrimSpace(words), ""))
		answer, _ := in.ReadString('\n')
		say(strings.TrimSpace(answer))
		settled()
		readAll()
	}
}

func readAll() {
	for in := bufio.NewReader(os.Stdin); ; {
		if _, err := in.ReadString('\n'); err != nil {
			return
		}
	}
}

// talked says what it reads, in pi's way, until it is told to "end", or aborted.
func talked(obey func(kind string) bool) {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			say("closed")
			settled()
			return
		}
		var f struct{ Type, Message string }
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			panic(err)
		}
		if !obey(f.Type) {
			settled()
			continue
		}
		switch f.Type {
		case "steer":
			quoted, _ := json.Marshal(f.Message)
			fmt.Printf(`{"type":"queue_update","steering":[%s],"followUp":[]}`+"\n", quoted)
			fmt.Printf(`{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":%s}]}}`+"\n", quoted)
			if f.Message == "end" {
				settled()
			}
		case "abort":
			say("aborted")
			settled()
		default:
			if len(f.Message) > 100 {
				f.Message = fmt.Sprintf("%d bytes", len(f.Message))
			}
			say(f.Type + ": " + f.Message)
		}
	}
}

// live lets a role be talked to in pi's way, and hands on what it has heard.
func live(heard chan<- string) func(*Spec) {
	return func(s *Spec) {
		s.Backend.Live, s.Backend.Prompt = &piLive, PromptLive
		say := s.Handler
		s.Handler = stream.HandlerFunc(func(e stream.Event) {
			if h, ok := e.(stream.Heard); ok {
				heard <- h.ID + h.Text
				return
			}
			say.Handle(e)
		})
	}
}

func startLive(t *testing.T, role string) (p *Process, texts, heard <-chan string) {
	ids := make(chan string, 100)
	p, texts = startRole(t, role, live(ids))
	return p, texts, ids
}

func TestAnAgentIsToldMoreWhileItWorks(t *testing.T) {
	p, texts, heard := startLive(t, "is talked to")
	if got := await(t, texts); got != "prompt: do it" {
		t.Fatalf("it was told %q", got)
	}
	long := strings.Repeat("x", 1<<20)
	for i, text := range []string{"not that\nfile \u2028 <b>", long, "end"} {
		if !p.Steer(fmt.Sprint("g", i), text) {
			t.Fatalf("%.20s wasn't taken", text)
		}
		if got := await(t, heard); got != fmt.Sprint("g", i) {
			t.Fatalf("it has heard %q", got)
		}
	}
	if got := await(t, texts); got != "closed" {
		t.Errorf("behind the end it got %q", got)
	}
	exit := p.Wait()
	if exit.Code != 0 || exit.Lingered || exit.Stopped || !exit.Result.Terminal {
		t.Errorf("%+v", exit)
	}
	if p.Steer("late", "more") {
		t.Error("it was told more behind its end")
	}
}

func TestAPromptOfAnyLengthGoesIn(t *testing.T) {
	p, texts := startRole(t, "is talked to", live(make(chan string, 1)), func(s *Spec) { s.Prompt = strings.Repeat("y", maxSaid+5) })
	if got, want := await(t, texts), fmt.Sprintf("prompt: %d bytes", maxSaid+5); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Stop(0)
	p.Wait()
}

// Nothing is written behind the end, even if there is more to say by then.
func TestWhatComesTooLateIsNotHeard(t *testing.T) {
	p, texts, heard := startLive(t, "ends with its answer")
	await(t, texts)
	proctest.Until(t, "that the end is seen", func() bool { return !p.Steer("g", "too late") })
	exit := p.Wait()
	if len(heard) > 0 || exit.Code != 0 || exit.Lingered {
		t.Errorf("heard %d, %+v", len(heard), exit)
	}
}

// So it is with one that no agent ever sees: without a word pi would wait for another.
func TestARefusedPromptEndsTheRunAtOnce(t *testing.T) {
	for _, role := range []string{"refuses its prompt", "lets an extension take its prompt"} {
		p, _, heard := startLive(t, role)
		exit := p.Wait()
		if f := exit.Result.Failure; f == nil || !f.Refused || exit.Lingered || exit.Stopped || exit.Code != 0 || len(heard) > 0 {
			t.Errorf("%s: %+v", role, exit)
		}
	}
}

// Its words wait in a queue that has an end, and it can be ended.
func TestAnAgentThatNeverReadsKeepsNobodyWaiting(t *testing.T) {
	for name, end := range map[string]func(*Process){
		"stopped": func(p *Process) { p.Stop(Grace) },
		"killed":  func(p *Process) { p.Stop(0) },
		"aborted": func(p *Process) { p.Abort(10 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			p, texts := startRole(t, "never reads", live(nil), func(s *Spec) { s.Prompt = strings.Repeat("z", 1<<20) })
			await(t, texts)
			told := 0
			for p.Steer("g", strings.Repeat("x", 1<<20)) {
				told++
			}
			if told == 0 || told >= maxSaid>>20 { // a frame is a little longer
				t.Errorf("%d pieces of a megabyte wait", told)
			}
			end(p)
			if exit := p.Wait(); exit.Survivor != nil || !exit.Stopped {
				t.Errorf("%+v", exit)
			}
		})
	}
}

func TestAnAgentMayDieWhileItIsTalkedTo(t *testing.T) {
	p, texts, heard := startLive(t, "dies when it is talked to")
	await(t, texts)
	proctest.Until(t, "its death", func() bool { return !p.Steer("g", strings.Repeat("x", 1<<20)) })
	if exit := p.Wait(); exit.Code != 7 || len(heard) > 0 {
		t.Errorf("heard %d, %+v", len(heard), exit)
	}
}

func TestAnAgentIsAbortedInItsOwnWay(t *testing.T) {
	p, texts, heard := startLive(t, "is talked to")
	await(t, texts)
	p.Abort(Grace)
	if got := await(t, texts); got != "aborted" {
		t.Fatalf("got %q", got)
	}
	exit := p.Wait()
	if exit.Signal != "" || exit.Code != 0 || !exit.Stopped || len(heard) > 0 {
		t.Errorf("%+v", exit)
	}
	if p.Steer("g", "more") {
		t.Error("it was told more")
	}
}

func TestAnAgentThatDoesNotAbortIsStopped(t *testing.T) {
	p, texts, _ := startLive(t, "ignores that it should end")
	await(t, texts)
	p.Abort(10 * time.Millisecond)
	p.Stop(0) // a shorter grace hastens it, whatever it is at
	if exit := p.Wait(); exit.Survivor != nil || !exit.Stopped {
		t.Errorf("%+v", exit)
	}
}

func TestAnAgentThatIsNotTalkedToIsAbortedByASignal(t *testing.T) {
	p, texts := startRole(t, "hangs with words")
	await(t, texts)
	if p.Steer("g", "more") {
		t.Error("it was told more")
	}
	p.TakeBack()
	p.Abort(Grace)
	if exit := p.Wait(); exit.Signal == "" || !exit.Stopped {
		t.Errorf("%+v", exit)
	}
}

func init() {
	roles["hangs with words"] = func() {
		say("working")
		time.Sleep(time.Hour)
	}
}

// Nobody is there to be asked, and the run goes on.
func TestAQuestionIsDeclined(t *testing.T) {
	p, texts, _ := startLive(t, "asks")
	for _, want := range []string{`{"message":"nobody is there to be asked","type":"steer"}`, `{"cancelled":true,"id":"i1","type":"extension_ui_response"}`} {
		if got := await(t, texts); got != want {
			t.Errorf("it was told %s, not %s", got, want)
		}
	}
	if exit := p.Wait(); exit.Code != 0 || exit.Lingered {
		t.Errorf("%+v", exit)
	}
}

func TestFramesOfTheAgents(t *testing.T) {
	for _, c := range []struct {
		frame any
		want  string
	}{
		{piDialect.Prompt("u", "a\nb"), `{"id":"u","message":"a\nb","type":"prompt"}`},
		{piDialect.Steer("u", "<x>"), `{"id":"u","message":"<x>","type":"steer"}`},
		{piDialect.TakeBack([]string{"u"})[0], `{"type":"clear_queue"}`},
		{piDialect.Abort("u"), `{"id":"u","type":"abort"}`},
		{claudeDialect.Steer("u", "a"), `{"message":{"content":[{"text":"a","type":"text"}],"role":"user"},"type":"user","uuid":"u"}`},
		{claudeDialect.TakeBack([]string{"u"})[0], `{"request":{"message_uuid":"u","subtype":"cancel_async_message"},"request_id":"u","type":"control_request"}`},
		{claudeDialect.Abort("u"), `{"request":{"subtype":"interrupt"},"request_id":"u","type":"control_request"}`},
		{piDialect.Check(), `{"type":"get_state"}`},
		{claudeDialect.Answer(stream.Question{ID: "r", Method: "elicitation"}, Answer{Text: nobody})[0], `{"response":{"error":"nobody is there to be asked","request_id":"r","subtype":"error"},"type":"control_response"}`},
		{claudeDialect.Answer(stream.Question{ID: "r", Method: "can_use_tool"}, Answer{Text: nobody})[0], `{"response":{"request_id":"r","response":{"behavior":"deny","message":"nobody is there to be asked"},"subtype":"success"},"type":"control_response"}`},
	} {
		if got := string(frame(c.frame)); got != c.want+"\n" {
			t.Errorf("got  %swant %s", got, c.want)
		}
	}
}

// installed puts a program into a package as npm does, and finds it by its name alone.
func installed(t *testing.T, name, version string) Backend {
	t.Helper()
	root := t.TempDir()
	pkg, bin := filepath.Join(root, "node_modules", "pkg"), filepath.Join(root, "node_modules", ".bin")
	for _, dir := range []string{filepath.Join(pkg, "dist"), bin} {
		must.OK(t, os.MkdirAll(dir, 0o700))
	}
	for file, text := range map[string]string{
		filepath.Join(pkg, "package.json"):      fmt.Sprintf(`{"name":%q,"version":%q}`, name, version),
		filepath.Join(pkg, "dist", "cli.js"):    "#!/bin/sh\nexit 9\n",
		filepath.Join(pkg, "dist", "other.txt"): "",
	} {
		must.OK(t, os.WriteFile(file, []byte(text), 0o700))
	}
	must.OK(t, os.Symlink(filepath.Join(pkg, "dist", "cli.js"), filepath.Join(bin, "pi")))
	b := pi
	b.Command = filepath.Join(bin, "pi")
	return b
}

func TestWhichPiCanBeTalkedTo(t *testing.T) {
	const name = "@earendil-works/pi-coding-agent"
	for version, want := range map[string]bool{"0.87.1": true, "0.80.4": true, "1.0.0-beta.1": true, "0.80.3": false, "0.73.1": false, "": false} {
		if got := installed(t, name, version).Talking(t.Context(), nil); (got.Prompt == PromptLive) != want {
			t.Errorf("%q: %s", version, got.Prompt)
		}
	}
	if got := installed(t, "@mariozechner/pi-coding-agent", "0.87.1").Talking(t.Context(), nil); got.Prompt != PromptStdin {
		t.Error("another package's program is believed")
	}
}

func TestTheUsersArgumentsMayKeepAnAgentFromBeingTalkedTo(t *testing.T) {
	b := installed(t, "@earendil-works/pi-coding-agent", "0.87.1")
	for args, want := range map[string]PromptMode{
		"": PromptLive, "--thinking high": PromptLive, "--mode text": PromptStdin, "--mode=json": PromptStdin, "--print": PromptStdin, "@notes.md": PromptStdin,
	} {
		got := b.Talking(t.Context(), strings.Fields(args))
		if got.Prompt != want {
			t.Errorf("%q: %s", args, got.Prompt)
		}
		line := strings.Join(got.Argv(nil, nil), " ")
		if wantLine := map[PromptMode]string{PromptLive: "--mode rpc --no-session", PromptStdin: "-p --mode json --no-session"}[want]; line != wantLine {
			t.Errorf("%q: %s", args, line)
		}
	}
	if got := codex.Talking(t.Context(), nil); got.Prompt != codex.Prompt {
		t.Error("codex is talked to")
	}
	if !slices.Equal(pi.Args, []string{"-p", "--mode", "json", "--no-session"}) {
		t.Errorf("pi's own arguments are %q", pi.Args)
	}
}
