package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// token is the secret of the bus, "" when there is none.
func (b *busFlags) token() (string, error) {
	file := b.tokenPlace()
	if file == "" {
		return os.Getenv("RALPH_TOKEN"), nil
	}
	data, err := os.ReadFile(file)
	if b.tokenFile == "" && errors.Is(err, fs.ErrNotExist) {
		return "", nil // a bus of somebody else's, or one from before
	}
	if err != nil {
		return "", fmt.Errorf("the token: %w: write it there, or name another file (--token-file, or token_file in %s)", err, config.FleetName)
	}
	return strings.TrimSpace(string(data)), nil
}

// conceal has walls hide the files that flags name. They find the others themselves.
func (b *busFlags) conceal() error {
	var files []string
	for _, file := range []string{b.tokenFile, b.creds, b.nkey} {
		if file == "" {
			continue
		}
		path, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		files = append(files, path)
	}
	return os.Setenv(config.EnvFleetSecrets, strings.Join(files, string(filepath.ListSeparator)))
}

// tokenPlace is the file that has the token: the one that is named, or for a bus of this machine the one that serve
// makes; "" for none.
func (b *busFlags) tokenPlace() string {
	if b.tokenFile != "" || os.Getenv("RALPH_TOKEN") != "" || b.creds != "" || b.nkey != "" || !isHere(b.url) {
		return b.tokenFile
	}
	file, _ := paths.Fleet("token") // without a home there is none
	return file
}

// isHere says whether servers, by their URLs or addresses, are all of this machine.
func isHere(servers string) bool {
	for server := range strings.SplitSeq(servers, ",") {
		if _, address, ok := strings.Cut(server, "://"); ok {
			server = address
		}
		u, err := url.Parse("//" + strings.TrimSpace(server))
		if err != nil || u.User != nil { // it says itself who comes
			return false
		}
		ip := net.ParseIP(u.Hostname())
		if u.Hostname() != "localhost" && u.Host != "" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// makeToken makes the token of a bus of this machine, once. Whoever reaches its port could have all workers run
// something else, as an agent does, and other users.
func (b *busFlags) makeToken() error {
	file := b.tokenPlace()
	if file == "" || b.tokenFile != "" {
		return nil
	}
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	if err := makeFile(file, hex.EncodeToString(secret)); err != nil {
		return fmt.Errorf("making a token for the bus: %w: name a file that has one (--token-file)", err)
	}
	return nil
}

// makeFile makes the file of a token, for its user alone. One that is there stays.
func makeFile(file, token string) error {
	if _, err := os.Lstat(file); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	made, err := os.CreateTemp(filepath.Dir(file), "token-*")
	if err != nil {
		return err
	}
	defer os.Remove(made.Name())
	_, err = fmt.Fprintln(made, token)
	if err := errors.Join(err, made.Close()); err != nil {
		return err
	}
	if err := os.Link(made.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) { // another one was faster
		return err
	}
	return nil
}
