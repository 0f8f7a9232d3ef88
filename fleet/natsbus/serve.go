package natsbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// ServeOptions say how a bus is served by this process.
type ServeOptions struct {
	Dir        string       // where it keeps its files
	Listen     string       // HOST:PORT; port 0 is any that is free
	Token      string       // that its clients have to know; "" is none
	Submitters []string     // the tokens of those who may only submit (NewToken)
	Cert, Key  string       // files, for TLS; "" is without
	CA         string       // a file with the certificates that the others of a cluster are known by
	Name       string       // of this one in a cluster
	Cluster    string       // HOST:PORT for the others of a cluster; "" is none
	Routes     []string     // HOST:PORT of the others
	SyncAlways bool         // what is answered is on the disk, and survives a power failure
	MinFree    int64        // bytes of its disk: with less it keeps no more files; 0 is all of it
	MaxFiles   int64        // bytes that files may have in all; 0 is any number
	Log        *slog.Logger // hears of what goes wrong; nil is nobody

	free func(dir string) (int64, error) // of a test's disk
}

// warnings passes on what the server warns of, and why it gives up.
type warnings struct {
	log    *slog.Logger
	fatal  chan<- string
	failed *atomic.Bool // writing
}

func (w warnings) Fatalf(format string, v ...any) {
	select {
	case w.fatal <- fmt.Sprintf(format, v...):
	default: // what comes behind the first is of no interest
	}
}

func (w warnings) Warnf(format string, v ...any) { w.log.Warn(fmt.Sprintf(format, v...)) }
func (warnings) Noticef(string, ...any)          {}
func (warnings) Debugf(string, ...any)           {}
func (warnings) Tracef(string, ...any)           {}

// Errorf passes an error on. Behind one of these, nothing is written any more until the server starts again.
func (w warnings) Errorf(format string, v ...any) {
	if strings.Contains(format, "critical write error") || strings.Contains(format, "will be DISABLED") {
		w.failed.Store(true)
	}
	w.log.Error(fmt.Sprintf(format, v...))
}

// Served is a bus that this process serves.
type Served struct {
	options  ServeOptions
	settings *server.Options
	log      *slog.Logger
	lock     *os.File // of the folder
	stop     context.CancelFunc
	tended   sync.WaitGroup
	failed   atomic.Bool
	disk     atomic.Pointer[Disk]

	mu     sync.Mutex
	server *server.Server
}

func (s *Served) now() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server
}

// Serve serves a bus. Without a token and TLS it listens on loopback only.
func Serve(o ServeOptions) (*Served, error) {
	host, port, err := o.address(o.Listen)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the bus: %w", err)
	}
	if len(o.Submitters) > 0 && o.Token == "" {
		return nil, errors.New("a bus with submitters needs a token for all others (RALPH_TOKEN, or --token-file)")
	}
	users, err := submitters(o.Submitters)
	if err != nil {
		return nil, err
	}
	options := &server.Options{
		Nkeys:      users,
		ServerName: cmp.Or(o.Name, "ralph-fleet"), Host: host, Port: port, JetStream: true, StoreDir: o.Dir, Authorization: o.Token,
		NoSigs: true, NoLog: true, MaxPayload: maxMessage, JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40,
		SyncAlways: o.SyncAlways, SyncInterval: syncInterval,
	}
	if o.Cert != "" || o.Key != "" {
		tls, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: o.Cert, KeyFile: o.Key})
		if err != nil {
			return nil, fmt.Errorf("the certificate: %w", err)
		}
		options.TLS, options.TLSConfig = true, tls
	}
	if o.Cluster != "" {
		if err := o.join(options); err != nil {
			return nil, err
		}
	}
	if o.free == nil {
		o.free = paths.Free
	}
	served := &Served{options: o, settings: options, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler))}
	if served.lock, err = lock(o.Dir); err != nil {
		return nil, err
	}
	if served.server, err = served.start(); err != nil {
		served.lock.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	served.stop = stop
	served.tended.Go(func() { served.tend(ctx) })
	return served, nil
}

// lock holds a folder until the file is closed: two servers would write over each other's files.
func lock(dir string) (*os.File, error) {
	held, err := regular.Open(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the folder of the bus: %w", err)
	}
	if isOurs, err := filelock.Try(held, true); !isOurs {
		held.Close()
		return nil, cmp.Or(err, fmt.Errorf("another ralph-fleet serve has its files in %s: end that one, or give this one a "+
			"folder of its own (--dir)", dir))
	}
	return held, nil
}

