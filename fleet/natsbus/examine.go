package natsbus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Health is what a look at a bus found.
type Health struct {
	Server string        // what it calls itself, and its version
	Took   time.Duration // for an answer
	IsTLS  bool
	Used   uint64 // bytes that are kept
	Max    int64  // bytes that may be kept; -1: as much as its disk has
	Stores []Store
	Born   time.Time     // its queue: a bus that was emptied is young
	Ahead  time.Duration // of this machine's clock, give or take half of Took
}

// Store is a stream of the bus, by its name.
type Store struct {
	Name     string
	Bytes    uint64
	Replicas int
}

// Problem is why a bus can't be used, and what helps.
type Problem struct{ What, Fix string }

func (p *Problem) Error() string {
	if p.Fix == "" {
		return p.What
	}
	return p.What + "; " + p.Fix
}

// Unreached is the error of Dial.
type Unreached struct {
	URL string // without a password
	Why *Problem
}

func (u *Unreached) Error() string {
	return "the bus " + u.URL + " can't be used: " + u.Why.Error()
}

// Unwrap is why, for who has named the bus.
func (u *Unreached) Unwrap() error { return u.Why }

// Look looks at a connected bus.
func (b *Bus) Look(ctx context.Context) (h Health, err error) {
	if h.Took, err = b.conn.RTT(); err != nil {
		return h, err
	}
	h.Server = b.conn.ConnectedServerName() + " (NATS " + b.conn.ConnectedServerVersion() + ")"
	_, errTLS := b.conn.TLSConnectionState()
	h.IsTLS = errTLS == nil
	account, err := b.js.AccountInfo(ctx)
	if err != nil {
		return h, err
	}
	h.Used, h.Max = account.Store, account.Limits.MaxStore
	streams := b.js.ListStreams(ctx)
	for s := range streams.Info() {
		if strings.Contains(s.Config.Name, "RALPH_") {
			h.Stores = append(h.Stores, Store{s.Config.Name, s.State.Bytes, max(s.Config.Replicas, 1)})
		}
	}
	if err := streams.Err(); err != nil {
		return h, err
	}
	info, err := b.work.Info(ctx)
	if err != nil {
		return h, err
	}
	h.Born, h.Ahead = info.Created, time.Since(info.TimeStamp)-h.Took/2
	return h, nil
}

// Explained returns err, or what it means where it only says that a cluster does nothing now.
func Explained(err error) error {
	if isLeaderless(err) {
		return leaderless
	}
	return err
}

var leaderless = &Problem{"its cluster does nothing now: most of its servers are away, or still behind",
	"start those that are missing; loops go on by themselves then"}

// isLeaderless goes by the text: the library doesn't keep the number of what its watchers are told.
func isLeaderless(err error) bool {
	return err != nil && strings.Contains(err.Error(), "JetStream system temporarily unavailable")
}

// Explain says why a bus couldn't be dialled.
func Explain(err error, o Options) *Problem {
	var (
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		name    *net.DNSError
		network net.Error
		known   *Problem
	)
	switch {
	case errors.As(err, &known):
		return known
	case isLeaderless(err):
		return leaderless
	case errors.Is(err, nats.ErrAuthorization) && o.Token == "":
		return &Problem{"it wants a token, and there is none", "give it: RALPH_TOKEN, --token-file, or token_file in fleet.toml"}
	case errors.Is(err, nats.ErrAuthorization):
		return &Problem{"it refuses the token", "use the one that ralph-fleet serve was given (RALPH_TOKEN, --token-file, " +
			"token_file in fleet.toml)"}
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		_, why, _ := strings.Cut(err.Error(), "x509: ")
		return &Problem{"its certificate isn't trusted: " + why, "name the certificate that it is known by: --ca, or ca in " +
			"fleet.toml; and use the host's name that stands in it"}
	case errors.Is(err, nats.ErrSecureConnWanted), errors.As(err, &record):
		return &Problem{"it speaks no TLS", "use nats:// instead of tls://, or serve it with --tls-cert and --tls-key"}
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled),
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return &Problem{"it has no JetStream", "switch JetStream on in that NATS, or serve the bus with ralph-fleet serve"}
	case errors.As(err, &name):
		return &Problem{"there is no host of that name: " + name.Name, "mend the URL: --bus, RALPH_BUS, or bus in fleet.toml"}
	case errors.Is(err, nats.ErrNoServers):
		return &Problem{"nobody listens there", "start it with ralph-fleet serve, or say where it is: --bus, RALPH_BUS, or bus in fleet.toml"}
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return &Problem{"it doesn't answer", "is a firewall between, or is it busy? its log says more"}
	}
	return &Problem{err.Error(), "mend the URL: --bus, RALPH_BUS, or bus in fleet.toml"}
}
