package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// user gives commands to a bus of their own.
type user struct {
	*testing.T
	bus *natsbus.Bus
	url string
}

func newUser(t *testing.T) user {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "AppData", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	t.Setenv("RALPH_BUS", "")
	t.Setenv("RALPH_TOKEN", "")
	served, err := natsbus.Serve(natsbus.ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	bus, err := natsbus.Dial(t.Context(), natsbus.Options{URL: served.URL(), Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	return user{t, bus, served.URL()}
}

// submits puts a loop on the bus.
func (u user) submits(r fleet.Record) fleet.Record {
	u.Helper()
	r.ID = fmt.Sprintf("f%015s", r.Name)
	if err := u.bus.Create(u.Context(), r); err != nil {
		u.Fatal(err)
	}
	return r
}

func (u user) must(err error) {
	u.Helper()
	if err != nil {
		u.Fatal(err)
	}
}

// runs runs a command with what is typed, and returns what it prints, with one blank for many.
func (u user) runs(typed, line string, more ...string) (said string, code int) {
	var out bytes.Buffer
	args := append(strings.Fields(line), more...)
	args = append(args[:1:1], append([]string{"--bus", u.url}, args[1:]...)...)
	code = execute(u.Context(), args, strings.NewReader(typed), &out, &out)
	return strings.Join(strings.Fields(out.String()), " "), code
}

// says wants a command to print something, and not what has a ! before it.
func (u user) says(line string, want ...string) {
	u.Helper()
	u.ends(0, line, want...)
}

// refuses wants a command to fail, in such words.
func (u user) refuses(line string, want ...string) {
	u.Helper()
	u.ends(1, line, want...)
}

func (u user) ends(want int, line string, words ...string) {
	u.Helper()
	said, code := u.runs("", line)
	if code != want {
		u.Errorf("%s ends with %d: %s", line, code, said)
	}
	for _, w := range words {
		if no, isNot := strings.CutPrefix(w, "!"); strings.Contains(said, no) == isNot {
			u.Errorf("%s says %s; want %q", line, said, w)
		}
	}
}

// shows lets the worker of a loop say how it stands.
func (u user) shows(r fleet.Record, s loop.Status) {
	u.Helper()
	data, err := json.Marshal(wire.StatusUpdateOf(s).Status)
	u.must(err)
	u.must(u.bus.Show(u.Context(), fleet.Shown{ID: r.ID, Attempt: r.Attempt, Status: data}))
}

func (u user) record(id string) fleet.Record {
	u.Helper()
	r, _, err := u.bus.Get(u.Context(), id)
	u.must(err)
	return r
}

func TestAUserLooksAfterLoops(t *testing.T) {
	u := newUser(t)
	u.says("status", "no loops; put some there with ralph-fleet submit", "no worker is there: start one with ralph-fleet worker")
	began := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	one := u.submits(fleet.Record{Task: fleet.Task{Name: "one", At: began, Priority: fleet.Normal, Labels: map[string]string{"team": "a"}}, Phase: fleet.Queued})
	two := u.submits(fleet.Record{Task: fleet.Task{Name: "two", At: began.Add(time.Hour), Labels: map[string]string{"team": "b"}}, Phase: fleet.Running, Attempt: 1, Worker: "box", Iterations: 2, CostUSD: 1.25})
	three := u.submits(fleet.Record{Task: fleet.Task{Name: "three", At: began.Add(2 * time.Hour)}, Phase: fleet.Ended, StopReason: "promise", Text: "done after 3 iterations", CostUSD: 2, CostOpen: true, Kept: []int{1}})
	u.shows(two, loop.Status{State: loop.StateRunning, Iteration: 3, Limits: loop.Limits{MaxIterations: 9}})

	for late := time.Now().Add(time.Minute); ; { // the status waits for no worker for long
		if said, _ := u.runs("", "status two"); strings.Contains(said, " two running 2 $1.25 on box: 3/9 ") {
			break
		} else if time.Now().After(late) {
			t.Fatalf("what it does isn't shown: %s", said)
		}
	}
	u.says("status", "one queued 0 $0.00 waits for a worker "+two.ID+" two running 2 $1.25 on box", "three ended 0 at least $2.00 done after 3 iterations", "1 running, 1 queued, 1 ended · at least $3.25 no worker")
	u.says("status --label team=a", "1 queued · $0.00", "!two")
	u.says("status two", "1 running · $1.25")
	u.says("status "+three.ID[:14], "1 ended") // an id needs no end
	u.refuses("status --label team", "--label team: say it as KEY=VALUE")
	u.refuses("status --label =a", "--label =a: say it as KEY=VALUE")
	u.refuses("status four", "there is no loop four; ralph-fleet status lists them")
	u.says("status --json one", `"phase":"queued"`, `"team":"a"`)

	u.refuses("pause", "which loop")
	u.says("pause one", "one paused")
	u.says("pause two", "two pauses behind its iteration")
	u.says("status two", "on box, pauses behind this iteration 1 running", "!3/9")
	u.says("resume one two", "one goes on", "two goes on")
	u.says("pause --all", "one paused", "two pauses", "!three")
	u.says("resume --all", "two goes on")
	u.says("steer one mind the gap", "one will be told")
	if r := u.record(one.ID); len(r.Guidance) != 1 || r.Guidance[0] != "mind the gap" {
		t.Errorf("it will be told %q", r.Guidance)
	}
	u.refuses("steer three hello", "the loop has ended")
	u.refuses("next one", "one is in no iteration: waits for a worker")
	u.refuses("next three", "three is in no iteration: done after 3 iterations")

	u.must(u.bus.PutFile(t.Context(), three.TranscriptFile(1), strings.NewReader("{\"a\":1}\n")))
	u.must(u.bus.Tell(t.Context(), two.ID, livelog.Tag([]byte("{\"b\":2}\n"), 1, 1)))
	u.says("watch --json three", `{"a":1}`)
	u.says("watch --json --now two", `{"b":2}`)
	u.says("watch --now one")

	u.refuses("remove one", "it hasn't ended: cancel it first")
	u.says("remove three")
	u.says("cancel one", "one cancelled")
	u.says("status", "!three", "1 running, 1 ended")
	twin := two
	twin.ID = "ftwin0000000000"
	u.must(u.bus.Create(t.Context(), twin))
	u.refuses("status two", "2 loops are called two: say the id of one, ", twin.ID+" (running)", two.ID+" (running)")
	u.says("status ftwi", "1 running")
	u.refuses("status ftw", "there is no loop ftw")
}

func TestAUserChoosesLoopsByLabel(t *testing.T) {
	u := newUser(t)
	u.refuses("pause --label team=a", "no loop has the label team=a, or any other: submit --label gives them")
	put := func(name, labels string, r fleet.Record) fleet.Record {
		has, err := labelsOf(strings.Fields(labels))
		u.must(err)
		r.Task = fleet.Task{Name: name, Labels: has, Priority: fleet.Normal}
		return u.submits(r)
	}
	put("one", "team=a when=nightly", fleet.Record{Phase: fleet.Queued})
	put("two", "team=b when=nightly", fleet.Record{Phase: fleet.Queued})
	put("three", "team=a", fleet.Record{Phase: fleet.Queued})
	done := put("done", "team=a when=nightly", fleet.Record{Phase: fleet.Ended, StopReason: "promise", Kept: []int{1}})
	put("capped", "team=b kind=x", fleet.Record{Phase: fleet.Ended, StopReason: "max_iterations", HasState: true})
	put("plain", "", fleet.Record{Phase: fleet.Queued})
	u.must(u.bus.PutFile(t.Context(), done.TranscriptFile(1), strings.NewReader("{\"a\":1}\n")))

	u.says("status --label when=nightly", " one ", " two ", " done ", "!three", "!plain")
	u.says("status --label team=a --label when=nightly", " one ", " done ", "!two", "!three")
	u.says("status one two --label when=nightly", " one ", " two ", "!done")
	u.says("pause --label when=nightly --label team=a", "one paused", "!two", "!done")
	u.says("resume --label team=a", "one goes on", "three goes on", "!done")
	u.says("pause --all --label team=a", "one paused", "three paused", "!two", "!plain")
	u.says("resume --label team=b", "two goes on", "!capped")
	u.says("resume --label kind=x", "nothing to do: there is no loop with kind=x that hasn't ended, or with new limits ended at one")
	u.says("resume --label kind=x --max-iterations 80", "capped goes on")
	u.says("steer --label team=b mind the gap", "two will be told", "capped will be told", "!three")
	for name, want := range map[string]string{"two": "mind the gap", "three": ""} {
		if r := u.record(fmt.Sprintf("f%015s", name)); strings.Join(r.Guidance, "") != want {
			t.Errorf("%s will be told %q", name, r.Guidance)
		}
	}
	u.says("next --label team=a", "nothing to do: there is no loop with team=a that is in an iteration")
	u.says("watch --json --label team=a --label when=nightly done", `{"a":1}`)
	u.says("cancel --label when=nightly", "one cancelled", "two cancelled", "!done", "!three", "!plain")
	u.says("cancel --label when=nightly", "nothing to do: there is no loop with when=nightly that hasn't ended")
	u.says("remove --label team=a", "one removed", "done removed", "!three")
	u.refuses("remove two --all", "--all is every loop")
	u.says("status", " two ", " three ", " capped ", " plain ", "! one queued", "! one ended", "! done ended")

	const known = " known are kind=x, team=a, team=b, when=nightly"
	u.refuses("cancel --label nightly", "--label nightly: say it as KEY=VALUE")
	u.refuses("cancel --label tean=a", "no loop has the label tean=a; did you mean team=a?"+known)
	u.refuses("status --label team=c --json", "no loop has the label team=c; ", known)
	u.refuses("fetch --label moon=full", "no loop has the label moon=full;"+known)
	u.refuses("pause --label team=a --label kind=x", "no loop has all of these labels: team=a, kind=x")
	u.refuses("pause --label team=a --label team=b", "--label team=b: it is team=a as well")
	u.refuses("pause three --label team=b", "three hasn't the label team=b: leave its name or the label out")
	u.refuses("pause three --all", "--all is every loop, and three is one of them")
	u.refuses("watch --json --label team=b", "--json is of one loop")
	u.says("status", "2 queued, 1 paused, 1 ended") // what is refused does nothing
	said, _ := u.runs("", "__complete cancel --label", "")
	if want := "kind=x 1 loop team=a 1 loop team=b 2 loops when=nightly 1 loop :4"; !strings.HasPrefix(said, want) {
		t.Errorf("a shell completes %q", said)
	}
}

func TestAUserAnswersAgents(t *testing.T) {
	u := newUser(t)
	one := u.submits(fleet.Record{Task: fleet.Task{Name: "one"}, Phase: fleet.Running, Attempt: 1, Worker: "box"})
	u.submits(fleet.Record{Task: fleet.Task{Name: "idle"}, Phase: fleet.Queued})
	var mu sync.Mutex
	var asked loop.Request
	stop, err := u.bus.Listen(t.Context(), one.ID, func(text []byte) []byte {
		mu.Lock()
		defer mu.Unlock()
		asked = loop.Request{}
		json.Unmarshal(text, &asked)
		return []byte(`{"iteration":3}`)
	})
	u.must(err)
	t.Cleanup(stop)
	told := func(line, says, id string, want ask.Answer) {
		t.Helper()
		u.says(line, says)
		mu.Lock()
		defer mu.Unlock()
		if want.By = "terminal"; asked.Do != caller.Answer || asked.ID != id || asked.Answer != want {
			t.Errorf("%s: its worker is asked %+v", line, asked)
		}
	}
	push := ask.Question{ID: "q1", Kind: ask.Permission, Tool: "Bash", Title: "Bash git push", Detail: "git push\norigin", Rule: "Bash(git push:*)"}
	pick := ask.Question{ID: "q2", Kind: ask.Select, Title: "Which one?", Options: []string{"left", "right"}}
	u.shows(one, loop.Status{State: loop.StateWaiting, Iteration: 1, Work: loop.Work{Questions: []ask.Question{push, pick}}})
	u.says("answer idle", "no agent asks anything")
	u.says("answer one", "Bash git push [q1] git push origin", "loop (Bash(git push:*))", "[q2]", "1: left 2: right")
	u.refuses("answer one once", "2 questions are open: say which one is meant")
	u.refuses("answer one q1 once more", "\"once more\" is no answer")
	u.refuses("answer idle once", "no such question is open")
	told("answer one q1 loop", "allowed: Bash git push; from now on in this loop: Bash(git push:*)", "q1", ask.Answer{Kind: ask.ForLoop})
	told("answer one q1 deny not that", "denied: Bash git push: not that", "q1", ask.Answer{Kind: ask.Deny, Text: "not that"})
	told("answer one q2 the left one", "answered: Which one?: the left one", "q2", ask.Answer{Kind: ask.Value, Text: "the left one"})
	u.shows(one, loop.Status{State: loop.StateWaiting, Iteration: 1, Work: loop.Work{Questions: []ask.Question{push}}})
	told("answer one once", "allowed once: Bash git push", "q1", ask.Answer{Kind: ask.Once})
	u.says("next one", "one "+wire.NextText(3))
}

func TestAUserBoundsAllLoops(t *testing.T) {
	u := newUser(t)
	u.submits(fleet.Record{Task: fleet.Task{Name: "one"}, Phase: fleet.Queued})
	u.says("limits", "cost no limit per hour no limit at once no limit kept loops that have ended, until they are removed lease 30s spent $0.00 running 0 iterations")
	u.says("limits --max-cost 5", "cost $5.00 per hour no limit")
	u.says("budget --correct 1.5 --reason bill", "budget $5.00 spent $1.50 reserved $0.00 of 0 iterations corrected", "+1.50", ": bill")
	u.says("budget --correct -1.50 --reason mistake", "spent $0.00", "-1.50", "+1.50")
	u.refuses("budget --correct -1 --reason more", "$0.00 were spent, so no more than that can be taken off")
	u.refuses("budget --correct 1", "--correct and --reason go together")
	u.refuses("submit --repo "+repository(t)+" --backend pi --reserve 6 Do it", "--reserve 6.00 is more than the budget of all loops, $5.00")
	u.says("limits --per-hour 3", "cost $5.00 per hour 3")
	u.says("limits --at-once a=2", "at once 2 of a kept")
	u.says("limits --at-once b=1", "at once 2 of a, 1 of b kept")
	u.says("limits --keep-ended 30d", "kept loops that have ended, for 720h")
	u.says("limits --at-once a=0", "at once any number of a, 1 of b kept")
	u.says("limits --at-once a=2", "at once 2 of a, 1 of b kept")
	for _, bad := range []string{"--keep-ended soon", "--keep-ended 30", "--max-cost=-5", "--max-cost nan", "--per-hour=-1", "--at-once a", "--at-once =1", "--at-once a=-1", "--at-once a=2,b=x", "--lease 1ms", "--lease 0", "--lease soon"} {
		flag, _, _ := strings.Cut(strings.ReplaceAll(bad, "=-", " "), " ")
		u.refuses("limits "+bad, flag)
	}
	u.refuses("limits --lease 1ms", `--lease is "1ms"; write a second or more: 30s suits most`)
	u.refuses("limits --at-once a", `--at-once is "a"; write a key and a whole number, such as anthropic=4`)
	u.says("limits", "cost $5.00 per hour 3 at once 2 of a, 1 of b kept loops that have ended, for 720h00m lease 30s")
	u.says("limits --lease 45s", "lease 45s spent")
	u.refuses("worker --sandbox off --ralph-lsp x --lease 30s", "--lease 30s: the lease of this bus is 45s, for all its workers", "ralph-fleet limits --lease 30s")
	u.says("limits", "cost $5.00 per hour 3 at once 2 of a, 1 of b kept loops that have ended, for 720h")
	u.says("status", "$0.00; all loops $0.00 of $5.00")
	u.says("limits --max-cost 0", "cost no limit")
}

func TestAUserSubmitsAndFetches(t *testing.T) {
	u := newUser(t)
	dir := t.TempDir()
	t.Chdir(dir)
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=U", "-c", "user.email=u@x", "commit", "-q", "--allow-empty", "-m", "base"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	prompt := filepath.Join(dir, "PROMPT.md")
	u.must(os.WriteFile(prompt, []byte("Do the rest"), 0o600))
	u.must(os.WriteFile("tasks", []byte("{\"n\":1}\n{\"n\":2}\n"), 0o600))
	for line, want := range map[string]string{
		"submit":                               "there is no prompt: say what the agent should do, or give --prompt-file",
		"submit --prompt-file PROMPT.md x":     `there are two prompts: --prompt-file PROMPT.md and the words "x"; give one of them`,
		"submit --priority soon x":             "--priority: \"soon\" is unknown: known are high, normal, low",
		"submit --label team x":                "--label team: say it as KEY=VALUE",
		"submit --label =a x":                  "--label =a: say it as KEY=VALUE",
		"submit --each nothing x":              "the tasks in nothing: ",
		"submit --worktree x":                  "--worktree is of ralph-lsp run: each loop works in a checkout of its own",
		"submit -C . x":                        "--dir (-C) is of ralph-lsp run: each loop works in a checkout of its own",
		"submit --dance x":                     "unknown flag --dance",
		"fetch":                                "say which loops: their names or ids",
		"fetch one --into nowhere":             "nowhere",
		"fetch one":                            "there is no loop one",
		"worker --slots 0":                     "--slots 0: a worker has at least one",
		"doctor --only moon":                   "--only: \"moon\" is unknown: known are bus, worker",
		"submit --token-file nothing --each x": "there is no prompt",
	} {
		u.refuses(line, want)
	}
	u.says("limits --max-cost 5", "cost $5.00")
	u.refuses("submit --name one Do it", "only a worker knows which agent it has and whether that agent reports its costs", "--reserve 0.50")
	u.refuses("submit --backend gemini Do it", "gemini doesn't tell what it costs, so the limit of cost can't hold")
	u.says("submit --name told --backend claude Do it", " told submitted")
	u.refuses("submit --name kept --backend gemini --reserve 0.000001 Do it", "at least 0.05")
	u.says("submit --name kept --backend gemini --reserve 0.1 Do it", " kept submitted")
	u.says("limits --max-cost 0", "cost no limit")
	u.refuses("submit --backend gemini --max-cost 2 Do it", "gemini doesn't tell what it costs")
	u.says("submit --name one Do it", " one submitted")
	u.says("submit --name one Do it", " one there already: queued")
	u.says("submit --json --name one Do it", `"name":"one"`, `"new":false`)
	u.says("submit --prompt-file PROMPT.md", " do-the-rest submitted")
	u.says("submit --each tasks --name t{task.n} Do {task.n}", " t1 submitted", " t2 submitted")
	if said, code := u.runs("Typed words", "submit --prompt-file -"); code != 0 || !strings.Contains(said, " typed-words submitted") {
		t.Errorf("a prompt that is typed: %d, %s", code, said)
	}
	if said, code := u.runs("{\"n\":3}\n", "submit --each - --name t{task.n} Do {task.n}"); code != 0 || !strings.Contains(said, " t3 submitted") {
		t.Errorf("tasks that are typed: %d, %s", code, said)
	}
	u.refuses("fetch one", "no iteration of it has ended yet")
}

func TestADoctorForPeople(t *testing.T) {
	u := newUser(t)
	u.says("doctor --only bus", "✓ ralph-fleet "+programVersion(), "bus = "+u.url+" (the arguments)", "✓ there is no token", "✓ the bus "+u.url+" answers in ", ", without TLS: ", "✓ JetStream keeps ",
		"✓ this machine's clock is that of the bus", "– no worker is there start one where the agents are", "!git")
	u.refuses("doctor --only bus --expect box", "✗ no worker is there", "✗ worker box isn't there see its log", "2 problems found, marked ✗ above")
	attends := func(p fleet.Presence, ahead time.Duration) {
		t.Helper()
		p.Since, p.At = time.Now(), time.Now().Add(ahead)
		u.must(u.bus.Attend(t.Context(), p))
	}
	box := fleet.Presence{Name: "box", Version: programVersion(), Slots: 2, Busy: 1, Labels: []string{"gpu"}}
	attends(box, 2*time.Second) // as much as clocks may differ, so that the way to the bus may take long
	u.says("doctor --only bus --expect box", "✓ 1 worker is there, 1 of 2 slots busy ✓ worker box: "+programVersion()+", 1 of 2 slots busy, there since ", " (gpu)", "!another version")
	attends(box, 0)
	u.says("status", "1 worker is there, 1 of 2 slots busy")
	attends(box, 0)
	attends(fleet.Presence{Name: "old", Version: "0.1", Slots: 1}, time.Hour)
	attends(fleet.Presence{Name: "poor", Version: programVersion(), Slots: 1, Failed: 2, Problem: "pi is not installed"}, 0)
	attends(fleet.Presence{Name: "once", Version: programVersion(), Slots: 1, Failed: 1, Problem: "no"}, 0)
	u.says("status", "each attempt fails on poor", "!each attempt fails on once")
	u.refuses("doctor --only bus", "4 workers are there, 1 of 5 slots busy; each attempt fails on poor", "– the last 2 attempts failed on worker poor: pi is not installed see its log", "!on worker once", "– worker old: 0.1, 0 of 1 slot busy", "that is another version than this one install the same version", "✗ the clock of worker old is ", " ahead of the bus's")

	token := filepath.Join(t.TempDir(), "token")
	u.refuses("doctor --only bus --token-file "+token, "✗ the token: ", "write the token there, or name another file")
	u.must(os.WriteFile(token, []byte("\n"), 0o600))
	u.refuses("doctor --only bus --token-file "+token, "✗ the token: "+token+" is empty")
	u.must(os.WriteFile(token, []byte("sesame\n"), 0o600))
	u.refuses("doctor --only bus --token-file "+token, "✓ the token is in "+token)
	u.must(os.Chmod(token, 0o644))
	u.refuses("doctor --only bus --token-file "+token, "– others than you can read the token: "+token)
	t.Setenv("RALPH_TOKEN", "sesame")
	u.refuses("doctor --only bus", "✓ there is a token (RALPH_TOKEN)")
	u.refuses("doctor --only worker --ralph-lsp "+token, "!the bus ", "✓ git version ", "says nothing of use")
}

func TestWhatTheDoctorFinds(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for name, tt := range map[string]struct {
		look func(*doctor)
		want string // the checks in short
	}{
		"a full bus":            {func(d *doctor) { d.checkStores(natsbus.Health{Used: 95, Max: 100}) }, "✗ JetStream keeps 95 B of 100 B that it may"},
		"a bus with room":       {func(d *doctor) { d.checkStores(natsbus.Health{Used: 85, Max: 100}) }, "✓ JetStream keeps 85 B; it may keep 100 B"},
		"a bus without a bound": {func(d *doctor) { d.checkStores(natsbus.Health{Used: 85}) }, "✓ JetStream keeps 85 B"},
		"a store": {func(d *doctor) {
			d.checkStores(natsbus.Health{Used: 9, Stores: []natsbus.Store{{Name: "RALPH_WORK", Bytes: 5, Replicas: 1}}})
		}, "✓ JetStream keeps 9 B; RALPH_WORK 5 B"},
		"a store of a cluster": {func(d *doctor) {
			d.checkStores(natsbus.Health{Used: 9, Stores: []natsbus.Store{{Name: "RALPH_WORK", Bytes: 5, Replicas: 3}}})
		}, "✓ JetStream keeps 9 B; RALPH_WORK 5 B on 3 servers"},
		"a clock like the bus's": {func(d *doctor) { d.checkClock("clock", "it", time.Second, 0) }, "✓ it is that of the bus, give or take 1s"},
		"a clock ahead":          {func(d *doctor) { d.checkClock("clock", "it", 3*time.Second, 0) }, "✗ it is 3s ahead of the bus's"},
		"a clock behind":         {func(d *doctor) { d.checkClock("clock", "it", -3*time.Second, 0) }, "✗ it is 3s behind the bus's"},
		"a slow bus":             {func(d *doctor) { d.checkClock("clock", "it", 3*time.Second, time.Second) }, "✓ it is that of the bus, give or take 4s"},
		"a worker's clock":       {func(d *doctor) { d.checkClock("worker.x.clock", "it", 0, 0) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var d doctor
			tt.look(&d)
			var out bytes.Buffer
			problems := d.show(&out)
			if first, _, _ := strings.Cut(out.String(), "\n"); first != tt.want {
				t.Errorf("it says %q, want %q", out.String(), tt.want)
			}
			if bad := strings.HasPrefix(tt.want, "✗"); (problems != nil) != bad {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

// Loops are shown though nobody can read what was spent, and who looks is told what helps.
func TestALedgerThatIsNone(t *testing.T) {
	u := newUser(t)
	u.submits(fleet.Record{Task: fleet.Task{Name: "one"}, Phase: fleet.Queued})
	conn, err := net.Dial("tcp", strings.TrimPrefix(u.url, "nats://"))
	u.must(err)
	defer conn.Close()
	_, err = fmt.Fprint(conn, "CONNECT {\"verbose\":false}\r\nPUB $KV.RALPH_LEDGER.ledger 8\r\nnot JSON\r\n") // as any client of NATS may
	u.must(err)
	ctx, cancel := context.WithTimeout(u.Context(), proctest.Patience)
	defer cancel()
	for !errors.Is(err, ledger.ErrBroken) {
		_, err = ledger.Whole(ctx, u.bus)
		u.must(ctx.Err())
	}
	u.refuses("status", "one", "1 queued", "what the bus keeps of limits and spending can't be read: ", "nats kv get RALPH_LEDGER ledger --raw")
	u.says("status --json", `"name":"one"`)
	u.refuses("limits --max-cost 5", "what the bus keeps of limits and spending can't be read: ", "nats kv put RALPH_LEDGER ledger")
	u.refuses("doctor --only bus", "✗ what the bus keeps of limits and spending can't be read: ", "nats kv get RALPH_LEDGER ledger --raw", "set limits again then")
}
