package service

import (
	"errors"
	"os"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// ErrInterrupted says that a signal came before the loop began.
var ErrInterrupted = errors.New("interrupted before the loop began")

// Beginning is a loop that is to begin in a process of its own. Each of the functions may be nil.
type Beginning struct {
	Config  setup.Config
	Files   config.Files // that have said what it runs
	Hello   client.Hello
	Spawn   func() (*client.Connection, error) // starts the process; nil: client.Spawn
	Prepare func(*client.Connection)           // gets the connection before the process writes anything
	Caught  <-chan os.Signal                   // while it begins
}

// Begin lets a process begin a loop, and remembers that this user started it: the loop may go on later without asking
// for trust again. Its errors are ErrInterrupted, and those of client.Connection.Begin.
func Begin(b Beginning) (*client.Connection, error) {
	data, err := b.Config.Encode()
	if err != nil {
		return nil, err
	}
	spawn := client.Spawn
	if b.Spawn != nil {
		spawn = b.Spawn
	}
	c, err := spawn()
	if err != nil {
		return nil, err
	}
	if b.Prepare != nil {
		b.Prepare(c)
	}
	result := make(chan error, 1)
	go func() { result <- c.Begin(data, b.Hello) }()
	select {
	case err = <-result:
	case <-b.Caught:
		c.Close() // which ends what may have begun
		<-result
		return nil, ErrInterrupted
	}
	if err != nil {
		return nil, err
	}
	start.Remember(b.Files, b.Config, c.LoopID())
	return c, nil
}
