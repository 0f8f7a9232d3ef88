package natsbus

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// certificate makes one for loopback, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bus"}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func served(t *testing.T, o ServeOptions) string {
	t.Helper()
	o.Dir, o.Listen = t.TempDir(), "127.0.0.1:0"
	s, err := Serve(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return strings.TrimPrefix(strings.TrimPrefix(s.URL(), "nats://"), "tls://")
}

func TestWhyABusCannotBeUsed(t *testing.T) {
	cert, key := certificate(t)
	open, locked, walled := served(t, ServeOptions{}), served(t, ServeOptions{Token: "sesame"}), served(t, ServeOptions{Cert: cert, Key: key})
	plain, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	go plain.Start()
	t.Cleanup(plain.Shutdown)
	if !plain.ReadyForConnections(time.Minute) {
		t.Fatal("the server without JetStream isn't ready")
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	tests := []struct {
		o    Options
		want string
	}{
		{Options{URL: "nats://" + gone.Addr().String()}, "nobody listens there"},
		{Options{URL: "nats://" + locked}, "it wants a token, and there is none"},
		{Options{URL: "nats://" + locked, Token: "wrong"}, "it refuses the token"},
		{Options{URL: "tls://" + open}, "it speaks no TLS"},
		{Options{URL: "tls://" + walled}, "its certificate isn't trusted"},
		{Options{URL: plain.ClientURL()}, "it has no JetStream"},
	}
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	for _, tt := range tests {
		b, err := Dial(ctx, tt.o)
		if err == nil {
			b.Close()
			t.Errorf("%+v: it can be used", tt.o)
			continue
		}
		if p := Explain(err, tt.o); !strings.Contains(p.What, tt.want) || p.Fix == "" {
			t.Errorf("%+v: %+v of %v", tt.o, p, err)
		}
		if text := err.Error(); strings.Count(text, tt.o.URL) != 1 || strings.Contains(text, "nats: ") || !strings.Contains(text, tt.want) {
			t.Errorf("%+v: it is called %q", tt.o, text)
		}
	}
	b, err := Dial(ctx, Options{URL: "tls://" + walled, CA: cert})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	h, err := b.Look(ctx)
	if err != nil || !h.IsTLS || len(h.Stores) < 5 || h.Took <= 0 || h.Ahead.Abs() > time.Minute {
		t.Errorf("it has %+v, %v", h, err)
	}
}

func TestWorkersThatAreThere(t *testing.T) {
	b, err := Dial(t.Context(), Options{URL: "nats://" + served(t, ServeOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, name := range []string{"b", "a name/of *any* kind", "b"} {
		if err := b.Attend(t.Context(), fleet.Presence{Name: name, Slots: 3, At: time.Now().Add(-time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := b.Workers(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != "a name/of *any* kind" || all[1].Slots != 3 || all[0].Ahead > -59*time.Minute {
		t.Errorf("there are %+v, %v", all, err)
	}
	if err := b.Leave(t.Context(), "b"); err != nil {
		t.Error(err)
	}
	if all, err := b.Workers(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("one has left: %+v, %v", all, err)
	}
}
