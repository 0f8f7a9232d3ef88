package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
)

func TestFlagsWinOverEnvironmentOverFile(t *testing.T) {
	file := config.Fleet{"bus": {"nats://file:1"}, "token_file": {"/file"}, "worker.slots": {"3"}, "worker.lease": {"1m0s"}, "serve.dir": {"/serve"}}
	tests := []struct {
		bus, token string // of the environment
		args       []string
		flag, want string
	}{
		{"", "", nil, "bus", "nats://file:1"},
		{"nats://env:1", "", nil, "bus", "nats://env:1"},
		{"nats://env:1", "", []string{"--bus", "nats://flag:1"}, "bus", "nats://flag:1"},
		{"", "", nil, "token-file", "/file"},
		{"", "sesame", nil, "token-file", ""},
		{"", "sesame", []string{"--token-file", "/flag"}, "token-file", "/flag"},
		{"", "", nil, "slots", "3"},
		{"", "", []string{"--slots", "5"}, "slots", "5"},
		{"", "", nil, "lease", "1m0s"},
		{"", "", nil, "dir", ""}, // that is serve's
	}
	for _, tt := range tests {
		t.Setenv("RALPH_BUS", tt.bus)
		t.Setenv("RALPH_TOKEN", tt.token)
		cmd := newWorker()
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		if err := fillIn(cmd, file); err != nil {
			t.Fatal(err)
		}
		if got := cmd.Flags().Lookup(tt.flag).Value.String(); got != tt.want {
			t.Errorf("%+v: --%s is %q", tt, tt.flag, got)
		}
	}
}

func TestAMistakeInTheFileKeepsCommandsFromRunning(t *testing.T) {
	dir := home(t)
	t.Chdir(t.TempDir())
	run := func(text, in string) string {
		writeFile(t, filepath.Join(in, config.FleetName), text)
		var out bytes.Buffer
		if code := execute(t.Context(), []string{"worker", "--slots", "0"}, nil, &out, &out); code != 1 {
			t.Errorf("it ended with %d", code)
		}
		return out.String()
	}
	if got := run("[worker]\nslot = 1\n", "."); !strings.Contains(got, "a worker has at least one") {
		t.Errorf("the working folder's file counts: %s", got)
	}
	if got := run("[worker]\nslot = 1\nlease = 3\n", dir); !strings.Contains(got, "line 2, column 1: worker.slot") || !strings.Contains(got, "line 3") {
		t.Errorf("it says %s", got)
	}
}

// It was always the one beside the program, which needn't be there: each attempt failed.
func TestAWorkerFindsRalphLSPInThePath(t *testing.T) {
	want := filepath.Join(t.TempDir(), "ralph-lsp")
	if err := os.WriteFile(want, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(want))
	if path, err := sibling(); path != want || err != nil {
		t.Errorf("%q, %v", path, err)
	}
	t.Setenv("PATH", t.TempDir())
	if path, err := sibling(); err == nil {
		t.Errorf("where there is none: %q", path)
	}
}
