//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/certtest"
)

func TestTLS(t *testing.T) {
	for _, servers := range []int{1, 3} {
		t.Run(map[int]string{1: "one server", 3: "a cluster"}[servers], func(t *testing.T) {
			w := prepare(t)
			ours, theirs := certtest.New(t), certtest.New(t)
			ours.Server("bus")
			ca := []string{"--ca", ours.File("ca.pem")}
			addrs := freeAddresses(t, 2*servers)
			for i, addr := range addrs[:servers] {
				name := "server-" + string(rune('a'+i))
				args := []string{"serve", "--dir", filepath.Join(w.dir, name), "--listen", addr, "--tls-cert", ours.File("bus.pem"), "--tls-key", ours.File("bus-key.pem")}
				if servers > 1 {
					routes := append([]string{}, addrs[servers:]...)
					routes = append(routes[:i], routes[i+1:]...)
					args = append(append(args, "--name", name, "--cluster-listen", addrs[servers+i], "--routes", strings.Join(routes, ",")), ca...)
				}
				w.start(name, args...)
			}
			w.addr, w.flags = strings.Join(addrs[:servers], ","), ca
			w.until("the bus", func() bool { _, err := w.run("status"); return err == nil })
			w.worker("first", 1, w.addr, long)
			w.submit("one", "runs=2")
			if end := w.ends("one"); end.StopReason != "promise" || end.Iterations != 2 {
				t.Errorf("ended as %+v", end)
			}
			w.counted("one", 2)

			for what, tt := range map[string]struct {
				url, token string
				flags      []string
				want       string // "": it is let in
			}{
				"as it should be":        {"tls://", token, ca, ""},
				"without an authority":   {"tls://", token, nil, "--ca"},
				"by a plain URL":         {"nats://", token, nil, "--ca"},
				"with another authority": {"tls://", token, []string{"--ca", theirs.File("ca.pem")}, "--ca"},
				"with another token":     {"tls://", "sesame", ca, "--token-file"},
				"without a token":        {"tls://", "", ca, "--token-file"},
			} {
				client := exec.Command(filepath.Join(programs, "ralph-fleet"), append([]string{"status", "--bus", tt.url + addrs[0]}, tt.flags...)...)
				client.Env = append(os.Environ(), "RALPH_TOKEN="+tt.token)
				out, err := client.CombinedOutput()
				if (err == nil) != (tt.want == "") || !strings.Contains(string(out), tt.want) || strings.Contains(string(out), token) {
					t.Errorf("%s: %v: %s", what, err, out)
				}
				if tt.want != "" && strings.Count(string(out), "\n") != 1 {
					t.Errorf("%s: it is no sentence: %s", what, out)
				}
			}
		})
	}
}
