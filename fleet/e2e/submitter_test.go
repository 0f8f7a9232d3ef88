//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
)

// promises is an agent that is done at once, as pi says it.
const promises = `#!/bin/sh
echo made >made
echo '{"type":"session","version":3,"id":"s"}'
echo '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"<promise>DONE</promise>"}],"usage":{"input":1,"output":1,"totalTokens":2,"cost":{"total":0.01}},"stopReason":"stop"}}'
echo '{"type":"agent_settled"}'
`

// as is the world of who may only submit.
func (w *world) as(submitter string) *world {
	w.t.Helper()
	token, err := os.ReadFile(filepath.Join(w.dir, submitter))
	if err != nil {
		w.t.Fatal(err)
	}
	other := *w
	other.env = append(other.env, "RALPH_TOKEN="+strings.TrimSpace(string(token)))
	return &other
}

// refuses runs a command that isn't to be done.
func (w *world) refuses(why string, args ...string) {
	w.t.Helper()
	if out, err := w.run(args...); err == nil || !strings.Contains(err.Error(), why) {
		w.t.Errorf("%v: %v, want %q\n%s", args, err, why, out)
	}
}

// withSubmitters serves a bus for alice and bob, beside who may do everything, with a worker that has walls.
func withSubmitters(t *testing.T) *world {
	walltest.Need(t)
	w := prepare(t)
	w.addr = freeAddresses(t, 1)[0]
	w.serve("--submitter", "alice="+filepath.Join(w.dir, "alice"), "--submitter", "bob="+filepath.Join(w.dir, "bob"))
	pi := filepath.Join(w.dir, "bin", "pi")
	if err := errors.Join(os.Mkdir(filepath.Dir(pi), 0o700), os.WriteFile(pi, []byte(promises), 0o700)); err != nil {
		t.Fatal(err)
	}
	return w
}

// ask submits a loop whose agent is done at once.
func (w *world) ask(name string, flags ...string) (id string) {
	w.t.Helper()
	args := append([]string{"submit", "--repo", w.repo, "--name", name, "--backend", "pi", "--completion-promise", "DONE"}, flags...)
	return strings.Fields(w.must(append(args, "Promise it")...))[0]
}

func TestASubmitterHasItsOwnLoopsDone(t *testing.T) {
	w := withSubmitters(t)
	w.write("repo/large", strings.Repeat("x\n", 1<<10)+string(random(1<<20))) // more than one message
	w.git("-C", w.repo, "add", "-A")
	w.git("-C", w.repo, "commit", "-q", "-m", "large")
	alice, bob := w.as("alice"), w.as("bob")
	w.worker("open", 1, w.addr, long) // without walls
	id := alice.ask("mine")
	if again := alice.ask("mine"); again != id {
		t.Errorf("the same again is %s, and was %s", again, id)
	}
	w.until("a word on why it waits", func() bool { return strings.Contains(w.status()["mine"].Text, "it needs") })
	if said := alice.must("status"); !strings.Contains(said, "walls") || strings.Contains(bob.must("status"), "mine") {
		t.Errorf("the status: %s", said)
	}
	w.worker("walled", 1, w.addr, long, "--sandbox", "workspace")
	w.until("its end", func() bool { return strings.Contains(alice.must("status", "mine"), "done: DONE") })
	if s := w.status()["mine"]; s.Host != "walled" {
		t.Errorf("it ran at %+v", s)
	}
	if said := alice.must("watch", "mine"); !strings.Contains(said, "DONE") {
		t.Errorf("it has watched %q", said)
	}
	branch := strings.Fields(alice.must("fetch", "mine", "--into", w.repo))[1]
	if got := w.git("-C", w.repo, "show", branch+":made"); got != "made" {
		t.Errorf("fetched: %q", got)
	}
	alice.ask("waits", "--on", "nowhere")
	if said := alice.must("cancel", "waits"); !strings.Contains(said, "cancelled") || w.status()["waits"].StopReason != "cancelled" {
		t.Errorf("cancel: %s", said)
	}
}

