package server

import (
	"io"
	"log/slog"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
)

// patience bounds every wait of a test for something that must happen.
const patience = lsptest.Patience

// TestConversations has them with a server in this process.
func TestConversations(t *testing.T) {
	t.Parallel()
	converse(t, "outside", func(t *testing.T) *lsptest.Speaker { return startInside(t, Options{}) })
}

// converse has all conversations but those of a kind.
func converse(t *testing.T, but string, start func(*testing.T) *lsptest.Speaker) {
	for _, c := range lsptest.ReadConversations(t, "testdata/conversations/*.txt") {
		if c.Runs != but {
			t.Run(c.Title, func(t *testing.T) {
				t.Parallel()
				start(t).Play(c.Steps)
			})
		}
	}
}

func startInside(t *testing.T, o Options) *lsptest.Speaker {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	exit := make(chan int, 1)
	log := new(lsptest.LogBuffer)
	o.Version, o.Log = "test", slog.New(slog.NewTextHandler(log, nil))
	go func() {
		exit <- Run(t.Context(), inR, outW, o)
		_, _ = inR.Close(), outW.Close() // as the end of a process does
	}()
	t.Cleanup(func() { _, _ = inW.Close(), outR.Close() })
	return lsptest.NewSpeaker(t, inW, outR, log, exit, nil)
}
