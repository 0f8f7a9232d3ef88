//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Three servers are one bus. Each of them is killed in turn, so those that lead are, too.
func TestEachServerOfAClusterIsKilledInMidRun(t *testing.T) {
	w := prepare(t)
	const loops = 3
	free := freeAddresses(t, 9)
	addrs, routes, metrics := free[:3], free[3:6], free[6:]
	w.addr = strings.Join(addrs, ",") // clients know all of them
	start := func(i int) *exec.Cmd {
		name := fmt.Sprintf("server-%d", i+1)
		return w.start(name, "serve", "--name", name, "--dir", filepath.Join(w.dir, name), "--listen", addrs[i],
			"--cluster-listen", routes[i], "--routes", routes[(i+1)%3]+","+routes[(i+2)%3], "--metrics", metrics[i])
	}
	var servers [3]*exec.Cmd
	for i := range servers {
		servers[i] = start(i)
	}
	w.until("the servers", func() bool { return isReady(addrs[0]) && isReady(addrs[1]) && isReady(addrs[2]) })
	const lease = 15 * time.Second // a ticket that was on its way from a server that dies comes again then
	w.worker("first", 2, w.addr, lease)
	w.worker("second", 2, w.addr, lease)
	w.until("the cluster", func() bool {
		out, err := w.run("doctor", "--only", "bus", "--expect", "first")
		return err == nil && strings.Contains(out, "first")
	})
	for i := range loops {
		w.submit(fmt.Sprintf("loop-%d", i), "enough=back nap=2s", "--max-iterations", "0")
	}
	begun := time.Now()
	phase := func(what string) { t.Logf("%s: %s", time.Since(begun).Round(time.Millisecond), what) }
	phase("submitted")
	for i := range servers {
		before := strings.Count(w.did(), "end ")
		kill(t, servers[i])
		w.until("work without "+servers[i].Args[3], func() bool { return strings.Count(w.did(), "end ") >= before+loops })
		phase("work went on without " + servers[i].Args[3])
		servers[i] = start(i)
		w.until("that another one may go", func() bool { return isUpToDate(metrics[i]) })
	}
	phase("all servers are back")
	w.write("back", "")
	for i := range loops {
		name := fmt.Sprintf("loop-%d", i)
		if end := w.ends(name); end.StopReason != "promise" {
			t.Errorf("ended as %+v", end)
		} else {
			w.counted(name, end.Iterations)
		}
	}
	phase("all loops have ended")
}

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

// freeAddresses are n addresses on loopback that nobody listens on.
func freeAddresses(t testing.TB, n int) (all []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}
