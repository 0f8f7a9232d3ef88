package notify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// secret is in all that isn't ours: no note may have it.
const secret = "hunter2"

// said collects what ways and warnings say.
type said struct {
	mu    sync.Mutex
	notes []Note
	warns []string
}

func (s *said) take(_ context.Context, n Note) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, n)
	return nil
}

func (s *said) warn(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warns = append(s.warns, text)
}

// told runs a loop with these events, and returns what was told and warned of.
func told(t *testing.T, cfg setup.Config, events ...loop.Event) *said {
	t.Helper()
	s := &said{}
	if cfg.Notify.On == nil {
		cfg.Notify.On = settings.NotifyEvents()
	}
	cfg.Folder = "/home/u/project"
	teller := New(cfg, At{Warn: s.warn})
	teller.ways = []way{{Name: "test", send: s.take}}
	teller.id = "ralph-x"
	close(teller.known)
	for _, e := range events {
		teller.HandleLoop(e)
		teller.under.Wait()
	}
	teller.Close()
	return s
}

func begin() loop.Event { return loop.IterationStart{Iteration: 1} }

func endOf(reason loop.StopReason) loop.End {
	return loop.End{Reason: reason, Iterations: 3, Promise: secret, Error: secret, Verified: secret, Cost: stream.USD(1.5), Duration: stream.Duration(time.Minute),
		Hats: []loop.HatCost{{Hat: secret, Cost: stream.USD(1)}}, Denials: []stream.Denial{{Tool: secret}}}
}

func waiting(reason string, d time.Duration) loop.Event {
	return loop.StateChanged{State: loop.StateWaiting, Reason: reason, ResumeAt: time.Now().Add(d)}
}

func paused(reason string) loop.Event {
	return loop.StateChanged{State: loop.StatePaused, Reason: reason}
}

func TestWhatIsTold(t *testing.T) {
	var question loop.Asked
	question.Title, question.Detail = secret, secret
	well := loop.IterationEnd{Outcome: loop.OutcomeOK, Text: secret}
	limited := waiting(loop.WaitRateLimit, time.Hour)
	for _, tt := range []struct {
		name   string
		events []loop.Event
		want   string // "EVENT TEXT", or its beginning, each in a line
	}{
		{"done", []loop.Event{begin(), endOf(loop.StopPromise)}, "end done after 3 iterations · $1.50 · 1m00s · verified: by its check"},
		{"a limit", []loop.Event{begin(), endOf(loop.StopMaxCost)}, "end stopped after 3 iterations: cost limit reached"},
		{"failed", []loop.Event{begin(), endOf(loop.StopFailures)}, "failed failed after 3 iterations: too many failures in a row"},
		{"nobody answered", []loop.Event{begin(), endOf(loop.StopUnanswered)}, "failed stopped after 3 iterations: nobody answered"},
		{"cancelled", []loop.Event{begin(), endOf(loop.StopCancelled)}, ""},
		{"its file was removed", []loop.Event{begin(), endOf(loop.StopStateRemoved)}, ""},
		{"Ctrl-C", []loop.Event{begin(), endOf(loop.StopInterrupted)}, ""},
		{"it goes on elsewhere", []loop.Event{begin(), endOf(loop.StopDetached)}, ""},
		{"one iteration", []loop.Event{begin(), endOf(loop.StopOnce)}, ""},
		{"a question", []loop.Event{begin(), question, loop.StateChanged{State: loop.StateWaiting, Reason: loop.WaitPermission}, loop.Answered{}}, "question it has a question"},
		{"paused by its user", []loop.Event{begin(), paused(loop.PauseUser)}, ""},
		{"paused by itself", []loop.Event{begin(), paused(loop.PauseUnchecked)}, "paused paused: the promise can't be verified"},
		{"paused when it was left alone", []loop.Event{paused(loop.PauseUnchecked), begin()}, ""},
		{"a long wait is told once", []loop.Event{begin(), limited, limited, waiting(loop.WaitOverloaded, time.Hour)}, "waiting waiting (rate limit) until\nwaiting waiting (provider overloaded) until"},
		{"and again when the loop has worked", []loop.Event{begin(), limited, begin(), well, limited}, "waiting waiting (rate limit)\nwaiting waiting (rate limit)"},
		{"a short one isn't", []loop.Event{begin(), waiting(loop.WaitBackoff, 50*time.Second)}, ""},
		{"one without an end is", []loop.Event{begin(), loop.StateChanged{State: loop.StateWaiting, Reason: loop.WaitResources}}, "waiting waiting (machine short of resources)"},
		{"the rest", []loop.Event{begin(), well, loop.Warning{Message: secret}, loop.Verify{Output: secret}, loop.NearMiss{Found: secret}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := told(t, setup.Config{Prompt: secret}, tt.events...)
			var got []string
			for _, n := range s.notes {
				got = append(got, n.Event+" "+n.Text)
				if n.LoopID != "ralph-x" || n.Folder != "/home/u/project" || n.Title != "Ralph in project" || n.Class == "" {
					t.Errorf("got %+v", n)
				}
				if data, err := json.Marshal(n); err != nil || strings.Contains(string(data), secret) {
					t.Errorf("what isn't ours is in %s (%v)", data, err)
				}
			}
			want := strings.Split(tt.want, "\n")
			if tt.want == "" {
				want = nil
			}
			if !slices.EqualFunc(got, want, strings.HasPrefix) || len(s.warns) > 0 {
				t.Errorf("got %q, want %q; warnings %q", got, want, s.warns)
			}
		})
	}
}

