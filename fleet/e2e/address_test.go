//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"
)

func isReady(addr string) bool {
	conn, err := net.Dial("tcp", addr)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// isUpToDate says whether a server of a cluster has all that the others have.
func isUpToDate(metrics string) bool {
	answer, err := http.Get("http://" + metrics + "/readyz")
	if err == nil {
		answer.Body.Close()
	}
	return err == nil && answer.StatusCode == http.StatusOK
}

// freeAddresses are n addresses on loopback that nobody listens on. Their ports are none that the system gives to a
// connection: nobody takes one while it waits for its server.
func freeAddresses(t testing.TB, n int) (all []string) {
	t.Helper()
	for len(all) < n {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err != nil {
			continue
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}
