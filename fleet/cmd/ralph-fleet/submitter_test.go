package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

func TestASubmitterSubmitsAndSeesItsOwn(t *testing.T) {
	u := newUser(t)
	dir, repo := t.TempDir(), repository(t)
	alice, bob := filepath.Join(dir, "alice"), filepath.Join(dir, "bob")
	u.url = u.serves("--submitter", "alice="+alice, "--submitter", "bob="+bob)
	token, err := os.ReadFile(alice)
	u.must(err)
	if again, err := makeSubmitter("alice=" + alice); err != nil || again != strings.TrimSpace(string(token)) {
		t.Errorf("read again it is %q, %v", again, err)
	}
	for said, want := range map[string]string{"alice": "say it as NAME=FILE", "bob=" + alice: "has no token of it", "Al.ice=" + dir + "/x": "is no name of a submitter", "_=" + dir + "/x": "is no name"} {
		if _, err := makeSubmitter(said); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--submitter %s: %v", said, err)
		}
	}
	var said bytes.Buffer
	twice := []string{"serve", "--listen", "127.0.0.1:0", "--dir", filepath.Join(dir, "bus"), "--submitter", "alice=" + alice, "--submitter", "alice=" + filepath.Join(dir, "other")}
	if code := execute(t.Context(), twice, strings.NewReader(""), &said, &said); code != 1 || !strings.Contains(said.String(), "there is another one of it") {
		t.Errorf("with two of a name it ends with %d: %s", code, said.String())
	}

	as := " --token-file " + alice
	u.says("submit --repo "+repo+" --backend pi --name mine --each "+tasks(t, 3)+as+" Do {task.name}", "mine submitted", "mine-2 submitted", "mine-3 submitted")
	u.says("submit --repo "+repo+" --backend pi --name other --token-file "+bob+" Do it", "other submitted")
	u.says("status"+as, "mine-3 queued", "3 queued", "!other", "!is there")
	u.says("status --json mine"+as, `"labels":{"submitter":"alice"}`)
	u.says("cancel mine-2"+as, "mine-2 cancelled")
	u.says("status mine-2"+as, "cancelled", "!watch --now")
	u.refuses("fetch mine"+as, "no iteration of it has ended yet")
	u.refuses("cancel other"+as, "there is no loop other")
	u.says("watch --now mine"+as, "(waits for a worker: it needs agent=pi, walls)")
	u.refuses("watch --now other"+as, "there is no loop other")
	u.refuses("pause mine"+as, "the token is of the submitter alice")
	u.refuses("submit --repo "+repo+" --backend pi --setup id Do it"+as, "a submitter can't give --setup", "!submit the same again")
	u.says("status", "other queued", "3 queued, 1 ended")
	u.says("status --label submitter=bob", "other", "!mine")
}

