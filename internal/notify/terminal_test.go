package notify

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

func TestTerminals(t *testing.T) {
	const title, bell = "\x1b]2;Ralph in a;b: it has a question\x1b\\", "\a"
	for _, tt := range []struct{ name, env, want string }{
		{"kitty", "TERM=xterm-kitty", "\x1b]99;i=ralph:d=0;Ralph in a,b\x1b\\\x1b]99;i=ralph:p=body;it has a question\x1b\\" + title + bell},
		{"kitty, under another name", "TERM=xterm-256color KITTY_WINDOW_ID=1", "\x1b]99;i=ralph:d=0;Ralph in a,b\x1b\\\x1b]99;i=ralph:p=body;it has a question\x1b\\" + title + bell},
		{"iTerm2", "TERM=xterm-256color TERM_PROGRAM=iTerm.app", "\x1b]9;Ralph in a,b: it has a question\x1b\\" + title + bell},
		{"WezTerm", "TERM=xterm-256color TERM_PROGRAM=WezTerm", "\x1b]777;notify;Ralph in a,b;it has a question\x1b\\" + title + bell},
		{"Ghostty", "TERM=xterm-ghostty", "\x1b]777;notify;Ralph in a,b;it has a question\x1b\\" + title + bell},
		{"foot", "TERM=foot-extra", "\x1b]777;notify;Ralph in a,b;it has a question\x1b\\" + title + bell},
		{"urxvt", "TERM=rxvt-unicode-256color", "\x1b]777;notify;Ralph in a,b;it has a question\x1b\\" + title + bell},
		{"any xterm", "TERM=xterm-256color", title + bell},
		{"Linux's console", "TERM=linux", bell},
		{"tmux, whatever is around it", "TERM=tmux-256color TMUX=/tmp/s KITTY_WINDOW_ID=1", bell},
		{"screen", "TERM=screen STY=1", bell},
		{"one that can do nothing", "TERM=dumb", ""},
		{"a locale without our marks", "TERM=xterm-kitty BELL=only", bell},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{}
			for kv := range strings.FieldsSeq(tt.env) {
				name, value, _ := strings.Cut(kv, "=")
				env[name] = value
			}
			got := terminalOf(func(name string) string { return env[name] }, env["BELL"] != "").codes(Note{Title: "Ralph in a;b", Text: "it has \x1b[31ma question"})
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// In the first half minute the user looks; a terminal that takes nothing holds nobody up.
func TestTheTerminalIsLeftAloneAtFirst(t *testing.T) {
	t.Setenv("TERM", "linux")
	for _, began := range []time.Duration{0, time.Minute} {
		r, w, err := os.Pipe()
		must.OK(t, err)
		tl, s := teller(t, settings.Notify{Terminal: settings.Auto}, At{Terminal: w})
		tl.began = tl.began.Add(-began)
		tl.HandleLoop(endOf(loop.StopPromise))
		tl.Close()
		w.Close()
		got, err := io.ReadAll(r)
		if want := map[bool]string{true: "\a"}[began > 0]; string(got) != want || err != nil || len(s.warns) > 0 {
			t.Errorf("got %q (%v), want %q; warned %q", got, err, want, s.warns)
		}
	}
}

func TestWhichWaysAreOn(t *testing.T) {
	all := settings.Notify{Terminal: settings.Auto, Desktop: settings.Auto, Command: []string{"x"}, Webhook: "https://x.example"}
	for _, tt := range []struct {
		name, term string
		s          settings.Notify
		at         At
		want       string
	}{
		{"nothing is set", "xterm", settings.Notify{Terminal: settings.Auto, Desktop: settings.Off}, At{Terminal: os.Stdout, Desktop: true}, "terminal: ; desktop: off; command: none is set; webhook: none is set"},
		{"an editor", "xterm", all, At{}, "terminal: there is none; desktop: the editor shows it; command: ; webhook: "},
		{"a terminal that notifies", "foot", all, At{Terminal: os.Stdout, Desktop: true}, "terminal: ; desktop: the terminal shows it; command: ; webhook: "},
		{"all is off", "foot", settings.Notify{Terminal: settings.Off, Desktop: settings.Off}, At{Terminal: os.Stdout}, "terminal: off; desktop: off; command: none is set; webhook: none is set"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"TMUX", "STY", "KITTY_WINDOW_ID", "TERM_PROGRAM"} {
				t.Setenv(name, "")
			}
			t.Setenv("TERM", tt.term)
			var got []string
			for _, w := range ways(tt.s, tt.at) {
				got = append(got, w.Name+": "+w.Off)
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("got %s", s)
			}
		})
	}
}
