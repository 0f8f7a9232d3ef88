package keeper

import (
	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/loop/engine"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

// Driven is a loop of this process.
type Driven struct {
	*engine.Loop
	Log  *journal.Log   // its story
	Told *notify.Teller // calls its user; to be closed when the loop is over
}

// Start starts a loop in this process, with its journal and with the notifier that calls its user. Its errors are
// those of engine.Start.
func Start(cfg setup.Config, host setup.Host, at notify.At) (Driven, error) {
	told := notify.New(cfg, at)
	story := journal.NewRecorder(told)
	story.Keep(cfg, &host)
	l, err := engine.Start(cfg, host, story)
	if err != nil {
		told.Begun("", nil)
		return Driven{}, err
	}
	told.Begun(l.ID(), l.Answer)
	return Driven{l, story.Open(l.ID(), !cfg.Storage.History.Off), told}, nil
}