func TestOnlyWhatIsWanted(t *testing.T) {
	end := endOf(loop.StopFailures)
	if s := told(t, setup.Config{Notify: settings.Notify{On: []string{settings.NotifyEnd}}}, begin(), end); len(s.notes) > 0 {
		t.Errorf("got %+v", s.notes)
	}
	s := told(t, setup.Config{Notify: settings.Notify{Include: []string{settings.NotifyReceipt}}}, begin(), end)
	if len(s.notes) != 1 || !strings.Contains(s.notes[0].Receipt, "Result: failed: ") || !strings.Contains(s.notes[0].Receipt, "Problem: "+secret) {
		t.Errorf("got %+v", s.notes)
	}
	if tl := New(setup.Config{Once: true}, At{}); tl.ways != nil {
		t.Errorf("a program that holds a loop is called in %d ways", len(tl.ways))
	}
}

// hurried makes tries short, for what fails.
func hurried(t *testing.T, each time.Duration) {
	before := [2]time.Duration{limit, pause}
	limit, pause = each, time.Millisecond
	t.Cleanup(func() { limit, pause = before[0], before[1] })
}

// teller is one with real ways.
func teller(t *testing.T, n settings.Notify, at At) (*Notifier, *said) {
	s := &said{}
	at.Warn = s.warn
	n.On = settings.NotifyEvents()
	tl := New(setup.Config{Folder: t.TempDir(), Notify: n}, at)
	close(tl.known)
	return tl, s
}