func TestASubmitterMayDoNothingElse(t *testing.T) {
	w := withSubmitters(t)
	alice, bob := w.as("alice"), w.as("bob")
	w.worker("walled", 1, w.addr, long, "--sandbox", "workspace")
	theirs := w.ask("the-operators")
	his := bob.ask("his")
	w.until("the others' ends", func() bool { return w.status()["his"].State == "ended" && w.status()["the-operators"].State == "ended" })
	waiting := bob.ask("waiting", "--on", "nowhere")
	const more = "the token is of the submitter alice"
	for _, args := range [][]string{{"pause", his}, {"resume", his}, {"next", his}, {"steer", his, "x"}, {"answer", his}, {"land", his}, {"remove", his},
		{"limits", "--max-cost", "0"}, {"worker", "--sandbox", "off"}} {
		alice.refuses(more, args...)
	}
	alice.refuses("problem found", "doctor", "--only", "bus")
	for _, id := range []string{his, waiting, theirs, "his", "the-operators"} {
		for _, command := range []string{"status", "watch", "cancel", "fetch"} {
			alice.refuses("there is no loop "+id, command, id)
		}
	}
	if got := alice.must("status"); !strings.Contains(got, "no loops") {
		t.Errorf("it sees %s", got)
	}
	for _, flags := range [][]string{
		{"--sandbox", "off"}, {"--setup", "id"}, {"--trust"}, {"--hat", "x"}, {"--backend", "./a"}, {"--backend-arg", "--yolo"}, {"--permissions", "ask"},
		{"--priority", "high"}, {"--max-iterations", "0"}, {"--max-time", "0"}, {"--repo", "file://" + w.repo}, {"--agent", "x"},
	} {
		alice.refuses("a: ", append(append([]string{"submit", "--repo", w.repo, "--name", "a"}, flags...), "Do it")...)
	}
	alice.refuses("an iteration reserves between", "submit", "--repo", w.repo, "--name", "a", "--reserve", "-1", "Do it")
	triesAll(t, alice, his, waiting, theirs)
	if s := w.status(); s["waiting"].State != "queued" || len(s) != 4 { // the fourth is what it may
		t.Errorf("the loops are %+v", s)
	}
}

// triesAll tries what a submitter may not with a client of its own.
func triesAll(t *testing.T, w *world, his, waiting, theirs string) {
	dial := func(options ...nats.Option) *nats.Conn {
		conn, err := nats.Connect("nats://"+w.addr, options...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		return conn
	}
	secret, _ := os.ReadFile(filepath.Join(w.dir, "alice"))
	w.write("seed", string(secret[len("submitter:alice:"):]))
	key, err := nats.NkeyOptionFromSeed(filepath.Join(w.dir, "seed"))
	if err != nil {
		t.Fatal(err)
	}
	problems := make(chan error, 1)
	conn := dial(key, nats.CustomInboxPrefix("_INBOX.alice"), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { problems <- err }))
	denied := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		conn.Flush()
		select {
		case err := <-problems:
			if !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(patience):
			t.Errorf("nobody forbids %s", what)
		}
	}
	for _, subject := range []string{"ralph.work.normal." + waiting, "ralph.ask." + his, "ralph.live." + his, "ralph.show", "ralph.shown." + his + ".1", "ralph.submit.bob", "ralph.submit",
		"$KV.RALPH_LOOPS." + his, "$KV.RALPH_LEDGER.ledger", "$KV.RALPH_WORKERS.x", "$O.RALPH_FILES.M.x", "_INBOX.bob.x", "_INBOX.alice.x",
		"$JS.API.INFO", "$JS.API.STREAM.LIST", "$JS.API.STREAM.DELETE.RALPH_WORK", "$JS.API.STREAM.MSG.GET.KV_RALPH_LOOPS", "$JS.API.DIRECT.GET.KV_RALPH_LOOPS.$KV.RALPH_LOOPS." + his,
		"$JS.API.CONSUMER.MSG.NEXT.RALPH_WORK.ralph-normal", "$JS.ACK.RALPH_WORK.ralph-normal.1.1.1.1.0", "$SYS.REQ.SERVER.PING"} {
		denied(subject, conn.Publish(subject, nil))
	}
	for _, subject := range []string{">", "ralph.>", "ralph.submit.alice", "ralph.submit.*", "ralph.live." + his, "_INBOX.>", "_INBOX.bob.>", "_INBOX.*", "$KV.>", "$O.RALPH_FILES.>"} {
		_, err := conn.SubscribeSync(subject)
		denied(subject, err)
	}
	request := func(q map[string]any, parts ...[]byte) (said string, err error) {
		t.Helper()
		data, _ := json.Marshal(q)
		inbox := conn.NewInbox()
		heard, err := conn.SubscribeSync(inbox)
		if err := errors.Join(err, conn.PublishRequest("ralph.submit.alice", inbox, data)); err != nil {
			t.Fatal(err)
		}
		defer heard.Unsubscribe()
		for {
			m, err := heard.NextMsg(patience)
			if err != nil {
				t.Fatal(err)
			}
			if m.Reply == "" {
				var a struct{ Error string }
				err := json.Unmarshal(m.Data, &a)
				return a.Error, err
			}
			part := []byte(nil)
			if len(parts) > 0 {
				part, parts = parts[0], parts[1:]
			}
			m.Respond(part)
		}
	}
	refuses := func(why string, q map[string]any, parts ...[]byte) {
		t.Helper()
		if said, err := request(q, parts...); err != nil || said == "" || !strings.Contains(said, why) {
			t.Errorf("%v: %v, %q, want %q", q, err, said, why)
		}
	}
	for _, id := range []string{his, waiting, theirs, "nothing"} {
		refuses("no such loop", map[string]any{"cancel": id})
		refuses("no such loop", map[string]any{"read": "loop/" + id + "/1/bundle"})
		refuses("no such loop", map[string]any{"read": id})
	}
	for _, q := range []map[string]any{{}, {"cancel": ""}, {"read": ""}, {"read": "loop//1/bundle"}, {"read": "loop/../prompt/" + his}, {"resume": his}} {
		refuses("", q)
	}
	for _, name := range []string{"prompt/" + his, "repo/" + w.git("-C", w.repo, "rev-parse", "HEAD"), his + "/1/bundle", "loops/" + his} {
		refuses("no such loop", map[string]any{"read": name})
	}

	// An answer goes to nobody else: serve may say everything.
	all := dial(nats.Token(token))
	probe, err := all.SubscribeSync("ralph.probe")
	if err := errors.Join(err, all.Flush(), conn.PublishRequest("ralph.submit.alice", "ralph.probe", []byte(`{"read":"loops"}`))); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		request(map[string]any{"read": "loops"})
	}
	if all.Flush(); err == nil {
		if n, _, _ := probe.Pending(); n > 0 {
			t.Error("serve says something where a submitter wants it to")
		}
	}
	triesBundles(t, w, request, refuses)
}

