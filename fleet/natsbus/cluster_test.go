package natsbus

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/internal/test/certtest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

func TestWhoMaySpeakToTheBus(t *testing.T) {
	ours, theirs := certtest.New(t), certtest.New(t)
	ours.Server("bus")
	served, err := Serve(ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0", Token: "sesame", Cert: ours.File("bus.pem"), Key: ours.File("bus-key.pem")})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	addr := served.server.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	tests := []struct {
		name string
		o    Options
		want string // in the error
	}{
		{"right", Options{URL: "tls://" + addr, Token: "sesame", CA: ours.File("ca.pem")}, ""},
		{"by another name", Options{URL: "nats://localhost:" + port, Token: "sesame", CA: ours.File("ca.pem")}, ""},
		{"the wrong authority", Options{URL: "tls://" + addr, Token: "sesame", CA: theirs.File("ca.pem")}, "--ca"},
		{"no authority", Options{URL: "nats://" + addr, Token: "sesame"}, "--ca"},
		{"a file without one", Options{URL: "tls://" + addr, Token: "sesame", CA: ours.File("bus-key.pem")}, "bus-key.pem"},
		{"no such file", Options{URL: "tls://" + addr, Token: "sesame", CA: "nowhere.pem"}, "nowhere.pem"},
		{"the wrong token", Options{URL: "tls://" + addr, Token: "open", CA: ours.File("ca.pem")}, "--token-file"},
		{"no token", Options{URL: "tls://" + addr, CA: ours.File("ca.pem")}, "--token-file"},
		{"no credentials", Options{URL: "tls://" + addr, Creds: "nowhere.creds", CA: ours.File("ca.pem")}, "nowhere.creds"},
		{"no key", Options{URL: "tls://" + addr, NKey: "nowhere.nk", CA: ours.File("ca.pem")}, "nowhere.nk"},
		{"nobody there", Options{URL: "nats://127.0.0.1:1"}, "start it with ralph-fleet serve"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Dial(t.Context(), tt.o)
			if err == nil {
				b.Close()
			}
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("it tells the token: %v", err)
			}
		})
	}
}

