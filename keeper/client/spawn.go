package client

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Program is the name under which this program is a keeper. Behind it comes the file for what it says when it crashes.
const Program = "ralph-lsp-keeper"

// IsKeeper says whether this process is one, by the arguments that it was started with.
func IsKeeper(args []string) bool { return len(args) == 2 && args[0] == Program }

// Spawn starts a keeper, which waits for its loop on the connection, and ends with it where none comes.
func Spawn() (*Connection, error) {
	log, err := newLog()
	if err != nil {
		return nil, fmt.Errorf("starting a process for the loop: %w", err)
	}
	conn, err := spawn(log)
	if err != nil {
		log.Close()
		_ = os.Remove(log.Name())
		return nil, fmt.Errorf("starting a process for the loop: %w", err)
	}
	return newConnection(conn, log), nil
}

// newLog makes the file for what a keeper says that crashes, which that removes when it ends well.
func newLog() (*os.File, error) {
	dir, err := paths.State("keepers")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "start-"+strings.ToLower(rand.Text()[:12])+".log")
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}
