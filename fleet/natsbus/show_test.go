package natsbus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// serve serves a bus, and returns what connects to it.
func serve(t *testing.T) (connect func(name string) *Bus) {
	t.Helper()
	served, err := Serve(ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	return func(name string) *Bus {
		bus, err := Dial(t.Context(), Options{URL: served.URL(), Name: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(bus.Close)
		return bus
	}
}

// wants reads what is shown until all that was among it. It returns what else was.
func wants(t *testing.T, shown <-chan fleet.Shown, want ...string) (others []string) {
	t.Helper()
	for len(want) > 0 {
		select {
		case s := <-shown:
			got := fmt.Sprintf("%s %d %s", s.ID, s.Attempt, s.Status)
			if i := slices.Index(want, got); i >= 0 {
				want = slices.Delete(want, i, i+1)
			} else {
				others = append(others, got)
			}
		case <-time.After(proctest.Patience):
			t.Fatalf("%q isn't shown, only %q", want, others)
		}
	}
	return others
}

func show(t *testing.T, bus *Bus, id string, attempt int, status string) {
	t.Helper()
	if err := bus.Show(t.Context(), fleet.Shown{ID: id, Attempt: attempt, Status: []byte(status)}); err != nil {
		t.Fatal(err)
	}
}

func shownOn(t *testing.T, bus *Bus) <-chan fleet.Shown {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	shown, err := bus.Shown(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		for range shown { // it is closed in the end
		}
	})
	return shown
}

func TestWhatIterationsShow(t *testing.T) {
	connect := serve(t)
	worker, client := connect("worker"), connect("client")
	early := shownOn(t, client)
	show(t, worker, "f1", 1, "begins")
	show(t, worker, "f2", 7, "waits")
	wants(t, early, "f1 1 begins", "f2 7 waits")
	show(t, worker, "f1", 1, "works")
	wants(t, early, "f1 1 works")

	late := shownOn(t, client)
	if others := wants(t, late, "f1 1 works", "f2 7 waits"); others != nil {
		t.Errorf("who comes late is shown %q too", others)
	}
	// What was missed while a connection was away is made up for, at both ends.
	for _, bus := range []*Bus{worker, client} {
		if err := bus.conn.ForceReconnect(); err != nil {
			t.Fatal(err)
		}
		wants(t, late, "f1 1 works", "f2 7 waits")
	}

	show(t, worker, "f1", 1, "")
	show(t, worker, "f2", 8, "the next one")
	wants(t, late, "f2 8 the next one")
	later := shownOn(t, client)
	others := wants(t, later, "f2 8 the next one")
	show(t, worker, "f3", 1, "begins")
	if others = append(others, wants(t, later, "f3 1 begins")...); others != nil {
		t.Errorf("who comes when an iteration is over is shown %q too", others)
	}
}

// What a worker says again for who comes late is older than what it says next, and never shown behind that.
func TestWhatIsSaidAgainIsShownFirst(t *testing.T) {
	connect := serve(t)
	worker, client := connect("worker"), connect("client")
	if err := worker.Attend(t.Context(), fleet.Presence{Name: "box"}); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		ctx, leave := context.WithCancel(t.Context())
		show(t, worker, "f1", 1, fmt.Sprint("begins ", n))
		shown, err := client.Shown(ctx)
		if err != nil {
			t.Fatal(err)
		}
		works, last := fmt.Sprint("works ", n), ""
		show(t, worker, "f1", 1, works)
		mark := fmt.Sprint("f", n+2) // a loop that is new is shown behind all others
		show(t, worker, mark, 1, works)
		for now, again := false, false; !now || !again; {
			s := <-shown
			now = now || s.ID == mark
			if again = again || s.Worker == "box"; s.ID == "f1" {
				last = string(s.Status)
			}
		}
		show(t, worker, mark, 1, "")
		if leave(); last != works {
			t.Fatalf("%q is shown last, not %q", last, works)
		}
	}
}

// A user who looks doesn't wait for what no worker will say: here f2 is in its checkout.
func TestAWorkerSaysThatItShowsNoMore(t *testing.T) {
	connect := serve(t)
	worker, client := connect("worker"), connect("client")
	if err := worker.Attend(t.Context(), fleet.Presence{Name: "box of mine"}); err != nil {
		t.Fatal(err)
	}
	running := []fleet.Record{
		{Task: fleet.Task{ID: "f1"}, Phase: fleet.Running, Attempt: 1, Worker: "box of mine"},
		{Task: fleet.Task{ID: "f2"}, Phase: fleet.Running, Attempt: 1, Worker: "box of mine"},
	}
	for range 20 {
		show(t, worker, "f1", 1, "works")
		got, err := fleet.Gather(t.Context(), client, running, time.Hour)
		if err != nil || len(got) != 1 || string(got["f1"].Status) != "works" {
			t.Fatalf("gathered %v, %v", got, err)
		}
	}
	show(t, worker, "f1", 1, "")
	if got, err := fleet.Gather(t.Context(), client, running, time.Hour); err != nil || len(got) != 0 {
		t.Errorf("between iterations: gathered %v, %v", got, err)
	}
}

func TestWhoReadsSlowlyGetsTheLatest(t *testing.T) {
	v := &viewer{at: map[string]int{}}
	heard, to := make(chan *nats.Msg), make(chan fleet.Shown)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go v.send(ctx, heard, to)
	says := func(id string, attempt int, status any) {
		heard <- &nats.Msg{Subject: fmt.Sprintf("%s.%s.%d", shownSubject, id, attempt), Data: fmt.Append(nil, status)}
	}
	for n := range 1000 {
		says("f1", 2, n)
	}
	says("f1", 1, "lost")
	says("f2", 1, "first")
	says("f3", 1, "first")
	wants := func(id, status string) {
		t.Helper()
		if s := <-to; s.ID != id || string(s.Status) != status {
			t.Errorf("%s %q is shown, want %s %q", s.ID, s.Status, id, status)
		}
	}
	wants("f1", "999")
	says("f3", 1, "second")
	says("f1", 2, "again")
	says("f1", 2, "and again")
	wants("f2", "first")
	wants("f3", "second")
	wants("f1", "and again")
}

func TestAskingAWorker(t *testing.T) {
	connect := serve(t)
	worker, client := connect("worker"), connect("client")
	if _, err := client.Ask(t.Context(), "f1", []byte("hello")); !errors.Is(err, fleet.ErrNobody) {
		t.Errorf("asking about a loop that nobody runs: %v", err)
	}
	answer := func(request []byte) []byte { return append(request, '!') }
	if _, err := worker.Listen(t.Context(), "f1", answer); err != nil {
		t.Fatal(err)
	}
	if _, err := connect("lost").Listen(t.Context(), "f1", func([]byte) []byte { return nil }); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if a, err := client.Ask(t.Context(), "f1", []byte("hello")); err != nil || string(a) != "hello!" {
			t.Fatalf("the answer is %q, %v", a, err)
		}
	}
	stop, err := worker.Listen(t.Context(), "f2", answer)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := client.Ask(t.Context(), "f2", []byte("hello")); err != nil || string(a) != "hello!" {
		t.Fatalf("the answer is %q, %v", a, err)
	}
	stop()
	for { // what is on its way is answered yet
		if _, err := client.Ask(t.Context(), "f2", nil); errors.Is(err, fleet.ErrNobody) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A program ends at once, however long a server that says nothing is waited for.
func TestDiallingEndsWithItsContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	dialled := make(chan error, 1)
	go func() {
		_, err := Dial(ctx, Options{URL: "nats://" + silent.Addr().String(), Name: "test"})
		dialled <- err
	}()
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cancel()
	if err := <-dialled; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// When it speaks after all, nobody stays connected.
	conn.SetDeadline(time.Now().Add(proctest.Patience))
	fmt.Fprint(conn, "INFO {\"server_id\":\"late\",\"max_payload\":1048576}\r\n")
	said := bufio.NewScanner(conn)
	for said.Scan() {
		if said.Text() == "PING" {
			fmt.Fprint(conn, "PONG\r\n")
		}
	}
	if err := said.Err(); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it is connected yet: %v", err)
	}
}
