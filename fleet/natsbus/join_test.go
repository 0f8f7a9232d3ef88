package natsbus

import (
	"context"
	"crypto/tls"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// Who isn't one of the servers gets nothing from them, by the token and by their certificates.
func TestAClusterIsClosedToOthers(t *testing.T) {
	cert, key := certificate(t)
	whole := ServeOptions{Name: "one", Token: "sesame", Cert: cert, Key: key, CA: cert, Cluster: "127.0.0.1:6222", Routes: []string{"127.0.0.1:6223"}}
	open := whole
	open.Token, open.Cert, open.Key = "", "", ""
	for name, tt := range map[string]struct {
		o        ServeOptions
		password string
		closed   bool
	}{"with all": {whole, whole.Token, true}, "on this machine alone": {open, "", false}} {
		var got server.Options
		if err := tt.o.join(&got); err != nil {
			t.Fatal(err)
		}
		if c := got.Cluster; c.Password != tt.password || (c.Username != "") != tt.closed {
			t.Errorf("%s: others need %q, %q", name, c.Username, c.Password)
		}
		if c := got.Cluster.TLSConfig; (c != nil) != tt.closed || c != nil && (c.ClientAuth != tls.RequireAndVerifyClientCert || c.RootCAs == nil) {
			t.Errorf("%s: certificates are looked at by %+v", name, c)
		}
		for _, r := range got.Routes {
			if password, _ := r.User.Password(); password != tt.password {
				t.Errorf("%s: it says %q to %s", name, password, r.Host)
			}
		}
	}
}

// Two clients that come to a new bus at once find what one of them has made.
func TestWhatAnotherClientHasJustMadeIsFound(t *testing.T) {
	broken := errors.New("the disk is full")
	for name, tt := range map[string]struct {
		find, make, want error
		finds            int
	}{
		"it is there":                 {nil, nil, nil, 1},
		"it can't be looked for":      {broken, nil, broken, 1},
		"a stream is made":            {jetstream.ErrStreamNotFound, nil, nil, 2},
		"a stream, by another one":    {jetstream.ErrStreamNotFound, jetstream.ErrStreamNameAlreadyInUse, nil, 2},
		"a bucket is made":            {jetstream.ErrBucketNotFound, nil, nil, 2},
		"a bucket, by another one":    {jetstream.ErrBucketNotFound, jetstream.ErrBucketExists, nil, 2},
		"a consumer is made":          {jetstream.ErrConsumerNotFound, nil, nil, 2},
		"a bucket, without an answer": {jetstream.ErrBucketNotFound, context.DeadlineExceeded, nil, 2},
		"a bucket that can't be made": {jetstream.ErrBucketNotFound, broken, broken, 1},
	} {
		finds := 0
		_, err := findOrMake(t.Context(), func(context.Context) (int, error) {
			if finds++; finds > 1 {
				return 0, nil
			}
			return 0, tt.find
		}, func(context.Context) (int, error) { return 0, tt.make })
		if err != tt.want || finds != tt.finds {
			t.Errorf("%s: %v, looked %d times", name, err, finds)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), openPatience)
		defer cancel()
		finds := 0
		_, err := findOrMake(ctx, func(ctx context.Context) (int, error) {
			finds++
			<-ctx.Done()
			return 0, ctx.Err()
		}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || finds != 3 { // for one second, for two, and for the rest
			t.Errorf("%v, looked %d times", err, finds)
		}
	})
}