func TestWebhookIsTriedAgain(t *testing.T) {
	hurried(t, time.Minute)
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bodies = append(bodies, r.Method+" "+r.Header.Get("Content-Type")+" "+string(body)); len(bodies) < tries {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer server.Close()
	tl, s := teller(t, settings.Notify{Webhook: server.URL + "/" + secret}, At{})
	tl.HandleLoop(endOf(loop.StopPromise))
	tl.Close()
	want := `POST application/json {"event":"end","folder":"` + filepath.ToSlash(tl.cfg.Folder) + `","title":"Ralph in `
	if len(bodies) != tries || !strings.HasPrefix(bodies[0], want) || bodies[0] != bodies[2] || len(s.warns) > 0 {
		t.Errorf("got %q, and warned %q; want %d with %q", bodies, s.warns, tries, want)
	}
}

func TestWebhookThatFails(t *testing.T) {
	hurried(t, time.Minute)
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.invalid/", http.StatusTemporaryRedirect))
	defer moved.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, tt := range []struct{ url, want string }{
		{moved.URL, "webhook didn't notify you: the server says 307"},
		{gone.URL, "webhook didn't notify you: curl (exit code 7) curl: (7) Failed to connect"},
	} {
		tl, s := teller(t, settings.Notify{Webhook: tt.url + "/" + secret}, At{})
		tl.HandleLoop(endOf(loop.StopPromise))
		tl.Close()
		if len(s.warns) != 1 || !strings.HasPrefix(s.warns[0], tt.want) || strings.Contains(s.warns[0], secret) {
			t.Errorf("warned %q, want %q", s.warns, tt.want)
		}
	}
}

// What hangs slows neither the loop nor, for longer than a moment, its end.
func TestHangingWebhook(t *testing.T) {
	hurried(t, time.Hour)
	begun, release := make(chan struct{}, 2), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-release
	}))
	defer server.Close()
	defer close(release)
	for _, end := range []struct {
		reason loop.StopReason
		warns  int
	}{{loop.StopPromise, 1}, {loop.StopCancelled, 0}} {
		tl, s := teller(t, settings.Notify{Webhook: server.URL}, At{})
		tl.patience = time.Millisecond
		if end.reason == loop.StopCancelled {
			tl.patience = time.Hour // which a user who ends the loop doesn't wait
			tl.HandleLoop(loop.Asked{})
			<-begun
		}
		tl.HandleLoop(endOf(end.reason))
		tl.Close()
		if len(s.warns) != end.warns || len(s.warns) > 0 && !strings.Contains(s.warns[0], errLate.Error()) {
			t.Errorf("%s: warned %q", end.reason, s.warns)
		}
	}
}

func TestWhatTakesTooLongIsTriedAgain(t *testing.T) {
	hurried(t, time.Millisecond)
	n := 0
	w := way{send: func(ctx context.Context, _ Note) error {
		n++
		<-ctx.Done()
		return ctx.Err()
	}}
	if err := w.deliver(t.Context(), Note{}); n != tries || err == nil || err.Error() != "no answer within 1ms" {
		t.Errorf("%d tries: %v", n, err)
	}
}

func TestNotTooManyAtOnce(t *testing.T) {
	tl, _ := teller(t, settings.Notify{}, At{})
	sent := make(chan Note, 2*most)
	tl.ways = []way{{send: func(ctx context.Context, n Note) error {
		sent <- n
		<-ctx.Done()
		return nil
	}}}
	for range 2 * most {
		tl.HandleLoop(loop.Asked{})
	}
	for range most {
		<-sent
	}
	tl.patience = 0
	tl.HandleLoop(endOf(loop.StopPromise)) // which is told all the same
	if n := <-sent; n.Event != settings.NotifyEnd {
		t.Errorf("got %+v", n)
	}
	tl.Close()
	if len(sent) > 0 {
		t.Errorf("%d more", len(sent))
	}
}

func TestCommand(t *testing.T) {
	hurried(t, time.Hour)
	cat, err := writeScript(t, "cat >got\nprintf '%s\\n' \"$@\" >args\n")
	if err != nil {
		t.Skip(err)
	}
	tl, s := teller(t, settings.Notify{Command: []string{cat, "{title}", "a {text} b", "$(touch x)"}}, At{})
	tl.HandleLoop(endOf(loop.StopMaxTime))
	tl.Close()
	got, _ := os.ReadFile(filepath.Join(filepath.Dir(cat), "got"))
	args, _ := os.ReadFile(filepath.Join(filepath.Dir(cat), "args"))
	var n Note
	if err := json.Unmarshal(got, &n); err != nil || n.Event != settings.NotifyEnd || n.Folder != tl.cfg.Folder || len(s.warns) > 0 {
		t.Fatalf("got %q, warned %q", got, s.warns)
	}
	if want := n.Title + "\na " + n.Text + " b\n$(touch x)\n"; string(args) != want {
		t.Errorf("got %q, want %q", args, want)
	}
}

