package stdio

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
)

func say(messages ...string) string {
	var all strings.Builder
	for _, m := range messages {
		all.Write(lsptest.Frame(m))
	}
	return all.String()
}

// stuckWriter takes nothing until it is let go.
type stuckWriter struct {
	release chan struct{}
	bytes.Buffer
}

func (w *stuckWriter) Write(p []byte) (int, error) {
	<-w.release
	return w.Buffer.Write(p)
}

func TestAnEditorThatDoesNotReadTheLog(t *testing.T) {
	complaints := strings.Repeat(say("[]"), 2*lossyQueue) // each is a line of the log
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`
	visit := say(initialize) + complaints + say(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`)
	stderr := &stuckWriter{release: make(chan struct{})}
	defer close(stderr.release)
	var stdout bytes.Buffer
	if code, err := new(Sidecar).Run(strings.NewReader(visit), &stdout, stderr, "test", nil); code != 0 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	if !strings.Contains(stdout.String(), `"id":2,"result":null`) {
		t.Error("shutdown isn't answered")
	}
}

func TestLossyWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stuckWriter{release: make(chan struct{})}
		l := newLossyWriter(w)
		_, _ = io.WriteString(l, "a") // under way
		synctest.Wait()
		for range 2 * lossyQueue {
			_, _ = io.WriteString(l, "b")
		}
		close(w.release)
		l.close()
		_, _ = io.WriteString(l, "too late")
		if want := "a" + strings.Repeat("b", lossyQueue); w.String() != want {
			t.Errorf("%d bytes written, want %d", w.Len(), len(want))
		}
	})
}
