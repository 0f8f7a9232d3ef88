package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func writeFleet(t *testing.T, dir, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(dir, FleetName), []byte(text), 0o600))
}

func TestFleetFileSaysWhatFlagsTake(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	absolute := filepath.Join(home, "abs")
	writeFleet(t, dir, fmt.Sprintf(`
bus = "tls://a:4222,tls://b:4222"
token_file = "token"
ca = '%s'
log_format = "json"

[worker]
slots = 4
lease = "1d"
dir = "~/w"
labels = ["gpu", "eu"]
`, absolute))
	got, err := LoadFleet(dir)
	must.OK(t, err)
	want := Fleet{
		"bus": {"tls://a:4222,tls://b:4222"}, "token_file": {filepath.Join(dir, "token")}, "ca": {absolute}, "log_format": {"json"},
		"worker.slots": {"4"}, "worker.lease": {"24h0m0s"}, "worker.dir": {filepath.Join(home, "w")}, "worker.labels": {"gpu", "eu"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := LoadFleet(t.TempDir()); err != nil || len(got) != 0 {
		t.Errorf("without a file: %v, %v", got, err)
	}
}

func TestAllMistakesOfAFleetFileAreToldAtTheirPlaces(t *testing.T) {
	tests := []struct{ text, want string }{
		{"token = \"sesame\"", "line 1, column 1: the token doesn't stand here"},
		{"bus = \"nats://sesame@host\"", "line 1, column 7: bus has a name or token in it"},
		{"bus = \"host:4222\"", "line 1, column 7: bus is no URL of a bus"},
		{"slots = 4", "line 1, column 1: slots is not a known key; it belongs below [worker]"},
		{"[worker]\nslots = 0", "line 2, column 9: worker.slots is 0; write 1 to 10000"},
		{"[worker]\nlease = 30", "line 2, column 9: worker.lease is a number; write"},
		{"[worker]\nslot = 3", "worker.slot is not a known key; did you mean slots?"},
		{"[worker]\nmetrics = \"9100\"", "line 2, column 11: worker.metrics is \"9100\"; write it as 127.0.0.1:4222"},
		{"log_level = \"loud\"", "line 1, column 13: log_level is \"loud\"; write one of debug, info, warn, error"},
		{"ca = \"~ann/ca.pem\"", "another user's home"},
		{"[workers]", "line 1, column 2: workers is not a known key; did you mean worker?"},
		{"[backends.pi]\nargs = []", "line 1, column 2: backends is not a known key"},
		{"bus = \"nats://a\"\nbus = 3", "line 2"},
		{"bus = ", "line 1"},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		writeFleet(t, dir, tt.text)
		_, err := LoadFleet(dir)
		if invalid := (*InvalidError)(nil); !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		} else if strings.Contains(err.Error(), "sesame") {
			t.Errorf("the token is in %v", err)
		}
	}
	all := "bos = 1\n[worker]\nslots = 0\nlease = \"soon\"\n"
	dir := t.TempDir()
	writeFleet(t, dir, all)
	if _, err := LoadFleet(dir); err == nil || strings.Count(err.Error(), "\n  line") != 3 {
		t.Errorf("all of them: %v", err)
	}
	if _, err := LoadFleet(filepath.Join(dir, FleetName)); err == nil {
		t.Error("a folder that is a file says nothing")
	}
}

func FuzzFleetFile(f *testing.F) {
	f.Add("[worker]\nslots = 4\nlabels = [\"a\"]\n")
	f.Add("bus = \"nats://a@b\"\ntoken = \"x\"")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		must.OK(t, os.WriteFile(filepath.Join(dir, FleetName), []byte(text), 0o600))
		LoadFleet(dir)
	})
}