// free is an address that nobody listens on, and whose port the system gives to no client.
func free(t *testing.T) string {
	t.Helper()
	for {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+mathrand.IntN(20_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
}

// nodes are what three servers of a cluster are served with.
func nodes(t *testing.T, a *certtest.Authority) (all [3]ServeOptions) {
	t.Helper()
	var routes []string
	for i := range all {
		a.Server(fmt.Sprint("bus", i))
		all[i] = ServeOptions{
			Dir: t.TempDir(), Listen: free(t), Cluster: free(t), Name: fmt.Sprint("bus", i), Token: "sesame",
			Cert: a.File(fmt.Sprintf("bus%d.pem", i)), Key: a.File(fmt.Sprintf("bus%d-key.pem", i)), CA: a.File("ca.pem"),
		}
		routes = append(routes, all[i].Cluster)
	}
	for i := range all {
		all[i].Routes = routes
	}
	return all
}

// A server of three goes, and comes back with what happened meanwhile.
func TestAClusterOfThree(t *testing.T) {
	a := certtest.New(t)
	all := nodes(t, a)
	var served [3]*Served
	var urls []string
	for i, o := range all {
		urls = append(urls, "tls://"+o.Listen)
		var err error
		if served[i], err = Serve(o); err != nil {
			t.Fatal(err)
		}
		defer func() { served[i].Close() }()
	}
	b, err := Dial(t.Context(), Options{URL: strings.Join(urls, ","), Token: "sesame", CA: a.File("ca.pem"), Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if c := b.work.CachedInfo().Config; c.Replicas != 3 {
		t.Errorf("%s has %d replicas", c.Name, c.Replicas)
	}
	wantLed(t, b)
	files, err := b.js.Stream(t.Context(), filesStream)
	if err != nil {
		t.Fatal(err)
	}
	before := files.CachedInfo().Config
	before.AllowDirect = true // as it was made once
	if _, err := b.js.UpdateStream(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if err := b.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantLed(t, b)
	for i := range 3 {
		enter(t, b, fmt.Sprint("f", i))
	}
	info, err := b.work.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	leader := int(info.Cluster.Leader[len("bus")] - '0')
	served[leader].Close()
	enter(t, b, "f3")
	proctest.Until(t, "all loops are listed without that server", func() bool { // each stream has a leader to choose first
		loops, _, err := b.List(t.Context())
		return err == nil && len(loops) == 4
	})
	if served[leader], err = Serve(all[leader]); err != nil {
		t.Fatal(err)
	}
	other, third := (leader+1)%3, (leader+2)%3
	isReady := func(i int) bool {
		said := httptest.NewRecorder()
		served[i].Ready(said, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		return said.Code == http.StatusOK
	}
	proctest.Until(t, "the first server has caught up", func() bool { return isReady(leader) })
	served[other].Close() // now it is one of two
	for range 4 {
		var ticket fleet.Ticket
		proctest.Until(t, "a ticket", func() bool {
			ticket, err = b.Take(t.Context(), nil)
			return err == nil
		})
		proctest.Until(t, "its end", func() bool { return ticket.Done(t.Context()) == nil })
	}
	served[leader].Close()
	proctest.Until(t, "who is alone isn't ready", func() bool { return !isReady(third) })
	proctest.Until(t, "what is missing is told", func() bool {
		_, _, err := b.List(t.Context())
		return err != nil && strings.Contains(Explained(err).Error(), "most of its servers are away, or still behind; start those")
	})
}

// wantLed wants that no server answers for what is kept but the one that leads: one that is
// behind would say that a loop which was just submitted is none, and no worker would take it.
func wantLed(t *testing.T, b *Bus) {
	t.Helper()
	for _, name := range []string{"KV_" + loopBucket, "KV_" + sumBucket, filesStream} {
		if s, err := b.js.Stream(t.Context(), name); err != nil || s.CachedInfo().Config.AllowDirect {
			t.Errorf("any server answers for %s, even one that is behind (%v)", name, err)
		}
	}
}

// enter puts a loop on the bus, as often as it takes.
func enter(t *testing.T, b *Bus, id string) {
	t.Helper()
	r := fleet.Record{Task: fleet.Task{ID: id, Name: id, Priority: fleet.Normal}, Phase: fleet.Queued}
	proctest.Until(t, "that "+id+" is on the bus", func() bool {
		err := b.Create(t.Context(), r)
		return err == nil || err == fleet.ErrExists
	})
	proctest.Until(t, "that it waits", func() bool { return b.Enqueue(t.Context(), r) == nil })
}

func TestAnAddressThatIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if served, err := Serve(ServeOptions{Dir: t.TempDir(), Listen: l.Addr().String()}); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("it says %v", err)
		if err == nil {
			served.Close()
		}
	}
}

func TestABadCluster(t *testing.T) {
	whole := ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0", Cluster: "127.0.0.1:0", Name: "one", Routes: []string{"127.0.0.1:1"}}
	tests := []struct {
		want   string
		change func(*ServeOptions)
	}{
		{"--name", func(o *ServeOptions) { o.Name = "" }},
		{"--routes", func(o *ServeOptions) { o.Routes = nil }},
		{"the route", func(o *ServeOptions) { o.Routes = []string{"elsewhere"} }},
		{"set a token", func(o *ServeOptions) { o.Cluster = "0.0.0.0:6222" }},
		{"set a token", func(o *ServeOptions) { o.Listen = "0.0.0.0:4222" }},
		{"(--ca)", func(o *ServeOptions) {
			a := certtest.New(t)
			a.Server("x")
			o.Cert, o.Key = a.File("x.pem"), a.File("x-key.pem")
		}},
	}
	for _, tt := range tests {
		o := whole
		tt.change(&o)
		served, err := Serve(o)
		if err == nil {
			served.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// rights is the file of a NATS that others use too, whose user ralph may do what docs/FLEET-OPERATE.md says.
const rights = `
listen: "127.0.0.1:-1"
server_name: theirs
jetstream: { store_dir: %q }
accounts {
  THEIRS: {
    jetstream: enabled
    users: [
      { user: ralph, password: secret, permissions: {%s
      } }
      { user: stranger, password: secret, permissions: { publish: "other.>", subscribe: ["other.>", "_INBOX.>"] } }
    ]
  }
}
`

func TestAnExistingNATS(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "FLEET-OPERATE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "    permissions: {\n")
	list, _, found := strings.Cut(list, "\n    }\n")
	if !ok || !found {
		t.Fatal("docs/FLEET-OPERATE.md has no list of permissions")
	}
	conf := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, rights, t.TempDir(), "\n"+list), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	o.NoSigs, o.NoLog = true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("it isn't ready")
	}
	url := "nats://ralph:secret@" + s.Addr().String()
	b, err := Dial(t.Context(), Options{URL: url, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tryAll(t, b)
	if what := b.denied.Load(); what != nil {
		t.Errorf("it was refused: %s", *what)
	}
	_, err = Dial(t.Context(), Options{URL: strings.Replace(url, "ralph", "stranger", 1), Name: "test"})
	if err == nil || !strings.Contains(err.Error(), "needs more rights") || strings.Contains(err.Error(), "secret") {
		t.Errorf("who has no rights is told %v", err)
	}
}

// tryAll does once all that there is to do.
func tryAll(t *testing.T, b *Bus) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	enter(t, b, "f1")
	changes, err := b.Watch(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if r := <-changes; r.ID != "f1" {
		t.Errorf("watched %+v", r)
	}
	ticket, err := b.Take(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := fleet.Change(ctx, b, "f1", func(r *fleet.Record) error { r.Begin("w", time.Now()); return nil })
	steps := []struct {
		name string
		err  error
	}{
		{"change", err},
		{"renew", ticket.Renew(ctx, time.Minute)},
		{"later", ticket.Later(ctx, 0)},
		{"ledger", func() error { _, err := ledger.Reserve(ctx, b, fleet.ClaimOf(r), time.Now); return err }()},
		{"file", b.PutFile(ctx, r.PromptFile(), strings.NewReader("x"))},
		{"file again", b.PutFile(ctx, r.PromptFile(), strings.NewReader("y"))},
		{"attend", b.Attend(ctx, fleet.Presence{Name: "w", Slots: 1})},
		{"health", Well(ctx, b, Stalled)},
		{"by its name", func() error { _, err := Named(ctx, b, r.Name); return err }()},
		{"show", b.Show(ctx, fleet.Shown{ID: "f1", Attempt: 1, Status: []byte("{}")})},
		{"tell", b.Tell(ctx, "f1", []byte("{}\n"))},
	}
	for _, s := range steps {
		if s.err != nil {
			t.Errorf("%s: %v", s.name, s.err)
		}
	}
	if ticket, err = b.Take(ctx, nil); err != nil {
		t.Fatal(err)
	}
	stop, err := b.Listen(ctx, "f1", func([]byte) []byte { return []byte("yes") })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if answer, err := b.Ask(ctx, "f1", []byte("?")); err != nil || string(answer) != "yes" {
		t.Errorf("answered %q, %v", answer, err)
	}
	shown, err := b.Shown(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s := <-shown; s.ID != "f1" {
		t.Errorf("shown is %+v", s)
	}
	if all, err := b.Workers(ctx); err != nil || len(all) != 1 {
		t.Errorf("there are workers %v, %v", all, err)
	}
	if _, err := b.Look(ctx); err != nil {
		t.Error(err)
	}
	file, err := b.File(ctx, r.PromptFile())
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	lines, err := b.Hear(ctx, "f1", true)
	if err != nil {
		t.Fatal(err)
	}
	if line := <-lines; string(line) != "{}\n" {
		t.Errorf("heard %q", line)
	}
	if all, _, err := b.List(ctx); err != nil || len(all) != 1 {
		t.Errorf("there are %v, %v", all, err)
	}
	if err := ticket.Done(ctx); err != nil {
		t.Error(err)
	}
	if err := b.Leave(ctx, "w"); err != nil {
		t.Error(err)
	}
	r, revision, err := b.Get(ctx, "f1")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Remove(ctx, r, revision); err != nil {
		t.Error(err)
	}
	if err := b.Tidy(ctx, time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
}
