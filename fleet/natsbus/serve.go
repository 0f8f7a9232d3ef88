package natsbus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// ServeOptions say how a bus is served by this process.
type ServeOptions struct {
	Dir           string // where it keeps its files
	Listen        string // HOST:PORT; port 0 is any that is free
	Token         string // that its clients have to know; "" is none
	Cert, Key     string // files, for TLS; "" is without
	ReadyPatience time.Duration
}

// Served is a bus that this process serves.
type Served struct{ server *server.Server }

// Serve serves a bus. Without a token and TLS it listens on loopback only.
func Serve(o ServeOptions) (*Served, error) {
	host, portText, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w: say it as 127.0.0.1:4222", o.Listen, err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil || port < 0 || port > 65535 {
		return nil, fmt.Errorf("the address %q has no port: say it as 127.0.0.1:4222", o.Listen)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && o.Token == "" {
		return nil, fmt.Errorf("%s can be reached by others, who could run agents on all workers: set a token (RALPH_TOKEN, or --token-file)", o.Listen)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the bus: %w", err)
	}
	options := &server.Options{
		ServerName: "ralph-fleet", Host: host, Port: port, JetStream: true, StoreDir: o.Dir, Authorization: o.Token,
		NoSigs: true, NoLog: true, MaxPayload: 1 << 20, JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40,
	}
	if o.Cert != "" || o.Key != "" {
		tls, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: o.Cert, KeyFile: o.Key})
		if err != nil {
			return nil, fmt.Errorf("the certificate: %w", err)
		}
		options.TLS, options.TLSConfig = true, tls
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, err
	}
	go s.Start()
	patience := o.ReadyPatience
	if patience == 0 {
		patience = time.Minute
	}
	if !s.ReadyForConnections(patience) {
		s.Shutdown()
		return nil, errors.New("the bus isn't ready: is its address taken, or its folder used by another one?")
	}
	return &Served{s}, nil
}

// Bus connects to it from within this process.
func (s *Served) Bus(ctx context.Context, o Options) (*Bus, error) {
	return dial(ctx, o, nats.InProcessServer(s.server))
}

// URL is where clients reach it.
func (s *Served) URL() string { return s.server.ClientURL() }

// Close ends it, when all is written.
func (s *Served) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}
