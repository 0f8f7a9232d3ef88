package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/client"
	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/service"
)

// newCalls calls this user about loops of the bus, as the [notify] of the user's own config.toml says.
func newCalls(at notify.At) (*notify.Remote, error) {
	files := config.FilesOf("", backends.Names())
	settings, err := files.Load()
	if err != nil {
		return nil, fmt.Errorf("how you want to be notified: %w", err)
	}
	dir, err := paths.Fleet("told")
	if err != nil {
		return nil, err
	}
	return notify.NewRemote(settings.Notify, at, dir), nil
}

// calling is a fleet whose loops call their user, for as long as it is looked after.
type calling struct {
	service.Remote
	at notify.At
}

// Run implements service.Remote.
func (p calling) Run(ctx context.Context, w service.Watcher) {
	calls, err := newCalls(p.at)
	if err != nil {
		p.at.Warn(err.Error())
		p.Remote.Run(ctx, w)
		return
	}
	defer calls.Close()
	p.Remote.Run(ctx, watching{w, func() {
		loops, _ := p.Loops()
		calls.Stands(loops...)
	}})
}

// watching looks how loops stand when they have changed.
type watching struct {
	service.Watcher
	look func()
}

// Changed implements service.Watcher.
func (w watching) Changed() {
	w.look()
	w.Watcher.Changed()
}

// callFrom calls this user about all loops of a bus that is served here.
func callFrom(ctx context.Context, bus fleet.Bus, log *slog.Logger) error {
	dir, err := paths.Fleet("seen")
	if err != nil {
		return err
	}
	dial := func(context.Context, func()) (fleet.Bus, func(), error) { return bus, func() {}, nil }
	d := client.New(client.Options{Dial: dial, Name: "of this machine", Dir: dir, Log: log})
	go calling{d, notify.At{Desktop: true, Warn: func(text string) { log.Warn(text) }}}.Run(ctx, nobody{})
	return nil
}

// nobody reads along.
type nobody struct{}

func (nobody) Folders() []string                                        { return nil }
func (nobody) Wants() bool                                              { return false }
func (nobody) Changed()                                                 {}
func (nobody) Tell(context.Context, string, string, journal.Page) error { return nil }
