package client

import (
	"errors"
	"io"
	"os"
	"os/exec"

	"github.com/ralph-lsp/ralph-lsp/internal/apart"
)

// pipes are a connection of two pipes.
type pipes struct {
	io.Reader
	io.Writer
	close func() error
}

func (p *pipes) Close() error { return p.close() }

// spawn starts a keeper with the ends of two pipes as its input and output, and returns the others.
func spawn(log *os.File) (io.ReadWriteCloser, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourOut.Close())
	}
	defer theirIn.Close()
	defer theirOut.Close()
	ours := &pipes{ourIn, ourOut, func() error { return errors.Join(ourOut.Close(), ourIn.Close()) }}
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	cmd := exec.Command(self)
	cmd.Args = []string{Program, log.Name()}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = theirIn, theirOut, log, apart.Attributes()
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	return ours, cmd.Process.Release()
}

// First returns a keeper's first connection, and the file for its crash. Programs that it starts inherit neither.
func First() (conn io.ReadWriteCloser, log *os.File, err error) {
	in, out := os.Stdin, os.Stdout
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	os.Stdin, os.Stdout = null, null
	return &pipes{in, out, func() error { return errors.Join(out.Close(), in.Close()) }}, os.Stderr, nil
}
