package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// login is a file with an agent's tokens and a run's copy of it. A renewal of one makes the other worthless, so the
// tokens of both are kept alike while the run lasts.
type login struct {
	outside string
	inside  *os.Root // the folder of the copy; programs inside may put anything there
	name    string
	tokens  []string
	known   []byte // outside, at the last look
	seen    []byte // inside
}

// loginEvery is how often it is looked whether one of them was renewed.
const loginEvery = time.Second

// maxLogin bounds such a file, in bytes.
const maxLogin = 1 << 20

func (owns *ownDirs) addLogin(private, outside string, content []byte, tokens []string) error {
	root, err := regular.OpenRoot(private)
	if err != nil {
		return err
	}
	owns.logins = append(owns.logins, &login{outside: outside, inside: root, name: filepath.Base(outside), tokens: tokens,
		known: content, seen: content})
	return nil
}

// keep keeps logins alike until settle.
func (owns *ownDirs) keep() {
	if len(owns.logins) == 0 {
		return
	}
	owns.stop, owns.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(owns.ended)
		ticks := time.NewTicker(loginEvery)
		defer ticks.Stop()
		for {
			select {
			case <-owns.stop:
				return
			case <-ticks.C:
			}
			for _, l := range owns.logins {
				l.sync(false)
			}
		}
	}()
}

// sync hands on what was renewed. The user's own agent comes first.
func (l *login) sync(isLast bool) {
	outside, err := readBounded(l.outside, maxLogin)
	if err != nil {
		return // the user has logged out
	}
	if !bytes.Equal(outside, l.known) {
		if l.putInside(outside) == nil {
			l.known, l.seen = outside, outside
		}
		return
	}
	inside, err := l.readInside()
	if err != nil || bytes.Equal(inside, l.seen) {
		return
	}
	merged, err := mergeTokens(outside, inside, l.tokens)
	if err != nil {
		return // it is being written
	}
	if merged != nil {
		if l.putOutside(merged, isLast) != nil {
			return
		}
		l.known = merged
	}
	l.seen = inside
}

// readInside reads the copy, even if it was replaced by something else.
func (l *login) readInside() ([]byte, error) {
	f, err := regular.OpenIn(l.inside, l.name, os.O_RDONLY|regular.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return regular.All(f, maxLogin)
}

func (l *login) putInside(content []byte) error {
	const fresh = ".fresh"
	l.inside.Remove(fresh)
	f, err := l.inside.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return l.inside.Rename(fresh, l.name)
}

// putOutside saves the user's file. Agents lock it by a folder beside it.
func (l *login) putOutside(content []byte, isLast bool) error {
	lock := l.outside + ".lock"
	if err := os.Mkdir(lock, 0o700); err == nil {
		defer os.Remove(lock)
	} else if errors.Is(err, fs.ErrExist) && !isLast {
		return err // at the next look
	}
	f, err := os.CreateTemp(filepath.Dir(l.outside), "."+filepath.Base(l.outside)+"-")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if info, statErr := os.Stat(l.outside); statErr == nil {
		err = errors.Join(err, f.Chmod(info.Mode().Perm()))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), l.outside)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// mergeTokens is what is outside with the tokens of what is inside, nil where they are the
// same. Where there is none outside, none comes.
func mergeTokens(outside, inside []byte, tokens []string) ([]byte, error) {
	var mine, theirs any
	for content, into := range map[*[]byte]*any{&outside: &mine, &inside: &theirs} {
		dec := json.NewDecoder(bytes.NewReader(*content))
		dec.UseNumber()
		if err := dec.Decode(into); err != nil {
			return nil, err
		}
	}
	if !takeTokens(mine, theirs, tokens) {
		return nil, nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if bytes.ContainsRune(outside, '\n') {
		enc.SetIndent("", "  ")
	}
	err := enc.Encode(mine)
	return out.Bytes(), err
}

func takeTokens(mine, theirs any, tokens []string) (changed bool) {
	m, isMap := mine.(map[string]any)
	t, isToo := theirs.(map[string]any)
	if !isMap || !isToo {
		return false
	}
	for key, value := range m {
		fresh, ok := t[key]
		switch {
		case !ok:
		case !slices.Contains(tokens, key):
			changed = takeTokens(value, fresh, tokens) || changed
		case value != fresh && isToken(value, fresh):
			m[key], changed = fresh, true
		}
	}
	return changed
}

// isToken says whether a value can take another one's place: it is of the same kind, and runs
// nothing, as some agents take texts that begin with ! or $ for.
func isToken(value, fresh any) bool {
	switch fresh := fresh.(type) {
	case json.Number:
		_, ok := value.(json.Number)
		return ok
	case string:
		_, ok := value.(string)
		return ok && fresh != "" && len(fresh) < 1<<15 &&
			!strings.ContainsFunc(fresh, func(r rune) bool { return r <= ' ' || r > '~' || r == '!' || r == '$' || r == '`' })
	}
	return false
}
