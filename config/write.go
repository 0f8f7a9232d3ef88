package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// SetOwn writes a text of a table into the user's file, and returns the file's path. All
// else in it stays as it is, byte for byte. A file with a mistake isn't touched.
func (f Files) SetOwn(table, key, value string) (file string, err error) {
	if err := caller.Check(caller.Sandbox); err != nil {
		return "", err
	}
	if f.UserDir == "" {
		return "", errors.New("there is no folder of your configuration; set HOME")
	}
	file = filepath.Join(f.UserDir, UserName)
	data, err := readFile(file)
	if err != nil {
		return file, err
	}
	now := withText(data, table, key, value)
	for _, text := range [][]byte{data, now} {
		for _, p := range Check(text, f.Builtin) {
			if p.Severity == Error {
				return file, fmt.Errorf("%s:%d: %s; mend it, and write %s = %q below [%s] yourself", file, p.Line, p.Message, key, value, table)
			}
		}
	}
	if target, err := filepath.EvalSymlinks(file); err == nil { // a link to where its user keeps such files stays one
		file = target
	}
	mode := os.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err = paths.WriteOwn(file, now, false); err == nil {
		err = os.Chmod(file, mode)
	}
	if err != nil {
		err = fmt.Errorf("writing your configuration: %w", err)
	}
	return file, err
}

// withText is a file with a text of a table: in place of its value, behind the table's
// line, or in a table of its own at the end.
func withText(data []byte, table, key, value string) []byte {
	text := string(data)
	value = strconv.Quote(value)
	entries := Parse(data).entries
	find := func(path ...string) (entry, bool) {
		i := slices.IndexFunc(entries, func(e entry) bool { return slices.Equal(e.path, path) && e.header == (len(path) == 1) })
		if i < 0 {
			return entry{}, false
		}
		return entries[i], true
	}
	if e, ok := find(table, key); ok && e.equals >= 0 {
		return []byte(text[:e.value.start] + value + text[e.value.end:])
	}
	if e, ok := find(table); ok {
		end := e.end + len(text[e.end:])
		if i := strings.IndexByte(text[e.end:], '\n'); i >= 0 {
			end = e.end + i
		}
		return []byte(text[:end] + "\n" + key + " = " + value + text[end:])
	}
	for _, gap := range []string{"\n", "\n\n"} {
		if text != "" && !strings.HasSuffix(text, gap) {
			text += "\n"
		}
	}
	return []byte(text + "[" + table + "]\n" + key + " = " + value + "\n")
}

// offers is the file in the user's folder that says what the user was offered once and for all, a line each.
const offers = "offered"

// WasOffered says whether RememberOffer has this offer. It is true where nothing can be stored.
func (f Files) WasOffered(what string) bool {
	if f.UserDir == "" {
		return true
	}
	told, err := regular.Read(filepath.Join(f.UserDir, offers), regular.Long)
	return err == nil && slices.Contains(strings.Split(string(told), "\n"), what)
}

// RememberOffer takes down that the user was offered something.
func (f Files) RememberOffer(what string) error {
	if err := os.MkdirAll(f.UserDir, 0o700); err != nil {
		return fmt.Errorf("remembering an offer: %w", err)
	}
	file, err := regular.Open(filepath.Join(f.UserDir, offers), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("remembering an offer: %w", err)
	}
	_, err = file.WriteString(what + "\n")
	return errors.Join(err, file.Close())
}
