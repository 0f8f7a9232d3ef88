//go:build e2e

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// said is what a part of the fleet has logged.
func (w *world) said(name string) string {
	data, _ := os.ReadFile(filepath.Join(w.dir, name+".said")) // nothing yet
	return string(data)
}

func TestLogsAreForProgramsAndHaveNoSecrets(t *testing.T) {
	w := newWorld(t)
	worker := w.worker("first", 1, token+"@"+w.addr, long, "--log-format", "json", "--log-level", "debug")
	w.submit("one", "runs=2 very-private-prompt")
	w.ends("one")
	// A repository that is there when the loop is submitted, and gone when it is fetched.
	w.git("-C", w.repo, "update-server-info")
	host := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(w.repo, ".git"))))
	worker.Process.Signal(syscall.SIGSTOP)
	w.must("submit", "--repo", strings.Replace(host.URL, "http://", "http://ann:hunter2@", 1)+"/", "--name", "two", "--backend", os.Args[0], "x")
	host.Close()
	worker.Process.Signal(syscall.SIGCONT)
	w.until("a failure", func() bool { return strings.Contains(w.status()["two"].Text, "fetching http://***@127.0.0.1") })
	// The bus hears of the end of an attempt before it is logged.
	var log string
	w.until("the failure in the log", func() bool {
		log = w.said("first")
		return strings.HasSuffix(log, "\n") && strings.Contains(log, `"name":"two"`)
	})
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
		if _, err := w.run(append([]string{"worker"}, wrong...)...); err == nil || !strings.Contains(err.Error(), `"`+wrong[1]+`" is unknown: known are`) {
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

var metricsURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+/metrics`)

// scrape asks a part of the fleet for its metrics.
func (w *world) scrape(name string) (text string) {
	w.t.Helper()
	w.until("the metrics of "+name, func() bool {
		urls := metricsURL.FindAllString(w.said(name), -1)
		if len(urls) == 0 {
			return false
		}
		answer, err := http.Get(urls[len(urls)-1])
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		text = string(data)
		return err == nil && answer.StatusCode == http.StatusOK
	})
	return text
}

func TestMetricsOfRealProcesses(t *testing.T) {
	w := newWorld(t)
	kill(t, w.bus)
	w.serve("--metrics", "127.0.0.1:0")
	w.worker("first", 2, w.addr, long, "--metrics", "127.0.0.1:0")
	w.must("limits", "--max-cost", "5")
	w.submit("one", "runs=2 usd=0.5", "--backend-output", "pi-stream-json", "--setup", "true")
	w.submit("two", "runs=1 nap=1h", "--priority", "low", "--reserve", "0.5")
	w.ends("one")
	w.until("a loop that hangs", w.hasDone("begin two 1"))
	has := func(part string, want ...string) {
		t.Helper()
		var text string
		w.until("figures of "+part+": "+strings.Join(want, ", "), func() bool {
			text = w.scrape(part)
			for _, line := range want {
				if !strings.Contains(text, "\nralph_fleet_"+line+"\n") {
					return false
				}
			}
			return true
		})
	}
	has("first", `attempts_total{result="goes_on"} 1`, `attempts_total{result="ended"} 1`, `loops_ended_total{reason="promise"} 1`, `cost_dollars_total 1`, `slots 2`, `slots_busy 1`,
		`step_duration_seconds_count{step="setup"} 1`, `step_duration_seconds_count{step="upload"} 2`)
	has("bus", `loops{phase="ended"} 1`, `loops{phase="running"} 1`, `queue_loops{priority="low"} 0`, `budget_spent_dollars 1`, `budget_limit_dollars 5`, `workers 1`, `workers_slots 2`)
	w.must("cancel", "two")
	w.must("remove", "one", "two")
	has("bus", `loops{phase="ended"} 0`)
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "FLEET-REFERENCE.md"))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (ralph_fleet_\S+)`).FindAllStringSubmatch(w.scrape("first")+w.scrape("bus"), -1) {
		if told[m[1]] = true; !regexp.MustCompile("`" + m[1] + "[`{]").Match(docs) {
			t.Errorf("docs/FLEET-REFERENCE.md doesn't say what %s is", m[1])
		}
	}
	for _, m := range regexp.MustCompile("`(ralph_fleet_[a-z_]+)[`{]").FindAllStringSubmatch(string(docs), -1) {
		if !told[m[1]] {
			t.Errorf("docs/FLEET-REFERENCE.md has %s, which nobody tells", m[1])
		}
	}
	if regexp.MustCompile(`="(one|two|f[a-z0-9]{15})"`).MatchString(w.scrape("first") + w.scrape("bus")) {
		t.Error("a label says which loop")
	}
}
