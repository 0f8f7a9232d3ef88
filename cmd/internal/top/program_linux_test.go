package top

import (
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
)

// A flood is drawn as often as a person can see, a key at once, and the screen ends with its terminal.
func TestWhatIsDrawn(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	p := &program{model: newTalk(t, 0, 0).m, tty: tty, shown: terminal.Palette{}.Fence()}
	hears := func(msg tea.Msg) (shown string) {
		p.Update(msg)
		return p.View().Content
	}
	hears(tea.WindowSizeMsg{Width: 80, Height: 24})
	p.drawn = time.Now().Add(time.Hour)
	if shown := hears(saidMsg{text: "a word"}); strings.Contains(shown, "a word") {
		t.Error("it is drawn too soon")
	}
	p.drawn = time.Time{}
	if shown := hears(turnMsg{}); !strings.Contains(shown, "a word") || p.view.Cursor != nil {
		t.Errorf("what came before isn't drawn with the turn: %s", shown)
	}
	p.drawn = time.Now().Add(time.Hour)
	if shown := hears(tea.KeyPressMsg{Code: 'f', Text: "f"}); !strings.Contains(shown, "only loops with: ") || p.view.Cursor.X != 17 {
		t.Errorf("a key isn't drawn at once: %s", shown)
	}
	_ = tty.Close()
	_, then := p.Update(turnMsg{})
	if _, quits := then().(tea.QuitMsg); !quits {
		t.Error("it goes on without a terminal")
	}
}
