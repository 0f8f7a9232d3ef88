package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"ralph-lsp/hats"
)

// A spool is a folder of one run's, in which its programs put topics: files named by
// numbers in the order in which they came. Who was killed half-way left none.
const (
	maxSpooled   = 1000
	maxSpoolFile = 8 * hats.MaxPayload // of its JSON
	hatName      = "hat"               // in a spool: who runs, and who there is
)

// spooled is what Emit has to know of a run.
type spooled struct {
	Hat  hats.Hat
	Ring hats.Ring
}

// ErrRunOver is Emit's word for a run that is over.
var ErrRunOver = errors.New("the run is over, so nobody takes what it publishes")

// Emit publishes a topic from inside of a run, by its spool (backends.EnvSpool). refused
// says why nobody gets it; the loop tells its user so, too.
func Emit(spool string, t hats.Topic) (refused string, err error) {
	data, err := os.ReadFile(filepath.Join(spool, hatName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrRunOver
	}
	var run spooled
	if err == nil {
		err = json.Unmarshal(data, &run)
	}
	if err != nil {
		return "", fmt.Errorf("asking who runs: %w", err)
	}
	if data, err = json.Marshal(t); err != nil {
		return "", err
	}
	return run.Ring.Refuses(run.Hat, t), spoolFile(spool, data)
}

// spoolFile adds a file behind those of a spool, all of it at once.
func spoolFile(spool string, data []byte) error {
	file, err := os.CreateTemp(spool, ".new-")
	if errors.Is(err, fs.ErrNotExist) {
		return ErrRunOver
	}
	if err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	for n := lastSpooled(spool) + 1; n <= maxSpooled; n++ {
		err := os.Link(file.Name(), filepath.Join(spool, fmt.Sprintf("%06d", n)))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrNotExist):
			return ErrRunOver
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("publishing: %w", err)
		}
	}
	return fmt.Errorf("this run has published %d topics already, which is all that it may", maxSpooled)
}

// numbered are the names of a spool's topics, in their order.
func numbered(spool string) (names []string) {
	entries, _ := os.ReadDir(spool) // one that is gone has none
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

func lastSpooled(spool string) (n int) {
	if names := numbered(spool); len(names) > 0 {
		n, _ = strconv.Atoi(names[len(names)-1])
	}
	return n
}

// openSpool makes the spool of a run; "" where none is needed, or none can be made: the
// agent still has its last message.
func (l *Loop) openSpool(turn hats.Turn) string {
	ring := l.cfg.ring()
	if ring == nil || l.scope == nil {
		return ""
	}
	dir, err := os.MkdirTemp(l.scope.TempDir, "topics-")
	if err != nil {
		return ""
	}
	run := spooled{Hat: turn.Hat, Ring: slices.Clone(ring)}
	run.Hat.Instructions = ""
	for i := range run.Ring {
		run.Ring[i].Instructions = ""
	}
	data, err := json.Marshal(run)
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, hatName), data, 0o600)); err != nil {
		os.RemoveAll(dir)
		return ""
	}
	return dir
}

// takeSpool returns what programs of a run published, and behind that, what its last
// message publishes besides; emitted is what that doesn't. Whoever comes later finds no spool.
func takeSpool(spool string, said []hats.Topic) (topics, emitted []hats.Topic) {
	if spool == "" {
		return said, nil
	}
	for _, name := range numbered(spool) {
		file := filepath.Join(spool, name)
		var t hats.Topic
		if info, err := os.Lstat(file); err != nil || info.Size() > maxSpoolFile {
			continue
		}
		if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &t) == nil {
			topics = append(topics, hats.Topic{Name: t.Name, For: t.For, Payload: t.Payload})
		}
	}
	os.RemoveAll(spool)
	for _, t := range topics { // who does both means one
		if !slices.Contains(said, t) {
			emitted = append(emitted, t)
		}
	}
	spooled := slices.Clone(topics)
	for _, t := range said {
		if !slices.Contains(spooled, t) {
			topics = append(topics, t)
		}
	}
	return topics, emitted
}

// plainPath matches paths that need no quotes in a shell.
var plainPath = regexp.MustCompile(`^[\w./+-]+$`)

// emitCommand is how the agent of a run calls Emit; "" where it might not be allowed to.
func (c Config) emitCommand() string {
	self, err := os.Executable()
	if err != nil || !plainPath.MatchString(self) || !c.Backend.RunsAnything(c.Args) {
		return ""
	}
	return self + " emit"
}
