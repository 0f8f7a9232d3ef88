package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// home is a user without anything; it returns the folder of their settings.
func home(t *testing.T) (userDir string) {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "config"), "AppData": filepath.Join(home, "config"), "XDG_STATE_HOME": "", "RALPH_BUS": "", "RALPH_TOKEN": ""} {
		t.Setenv(name, value)
	}
	dir, err := config.UserDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// edit starts the sidecar as an editor does that has a folder open.
func edit(t *testing.T, args ...string) (c *lsptest.Client, folder string) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- execute(t.Context(), append([]string{"--stdio"}, args...), in, out, io.Discard)
		out.Close()
	}()
	c = lsptest.New(t, toServer, fromServer, time.Minute)
	t.Cleanup(func() {
		c.Close()
		<-code
	})
	folder = t.TempDir()
	c.Initialize(json.RawMessage(`{"experimental":{"ralph":{"version":2}}}`), folder)
	return c, folder
}

// says waits until the editor's last status says a text, and returns that.
func says(c *lsptest.Client, part string) (text string) {
	c.Until("that the status says "+part, func(heard []lsptest.Message) bool {
		for _, m := range heard {
			var s struct{ Text string }
			if m.Method == wire.MethodStatus && json.Unmarshal(m.Params, &s) == nil {
				text = s.Text
			}
		}
		return strings.Contains(text, part)
	})
	return text
}

// Whatever is wrong with the bus's settings, the loops of this machine have their editor.
func TestAnEditorKeepsItsOwnLoopsWithoutABus(t *testing.T) {
	for name, tt := range map[string]struct {
		file, bus string
		args      []string
		says      []string
	}{
		"a mistake in fleet.toml": {file: "bus = 3\n[worker]\nslot = 1\n", says: []string{"loops of the fleet aren't shown: ", config.FleetName + " can't be used:", ": line 1, column 7: bus is a number", "; line 3, column 1: worker.slot", "once that is mended"}},
		"no TOML at all":          {file: "bus = \n", says: []string{"loops of the fleet aren't shown: ", "line 1"}},
		"a token that isn't there": {file: "bus = \"nats://127.0.0.1:1\"\ntoken_file = \"nothing\"\n",
			says: []string{"the bus nats://127.0.0.1:1 can't be reached since ", "nothing: ", "write it there, or name another file"}},
		"no URL":          {bus: "somewhere else", says: []string{"the bus somewhere else can't be reached since ", "mend the URL: --bus, RALPH_BUS"}},
		"nobody is there": {args: []string{"--bus", "nats://127.0.0.1:1"}, says: []string{"nobody listens there; start it with ralph-fleet serve"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := home(t)
			if tt.file != "" {
				writeFile(t, filepath.Join(dir, config.FleetName), tt.file)
			}
			t.Setenv("RALPH_BUS", tt.bus)
			c, folder := edit(t, tt.args...)
			for _, part := range tt.says {
				says(c, part)
			}
			var preview struct{ Text string }
			answer := c.Must(c.Command(wire.CommandStart, map[string]any{"folder": wire.FileURI(folder), "prompt": "Do it.", "backend": "pi", "dryRun": true}))
			if err := json.Unmarshal(answer, &preview); err != nil || !strings.Contains(string(answer), "Do it.") {
				t.Errorf("a start of this machine says %s (%v)", answer, err)
			}
		})
	}
}

// A mistake that is mended needs no new start of the editor.
func TestAMistakeThatIsMendedIsForgotten(t *testing.T) {
	file := filepath.Join(home(t), config.FleetName)
	writeFile(t, file, "buss = 3\n")
	c, _ := edit(t)
	says(c, "line 1, column 1: buss")
	writeFile(t, file, "bus = \"nats://127.0.0.1:1\"\n")
	says(c, "nobody listens there")
}

// What needs no bus doesn't ask where it is.
func TestAMistakeHindersNothingThatNeedsNoBus(t *testing.T) {
	writeFile(t, filepath.Join(home(t), config.FleetName), "buss = 3\n")
	for _, args := range [][]string{{}, {"help"}, {"completion", "bash"}, {"emit", "--help"}} {
		if code := execute(t.Context(), args, nil, io.Discard, io.Discard); code != 0 {
			t.Errorf("ralph-fleet %s ends with %d", args, code)
		}
	}
	var said strings.Builder
	execute(t.Context(), []string{"emit", "topic"}, nil, &said, &said)
	if strings.Contains(said.String(), config.FleetName) {
		t.Errorf("an agent of a loop of this machine is told %s", said.String())
	}
}