// An interpreter loads modules from the folder in which it works: an agent may have put a json.py there.
func TestWhatNotifiesWorksOutsideOfTheFolder(t *testing.T) {
	hurried(t, time.Hour)
	if !exists("/bin/sh") {
		t.Skip("there is no shell")
	}
	out := filepath.Join(t.TempDir(), "out")
	t.Setenv("RALPH_TEST_OUT", out)
	tl, s := teller(t, settings.Notify{Command: []string{"sh", "-c", `{ pwd; echo "$PWD"; echo "$PATH"; } >"$RALPH_TEST_OUT"`}}, At{})
	t.Chdir(tl.cfg.Folder)
	t.Setenv("PATH", ".:"+os.Getenv("PATH"))
	must.OK(t, os.WriteFile("sh", []byte("#!/bin/sh\necho mine >\"$RALPH_TEST_OUT\"\n"), 0o755))
	tl.HandleLoop(endOf(loop.StopMaxTime))
	tl.Close()
	got, _ := os.ReadFile(out)
	if want := "/\n/\n" + strings.TrimPrefix(os.Getenv("PATH"), ".:") + "\n"; string(got) != want || len(s.warns) > 0 {
		t.Errorf("got %q, want %q; warned %q", got, want, s.warns)
	}
}

func TestCommandThatFails(t *testing.T) {
	hurried(t, time.Hour)
	fails, err := writeScript(t, "echo once >>tries; echo no such user >&2; exit 3\n")
	if err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct {
		command, want string
		tries         int
	}{
		{fails, "(exit code 3) no such user", tries},
		{"nosuchprogram-of-ours", "nosuchprogram-of-ours", 0},
	} {
		tl, s := teller(t, settings.Notify{Command: []string{tt.command}}, At{})
		tl.HandleLoop(endOf(loop.StopMaxTime))
		tl.Close()
		made, _ := os.ReadFile(filepath.Join(filepath.Dir(fails), "tries"))
		os.Remove(filepath.Join(filepath.Dir(fails), "tries"))
		if len(s.warns) != 1 || !strings.Contains(s.warns[0], tt.want) || strings.Contains(s.warns[0], "\n") || strings.Count(string(made), "once") != tt.tries {
			t.Errorf("warned %q, tried %q; want %q", s.warns, made, tt.want)
		}
	}
}

func TestNothingIsLeftOfACommandThatHangs(t *testing.T) {
	hurried(t, time.Hour)
	mark := "RALPH_NOTIFY_TEST=" + filepath.Base(t.TempDir()) + time.Now().Format(".000000000")
	name, value, _ := strings.Cut(mark, "=")
	t.Setenv(name, value)
	hangs, err := writeScript(t, "(sleep 3600 & sleep 3600) & setsid sleep 3600 & echo >begun; sleep 3600\n")
	if err != nil {
		t.Skip(err)
	}
	tl, s := teller(t, settings.Notify{Command: []string{hangs}}, At{})
	tl.HandleLoop(loop.Asked{})
	proctest.Until(t, "the command", func() bool { return exists(filepath.Join(filepath.Dir(hangs), "begun")) })
	tl.HandleLoop(endOf(loop.StopCancelled))
	tl.Close()
	proctest.CheckNone(t, 0, mark)
	if len(s.warns) > 0 {
		t.Errorf("warned %q", s.warns)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// writeScript makes a program of a shell's script, which works in the folder of the program. Its path is long, so that
// who tells of it has to leave room for more.
func writeScript(t *testing.T, script string) (string, error) {
	if !exists("/bin/sh") {
		return "", errors.New("there is no shell")
	}
	name := filepath.Join(t.TempDir(), strings.Repeat("x", 100), "tell")
	must.OK(t, os.Mkdir(filepath.Dir(name), 0o700))
	return name, os.WriteFile(name, []byte("#!/bin/sh\ncd \"${0%/*}\"\n"+script), 0o700)
}