// triesBundles sends what isn't the commit that a loop begins with.
func triesBundles(t *testing.T, w *world, request func(map[string]any, ...[]byte) (string, error), refuses func(string, map[string]any, ...[]byte)) {
	base := w.git("-C", w.repo, "rev-parse", "HEAD")
	own := filepath.Join(w.dir, "own")
	w.git("init", "-q", own)
	w.git("-C", own, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-q", "--allow-empty", "-m", "own")
	w.git("-C", own, "branch", "ralph-fleet")
	bundle := filepath.Join(w.dir, "bundle")
	if out, err := exec.Command("git", "-C", own, "bundle", "create", "-q", bundle, "refs/heads/ralph-fleet").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	mine := w.git("-C", own, "rev-parse", "HEAD")
	task := func(base string, change func(map[string]any)) map[string]any {
		t := map[string]any{"id": "f1", "name": "a", "repo": w.repo, "base": base, "bundled": true, "priority": "normal", "key": "k", "flags": []string{"--backend=pi"}, "at": time.Now()}
		change(t)
		return map[string]any{"submit": t, "prompt": "x"}
	}
	refuses("isn't sent", task(mine, func(map[string]any) {}))
	refuses("hasn't the commit", map[string]any{"send": "repo/" + base}, data)
	refuses("can't be read", map[string]any{"send": "repo/" + mine}, []byte("not a bundle"))
	refuses("can't be read", map[string]any{"send": "repo/" + mine}, data[:len(data)/2])
	refuses("hasn't the commit", map[string]any{"send": "prompt/f1"}, data)
	refuses("isn't sent", task(mine, func(map[string]any) {}))
	if said, err := request(map[string]any{"send": "repo/" + mine}, data[:50], data[50:]); err != nil || said != "" {
		t.Fatal(said, err)
	}
	refuses("isn't sent", task(strings.Repeat("a", 40), func(map[string]any) {}))
	for why, change := range map[string]func(map[string]any){
		"isn't for submitters": func(t map[string]any) { t["flags"] = []string{"--backend-arg=x"} },
		"have walls":           func(t map[string]any) { t["flags"] = []string{"--sandbox=workspace", "--sandbox=off"} },
		"unknown flag":         func(t map[string]any) { t["flags"] = []string{"--on-close=keep"} },
		"is no flag":           func(t map[string]any) { t["flags"] = []string{"--", "--sandbox=off"} },
		"--setup":              func(t map[string]any) { t["setup"] = []string{"id"} },
		"--trust":              func(t map[string]any) { t["trust"] = true },
		"--priority high":      func(t map[string]any) { t["priority"] = "normal.>" },
		"--reserve":            func(t map[string]any) { t["reserve"] = -1 },
		"a URL":                func(t map[string]any) { t["bundled"] = false },
		"is no name of a loop": func(t map[string]any) { t["name"] = "../x" },
		"at most 64 are":       func(t map[string]any) { t["on"] = []string{strings.Repeat("x", 70<<10)} },
	} {
		refuses(why, task(mine, change))
	}
	if said, err := request(task(mine, func(t map[string]any) { t["on"] = []string{"nowhere"} })); err != nil || said != "" {
		t.Errorf("what may be submitted isn't: %v, %s", err, said)
	}
}

func random(n int) []byte {
	data := make([]byte, n)
	f, err := os.Open("/dev/urandom")
	if err == nil {
		defer f.Close()
		_, err = f.Read(data)
	}
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return data
}
