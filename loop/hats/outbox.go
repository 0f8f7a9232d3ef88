package hats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// An outbox is a folder of one run's, with a file in which its programs put topics, a line each. One begins
// a new line, so what a kill cut off takes no other along.
const (
	hatName    = "hat" // the hat that runs, and all hats
	topicsName = "topics"
	maxOutbox  = 32 << 20 // bytes of it
)

// runInfo is what Emit has to know of a run.
type runInfo struct {
	Hat  Hat
	Hats Set `json:"Ring"`
}

// ErrRunOver is Emit's word for a run that is over.
var ErrRunOver = errors.New("the run is over, so its topics are no longer read")

// Emit publishes a topic from inside of a run, by its outbox (backends.EnvOutbox). refused
// says why nobody gets it; the loop tells its user so, too.
func Emit(outbox string, t Topic) (refused string, err error) {
	data, err := regular.Read(filepath.Join(outbox, hatName), maxOutbox)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrRunOver
	}
	var run runInfo
	if err == nil {
		err = json.Unmarshal(data, &run)
	}
	if err != nil {
		return "", fmt.Errorf("asking who runs: %w", err)
	}
	file, err := regular.Open(filepath.Join(outbox, topicsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrRunOver
	}
	if err == nil {
		data, _ = json.Marshal(t) // texts can always be encoded
		if info, _ := file.Stat(); info != nil && info.Size()+int64(len(data)) > maxOutbox {
			err = errors.New("this run has published all that it may")
		} else {
			_, err = file.Write(append([]byte("\n"), data...))
		}
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return "", fmt.Errorf("publishing: %w", err)
	}
	return run.Hats.refuse(&Queue{}, run.Hat, t), nil
}

// OpenOutbox makes the outbox of a run of a hat in a folder; "" where none is needed, or none can be
// made: the agent still has its last message.
func (r Set) OpenOutbox(in string, hat Hat) string {
	if r == nil {
		return ""
	}
	dir, err := os.MkdirTemp(in, "topics-")
	if err != nil {
		return ""
	}
	run := runInfo{Hat: hat, Hats: slices.Clone(r)}
	run.Hat.Instructions = ""
	for i := range run.Hats {
		run.Hats[i].Instructions = ""
	}
	data, err := json.Marshal(run)
	if err = errors.Join(err, regular.Write(filepath.Join(dir, hatName), data, 0o600)); err != nil {
		os.RemoveAll(dir)
		return ""
	}
	return dir
}

// TakeOutbox returns the topics that programs of a run published, and after them, its messages' other topics: the same
// topic by both counts once. It removes the outbox.
func TakeOutbox(outbox string, said []Topic) (topics []Topic) {
	if outbox == "" {
		return said
	}
	data, _ := paths.ReadOwn(filepath.Join(outbox, topicsName), maxOutbox) // nobody may have published anything
	for line := range bytes.Lines(data) {
		var t Topic
		if json.Unmarshal(line, &t) == nil {
			topics = append(topics, Topic{Name: t.Name, For: t.For, Payload: t.Payload})
		}
	}
	os.RemoveAll(outbox)
	published := slices.Clone(topics)
	for _, t := range said {
		if !slices.Contains(published, t) {
			topics = append(topics, t)
		}
	}
	return topics
}
