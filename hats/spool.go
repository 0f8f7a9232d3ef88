package hats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// A spool is a folder of one run's, in which its programs put topics: files named by
// numbers in the order in which they came. Who was killed half-way left none.
const (
	maxSpooled   = 1000
	maxSpoolFile = 8 * MaxPayload // of its JSON
	hatName      = "hat"          // in a spool: who runs, and who there is
)

// spooled is what Emit has to know of a run.
type spooled struct {
	Hat  Hat
	Ring Ring
}

// ErrRunOver is Emit's word for a run that is over.
var ErrRunOver = errors.New("the run is over, so its topics are no longer read")

// Emit publishes a topic from inside of a run, by its spool (backends.EnvSpool). refused
// says why nobody gets it; the loop tells its user so, too.
func Emit(spool string, t Topic) (refused string, err error) {
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

// OpenSpool makes the spool of a run of a hat in a folder; "" where none is needed, or none can be
// made: the agent still has its last message.
func (r Ring) OpenSpool(in string, hat Hat) string {
	if r == nil {
		return ""
	}
	dir, err := os.MkdirTemp(in, "topics-")
	if err != nil {
		return ""
	}
	run := spooled{Hat: hat, Ring: slices.Clone(r)}
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

// TakeSpool returns what programs of a run published, and behind that, what its
// messages publish besides: who does both means one. Whoever comes later finds no spool.
func TakeSpool(spool string, said []Topic) (topics []Topic) {
	if spool == "" {
		return said
	}
	for _, name := range numbered(spool) {
		file := filepath.Join(spool, name)
		var t Topic
		if info, err := os.Lstat(file); err != nil || info.Size() > maxSpoolFile {
			continue
		}
		if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &t) == nil {
			topics = append(topics, Topic{Name: t.Name, For: t.For, Payload: t.Payload})
		}
	}
	os.RemoveAll(spool)
	spooled := slices.Clone(topics)
	for _, t := range said {
		if !slices.Contains(spooled, t) {
			topics = append(topics, t)
		}
	}
	return topics
}