// Teams have queues of their own; who may only submit spends from theirs.
func TestQueuesOfTeams(t *testing.T) {
	u := newUser(t)
	dir, repo := t.TempDir(), repository(t)
	alice, bob := filepath.Join(dir, "alice"), filepath.Join(dir, "bob")
	u.url = u.serves("--submitter", "alice="+alice, "--submitter", "bob="+bob)
	u.says("queue", "no queues")
	u.says("queue add web --per-day 5 --at-once 2 --submitter alice", "web $0.00 spent · today $0.00 of $5.00 · 0 iterations run of 2 · submitters alice")
	u.says("queue add gpu --needs gpu,zone=west --max-cost 9 --worker w1,w2", "gpu $0.00 of $9.00", "needs gpu, zone=west · workers w1, w2")
	u.says("queue add gpu --needs gpu", "gpu $0.00 of $9.00", "needs gpu · workers w1, w2")
	u.refuses("queue add GPU", "is no name of a queue")

	u.says("submit --repo "+repo+" --backend pi --name one --queue gpu --reserve 1 Do it", "one submitted")
	u.says("status one", "waits for a worker: it needs agent=pi, gpu")
	u.refuses("submit --repo "+repo+" --backend pi --queue gpu --reserve 10 Do it", "more than the budget of the queue gpu")
	u.refuses("submit --repo "+repo+" --backend pi --queue none Do it", "none: there is no such queue; ralph-fleet queue lists them")
	u.refuses("submit --repo "+repo+" --queue gpu Do it", "the limit of cost can't hold")

	as := " --token-file " + alice
	u.says("submit --repo "+repo+" --backend pi --name hers Do it"+as, "hers submitted")
	u.refuses("submit --repo "+repo+" --backend pi --queue gpu Do it"+as, "the queue gpu isn't for the submitter alice")
	u.refuses("submit --repo "+repo+" --backend pi --reserve 100 Do it"+as, "more than the budget of the queue web, $5.00")
	u.says("submit --repo "+repo+" --backend pi --name his --token-file "+bob+" Do it", "his submitted")
	all, _, err := u.bus.List(t.Context())
	u.must(err)
	for _, r := range all {
		if want := map[string]string{"one": "gpu", "hers": "web", "hers-too": "web"}[r.Name]; r.Queue != want || (len(r.Needs) > 0) != (want != "") {
			t.Errorf("%s is in the queue %q and needs %v", r.Name, r.Queue, r.Needs)
		}
	}
	u.says("queue add web --walled true", "its machines are the walls")
	u.says("submit --repo "+repo+" --backend pi --name hers-too Do that"+as, "hers-too submitted")
	u.says("status hers hers-too", "hers queued 0 $0.00 waits for a worker: it needs agent=pi, walls", "hers-too queued 0 $0.00 waits for a worker: it needs agent=pi")
	u.says("status hers-too", "!walls")
	u.says("budget --queue web --correct 2 --reason bill", "budget no limit spent $2.00", ": bill")
	u.says("budget", "spent $0.00", "!bill")
	u.says("queue", "web $2.00 spent · today $0.00 of $5.00", "gpu")
	u.says("queue remove gpu")
	u.refuses("queue remove gpu", "there is no such queue")
	u.says("queue", "web", "!gpu")
}

// repository makes one with a commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=U", "-c", "user.email=u@x", "commit", "-q", "--allow-empty", "-m", "base"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

// tasks is a file with so many of them.
func tasks(t *testing.T, n int) (name string) {
	name = filepath.Join(t.TempDir(), "tasks")
	text := ""
	for i := range n {
		text += `{"name": "` + strings.Repeat("x", i+1) + `"}` + "\n"
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestASubmittersFlagsLoosenNothing(t *testing.T) {
	u := newUser(t)
	for flags, want := range map[string]string{
		"": "", "--backend=pi --model=m": "", "--max-iterations=3 --max-time=1h --no-instruct=true --verify=x --until=y": "", "--backend=auto --sandbox=workspace": "",
		"--sandbox=off --sandbox=workspace": "have walls", "--sandbox=off": "have walls", "--model=--yolo": "is no model", "--backend=./x": "one of the known agents",
		"--backend-arg=x": "--backend-arg isn't for submitters", "--permissions=ask": "isn't for submitters", "--chain=a,b": "isn't for submitters", "--hat=x": "isn't for submitters",
		"--once": "unknown flag", "x": "is no flag", "--max-time=0": "can't be 0", "--max-iterations=0": "can't be 0",
	} {
		task := fleet.Task{Flags: strings.Fields(flags)}
		err := admissible(t.Context(), u.bus, &task)
		if got := ""; err != nil {
			if got = err.Error(); want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s", flags, got)
			}
		} else if want != "" || !slices.Equal(task.Flags, strings.Fields(flags)) {
			t.Errorf("%s: it may, as %q", flags, task.Flags)
		}
	}
	u.says("limits --max-cost 1", "cost $1.00")
	if err := admissible(t.Context(), u.bus, &fleet.Task{}); err == nil || !strings.Contains(err.Error(), "--reserve") {
		t.Errorf("under a limit of cost: %v", err)
	}
	spaced := fleet.Task{Flags: []string{"--model", "m", "--reserve"}}
	if err := admissible(t.Context(), u.bus, &spaced); err == nil {
		t.Error("a flag of submit is none of its loop")
	}
}