// again serves it anew.
func (s *Served) again() error {
	if address, ok := s.now().Addr().(*net.TCPAddr); ok {
		s.settings.Port = address.Port
	}
	s.now().Shutdown()
	s.now().WaitForShutdown()
	s.failed.Store(false)
	next, err := s.start()
	if err != nil {
		s.failed.Store(true)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = next
	return nil
}

// start starts a server, and waits until it takes connections.
func (s *Served) start() (*server.Server, error) {
	next, err := server.NewServer(s.settings.Clone())
	if err != nil {
		return nil, err
	}
	fatal := make(chan string, 1)
	next.SetLogger(warnings{s.log, fatal, &s.failed}, false, false)
	go next.Start()
	ready := make(chan bool, 1)
	go func() { ready <- next.ReadyForConnections(time.Minute) }()
	select {
	case why := <-fatal:
		err = fmt.Errorf("the bus can't start: %s", why)
	case isReady := <-ready:
		if isReady {
			return next, nil
		}
		err = errors.New("the bus isn't ready within a minute: its log says why")
	}
	next.Shutdown()
	return nil, err
}

// address reads where to listen.
func (o ServeOptions) address(text string) (host string, port int, err error) {
	host, portText, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, fmt.Errorf("the address %q: %w: say it as 127.0.0.1:4222", text, err)
	}
	if port, err = strconv.Atoi(portText); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("the address %q has no port: say it as 127.0.0.1:4222", text)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && o.Token == "" {
		return "", 0, fmt.Errorf("%s can be reached by others, who could run agents on all workers: set a token (RALPH_TOKEN, "+
			"or --token-file)", text)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

// syncInterval bounds what a power failure may cost without SyncAlways. JetStream's own is two minutes.
const syncInterval = time.Second

// clusterName is that of our own clusters, and of their user.
const clusterName = "ralph-fleet"

// join makes the server one of a cluster. They know each other by the token and, with TLS, by certificates.
func (o ServeOptions) join(options *server.Options) error {
	switch {
	case o.Name == "":
		return errors.New("a server of a cluster needs a name of its own (--name)")
	case len(o.Routes) == 0:
		return errors.New("a server of a cluster needs the addresses of the others (--routes)")
	case o.Cert != "" && o.CA == "":
		return errors.New("servers of a cluster with TLS know each other by certificates: give the one that signed them (--ca)")
	}
	host, port, err := o.address(o.Cluster)
	if err != nil {
		return err
	}
	options.Cluster = server.ClusterOpts{Name: clusterName, Host: host, Port: port}
	var user *url.Userinfo
	if o.Token != "" {
		options.Cluster.Username, options.Cluster.Password = clusterName, o.Token
		user = url.UserPassword(clusterName, o.Token)
	}
	for _, r := range o.Routes {
		if _, _, err := net.SplitHostPort(r); err != nil {
			return fmt.Errorf("the route %q: %w: say it as host:6222", r, err)
		}
		options.Routes = append(options.Routes, &url.URL{Scheme: "nats-route", Host: r, User: user})
	}
	if o.Cert != "" {
		if options.Cluster.TLSConfig, err = server.GenTLSConfig(
			&server.TLSConfigOpts{CertFile: o.Cert, KeyFile: o.Key, CaFile: o.CA, Verify: true}); err != nil {
			return fmt.Errorf("the certificate for the cluster: %w", err)
		}
		options.Cluster.TLSConfig.RootCAs = options.Cluster.TLSConfig.ClientCAs
	}
	return nil
}

// Bus connects to it from within this process.
func (s *Served) Bus(ctx context.Context, o Options) (*Bus, error) {
	return dial(ctx, o, nats.InProcessServer(s))
}

// Ready answers with 200 when this server has all that the others of its cluster have, so that one of those may go, and
// else with 503 and NATS' words for what is missing.
func (s *Served) Ready(w http.ResponseWriter, r *http.Request) { s.now().HandleHealthz(w, r) }

// URL is where clients reach it.
func (s *Served) URL() string { return s.now().ClientURL() }

// Close ends it, when all is written.
func (s *Served) Close() {
	s.stop()
	s.tended.Wait()
	s.now().Shutdown()
	s.now().WaitForShutdown()
	filelock.Unlock(s.lock) // what is just being forked has it, too
	s.lock.Close()
}
