//go:build e2e

package fleet

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// said is what a part of the fleet has logged.
func (w *world) said(name string) string {
	data, _ := os.ReadFile(filepath.Join(w.dir, name+".said")) // nothing yet
	return string(data)
}

func TestLogsAreForProgramsAndHaveNoSecrets(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, token+"@"+w.addr, long, "--log-format", "json", "--log-level", "debug")
	w.submit("one", "runs=2 very-private-prompt")
	w.ends("one")
	w.must("submit", "--repo", "http://ann:hunter2@127.0.0.1:1/x.git", "--commit", strings.Repeat("a", 40), "--name", "two", "--backend", os.Args[0], "x")
	w.until("a failure", func() bool { return strings.Contains(w.status()["two"].Text, "fetching http://***@127.0.0.1") })
	log := w.said("first")
	for line := range strings.Lines(log) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil || fields["time"] == nil || fields["level"] == nil || fields["msg"] == nil || fields["worker"] != "first" {
			t.Errorf("%q: %v", line, err)
		}
	}
	if !strings.Contains(log, `"name":"two"`) || !strings.Contains(log, "http://***@127.0.0.1") {
		t.Errorf("the log lacks the failure\n%s", log)
	}
	for _, secret := range []string{"hunter2", token, "very-private-prompt", "sk-very-secret"} {
		for _, part := range []string{"first", "bus"} {
			if strings.Contains(w.said(part), secret) {
				t.Errorf("%s said %s\n%s", part, secret, w.said(part))
			}
		}
	}
	for _, wrong := range [][]string{{"--log-format", "xml"}, {"--log-level", "loud"}} {
		if _, err := w.run(append([]string{"worker"}, wrong...)...); err == nil || !strings.Contains(err.Error(), wrong[1]+": it is") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
