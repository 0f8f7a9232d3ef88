package ahp

import (
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/looptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// knock opens a connection, says something, and returns all that comes until the host closes it.
func (w *world) knock(says string) (answer string, err error) {
	w.t.Helper()
	conn := w.stand()
	defer conn.Close()
	_, _ = io.WriteString(conn, says) // to whom is closed already
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	data, err := io.ReadAll(conn)
	return string(data), err
}

// stand opens a connection that says nothing.
func (w *world) stand() net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.address)
	must.OK(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestWhoIsRefusedIsSentAway(t *testing.T) {
	w := begin(t, looptest.New())
	shake := "Host: " + w.address + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: "
	for name, c := range map[string]struct{ says, status string }{
		"without a token":        {"GET / HTTP/1.1\r\n" + shake + "13\r\n\r\n", "401"},
		"who wants to stay":      {"GET / HTTP/1.1\r\nConnection: keep-alive\r\nHost: " + w.address + "\r\n\r\n", "401"},
		"another's page":         {"GET /?tkn=" + token + " HTTP/1.1\r\nOrigin: http://evil\r\n" + shake + "13\r\n\r\n", "403"},
		"another version":        {"GET /?tkn=" + token + " HTTP/1.1\r\n" + shake + "12\r\n\r\n", "400"},
		"who speaks no protocol": {"GET /?tkn=" + token + " HTTP/1.1\r\nHost: " + w.address + "\r\n\r\n", "426"},
	} {
		if answer, err := w.knock(c.says); err != nil || !strings.HasPrefix(answer, "HTTP/1.1 "+c.status+" ") {
			t.Errorf("%s: %q, %v", name, answer, err)
		}
	}
}

// Whoever stands at the door takes no room from those inside, and only so many stand there.
func TestOnlySoManyKnock(t *testing.T) {
	w := begin(t, looptest.New())
	v := w.window("one")
	first := w.stand()
	for range maxKnocking - 1 {
		w.stand()
	}
	if answer, err := w.knock(""); answer != "" || os.IsTimeout(err) {
		t.Errorf("one too many hears %q, %v", answer, err)
	}
	v.ask("ping", `{}`)
	_ = first.Close()
	proctest.Until(t, "there is room again", func() bool {
		ws, err := w.connect("Host: " + w.address)
		if err == nil {
			ws.close()
		}
		return err == nil
	})
}

// A mistake of ours ends the host, as it ends each of our programs.
func TestAMistakeEndsTheHost(t *testing.T) {
	const role = "RALPH_TEST_ROLE"
	if os.Getenv(role) != "" {
		methods["authenticate"] = nil
		w := begin(t, looptest.New())
		w.window("one").rpc.Notify("authenticate", nil)
		receive(t, w.ended)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), role+"=host")
	if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), "panic: runtime error") {
		t.Errorf("it goes on (%v):\n%s", err, said)
	}
}
