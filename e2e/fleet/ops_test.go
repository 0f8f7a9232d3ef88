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

func TestDoctorAndStatusSayWhoIsThere(t *testing.T) {
	w := newWorld(t)
	if out := w.must("status"); !strings.Contains(out, "no worker is there: start one with ralph-fleet worker") {
		t.Errorf("without a worker: %s", out)
	}
	doctor := func(args ...string) (checks map[string]string, isWell bool) {
		t.Helper()
		out, err := w.run(append([]string{"doctor", "--json", "--dir", filepath.Join(w.dir, "doctor")}, args...)...)
		var said struct {
			Checks []struct {
				ID, Message string
				OK          bool
			}
		}
		if problem := json.Unmarshal([]byte(out), &said); problem != nil {
			t.Fatalf("%v\n%s", problem, out)
		}
		checks = map[string]string{}
		for _, c := range said.Checks {
			checks[c.ID] += map[bool]string{true: "good: ", false: "bad: "}[c.OK] + c.Message
		}
		return checks, err == nil
	}
	if checks, isWell := doctor("--only", "bus", "--expect", "first"); isWell || checks["workers"] != "bad: no worker is there" || checks["worker.first"] != "bad: worker first isn't there" {
		t.Errorf("without a worker: %v, %v", checks, isWell)
	}
	first := w.worker("first", 3, w.addr, long, "--label", "gpu")
	w.until("the worker", func() bool { return strings.Contains(w.must("status"), "1 worker is there, 0 of 3 slots busy") })
	checks, isWell := doctor("--only", "bus", "--expect", "first")
	if !isWell || !strings.Contains(checks["worker.first"], "(gpu)") || !strings.HasPrefix(checks["bus"], "good: the bus nats://"+w.addr) || !strings.Contains(checks["token"], "RALPH_TOKEN") ||
		!strings.Contains(checks["setting.bus"], "(the arguments)") || !strings.HasPrefix(checks["clock"], "good") || checks["git"] != "" {
		t.Errorf("with a worker: %v, %v", checks, isWell)
	}
	checks, _ = doctor("--only", "worker")
	for _, id := range []string{"git", "ralph-lsp", "folder", "worker.free", "backend.pi", "sandbox"} {
		if checks[id] == "" {
			t.Errorf("this machine as a worker: nothing of %s in %v", id, checks)
		}
	}
	if checks["bus"] != "" || strings.HasPrefix(checks["ralph-lsp"], "bad") {
		t.Errorf("this machine as a worker: %v", checks)
	}
	w.submit("one", "runs=1 nap=1h")
	w.until("a busy slot", func() bool { return strings.Contains(w.must("status"), "1 of 3 slots busy") })
	w.must("cancel", "one")
	first.Process.Signal(os.Interrupt)
	first.Wait()
	if out := w.must("status"); !strings.Contains(out, "no worker is there") {
		t.Errorf("it has left: %s", out)
	}
	if out, err := w.run("doctor", "--only", "bus"); err != nil || !strings.Contains(out, "✓ the bus") || !strings.Contains(out, "– no worker is there\n  start one") {
		t.Errorf("for people: %s, %v", out, err)
	}
}
