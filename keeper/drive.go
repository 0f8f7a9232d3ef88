package keeper

import (
	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/presence"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

// Driven is a loop of this process.
type Driven struct {
	*engine.Loop
	Log  *journal.Log     // its story
	Told *notify.Notifier // calls its user; to be closed when the loop is over
}

// Start starts a loop in this process, with its journal and with the notifier that calls its user. Its errors are
// those of engine.Start.
func Start(cfg setup.Config, host setup.Host, at notify.At) (Driven, error) {
	told := notify.New(cfg, at)
	story := journal.NewRecorder(told)
	story.Keep(cfg, &host)
	l, err := begin(cfg, host, story)
	if err != nil {
		told.Begun("", nil)
		return Driven{}, err
	}
	told.Begun(l.ID(), l.Answer)
	return Driven{l, story.Open(l.ID(), !cfg.Storage.History.Off), told}, nil
}

// begin locks the folder of a loop, and starts it. Errors are those of presence.Take and engine.Start.
func begin(cfg setup.Config, host setup.Host, obs loop.Observer) (*engine.Loop, error) {
	p, err := presence.Take(&cfg, host)
	if err != nil {
		return nil, err
	}
	host.Presence = p
	return engine.Start(cfg, host, p.File, obs)
}
