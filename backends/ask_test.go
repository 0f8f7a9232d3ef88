package backends

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

func init() {
	roles["asks twice"] = func() {
		in := bufio.NewReader(os.Stdin)
		in.ReadString('\n')
		for i := range 2 {
			fmt.Printf(`{"type":"extension_ui_request","id":"i%d","method":"confirm","title":"Sure?"}`+"\n", i)
			answer, _ := in.ReadString('\n')
			say(strings.TrimSpace(answer))
		}
		settled()
		readAll()
	}
	roles["asks and dies"] = func() {
		fmt.Println(`{"type":"extension_ui_request","id":"i1","method":"confirm","title":"Sure?"}`)
		os.Exit(7)
	}
	roles["asks and aborts"] = func() {
		in := bufio.NewReader(os.Stdin)
		in.ReadString('\n')
		fmt.Println(`{"type":"extension_ui_request","id":"i1","method":"confirm","title":"Sure?"}`)
		for isAborted := false; ; { // it aborts nothing before it has its answer
			line, _ := in.ReadString('\n')
			if strings.Contains(line, `"cancelled":true`) && isAborted {
				break
			}
			isAborted = isAborted || strings.Contains(line, `"abort"`)
		}
		say("aborted")
		settled()
		readAll()
	}
}

// put is a question with what answers it.
type put struct {
	stream.Question
	answer func(Answer) bool
}

// startAsking starts an agent in a role, whose questions arrive in a channel.
func startAsking(t *testing.T, role string) (p *Process, texts <-chan string, asked chan put) {
	asked = make(chan put, 10)
	p, texts = startRole(t, role, live(make(chan string, 10)), func(s *Spec) {
		s.Ask = func(q stream.Question, answer func(Answer) bool) { asked <- put{q, answer} }
	})
	return p, texts, asked
}

// Each question is answered once, whoever is first.
func TestAnAgentIsAnsweredOnce(t *testing.T) {
	p, texts, asked := startAsking(t, "asks twice")
	first := <-asked
	if !first.answer(Answer{Yes: true}) || first.answer(Answer{}) {
		t.Error("it isn't the first answer that counts")
	}
	if got := await(t, texts); got != `{"confirmed":true,"id":"i0","type":"extension_ui_response"}` {
		t.Errorf("the answer was %s", got)
	}
	second := <-asked
	p.Handle(stream.Withdrawn{ID: "i1"})
	if second.answer(Answer{Yes: true}) {
		t.Error("what is moot is answered")
	}
	p.Stop(0)
	p.Wait()
}

func TestAnAgentThatIsGoneIsNotAnswered(t *testing.T) {
	p, _, asked := startAsking(t, "asks and dies")
	q := <-asked
	if exit := p.Wait(); exit.Code != 7 {
		t.Errorf("%+v", exit)
	}
	if q.answer(Answer{Yes: true}) {
		t.Error("it was answered")
	}
}

// pi aborts nothing while a dialog is open.
func TestAnAgentThatAsksIsAborted(t *testing.T) {
	p, texts, asked := startAsking(t, "asks and aborts")
	q := <-asked
	p.Abort(time.Minute)
	if got := await(t, texts); got != "aborted" {
		t.Errorf("got %q", got)
	}
	if exit := p.Wait(); exit.Code != 0 || q.answer(Answer{Yes: true}) {
		t.Errorf("%+v", exit)
	}
}

// What no user can answer is refused at once, with words.
func TestWhatNoUserCanAnswerIsRefused(t *testing.T) {
	for method, want := range map[string]string{"elicitation": nobody, "hook_callback": nobody} {
		if why := claudeDialect.Refuse(stream.Question{Method: method}); why != want {
			t.Errorf("%s: %q", method, why)
		}
	}
	if why := claudeDialect.Refuse(stream.Question{Method: "can_use_tool", Tool: "AskUserQuestion"}); !strings.Contains(why, "one question at a time") {
		t.Error(why)
	}
	for _, q := range []stream.Question{{Method: "can_use_tool", Tool: "Bash"}, {Method: "select", Tool: "AskUserQuestion"}} {
		if why := claudeDialect.Refuse(q); why != "" {
			t.Errorf("%+v: %s", q, why)
		}
	}
}

func TestAnswersAsTheAgentsReadThem(t *testing.T) {
	bash := stream.Question{ID: "r", Method: "can_use_tool", Tool: "Bash"}
	pick := stream.Question{ID: "r", Method: "select", Tool: "AskUserQuestion", Title: "Which?", Input: json.RawMessage(`{"questions":[{"question":"Which?"}]}`)}
	for _, c := range []struct {
		live dialect
		q    stream.Question
		a    Answer
		want string
	}{
		{claudeDialect, bash, Answer{Yes: true}, `{"behavior":"allow"}`},
		{claudeDialect, bash, Answer{Text: "not <that>"}, `{"behavior":"deny","message":"not <that>"}`},
		{claudeDialect, bash, Answer{}, `{"behavior":"deny","message":"the user said no"}`},
		{claudeDialect, pick, Answer{Yes: true, Text: "A"}, `{"behavior":"allow","updatedInput":{"answers":{"Which?":"A"},"questions":[{"question":"Which?"}]}}`},
		{claudeDialect, pick, Answer{}, `{"behavior":"deny","message":"the user said no"}`},
		{piDialect, stream.Question{ID: "i", Method: "confirm"}, Answer{Yes: true}, `{"confirmed":true,"id":"i","type":"extension_ui_response"}`},
		{piDialect, stream.Question{ID: "i", Method: "select"}, Answer{Yes: true, Text: "B"}, `{"id":"i","type":"extension_ui_response","value":"B"}`},
		{piDialect, stream.Question{ID: "i", Method: "confirm"}, Answer{}, `{"cancelled":true,"id":"i","type":"extension_ui_response"}`},
	} {
		want := c.want
		if c.q.ID == "r" {
			want = `{"response":{"request_id":"r","response":` + want + `,"subtype":"success"},"type":"control_response"}`
		}
		if got := frames(c.live.Answer(c.q, c.a)); len(got) != 1 || string(got[0]) != want+"\n" {
			t.Errorf("got  %swant %s", got, want)
		}
	}
	got := frames(piDialect.Answer(stream.Question{ID: "i", Method: "confirm"}, Answer{Text: "not that"}))
	if len(got) != 2 || !strings.Contains(string(got[0]), `"message":"not that","type":"steer"`) || !strings.Contains(string(got[1]), `"cancelled":true`) { // after a no it reads on too late
		t.Errorf("got %s", got)
	}
}
