// Package atwork marks that an agent is at work in a folder, and outlives the process: it tells the changes of a run
// that was cut off from the user's later ones, as far as anybody can.
package atwork

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Mark is the mark of one loop. Home is the folder of its files.
type Mark struct{ Home string }

const (
	// agentName may be written to while an agent is at work, and its time is the number of that iteration, in seconds since
	// 1970: to give it a content takes ten times as long.
	agentName = "agent"
	savedName = "saved" // files that the user has saved in an editor since that agent was cut off

	// maxIteration is more than any loop has, and as a time in 1970. An older program wrote the time of day.
	maxIteration = 10_000_000
	// maxSaved bounds what is read of the saved files.
	maxSaved = 16 << 20
)

// Set says that the agent of iteration n begins.
func (m Mark) Set(n int) error {
	agent := filepath.Join(m.Home, agentName)
	number := func() error { return os.Chtimes(agent, time.Time{}, time.Unix(int64(n), 0)) }
	if number() == nil && os.Chmod(agent, 0o600) == nil {
		return nil
	}
	if err := cmp.Or(regular.Write(agent, nil, 0o600), number()); err != nil {
		return fmt.Errorf("noting that an agent begins: %w", err)
	}
	return nil
}

// Get returns the iteration of the agent that is at work, or was cut off; 0 is unknown. ok: there is one.
func (m Mark) Get() (n int, ok bool) {
	info, err := os.Stat(filepath.Join(m.Home, agentName))
	if err != nil || info.Mode()&0o200 == 0 {
		return 0, false
	}
	if at := info.ModTime().Unix(); at <= maxIteration {
		n = int(at)
	}
	return n, true
}

// Clear says that no agent is at work any more, and that all it did is written down.
func (m Mark) Clear() error {
	if _, ok := m.Get(); !ok {
		return nil
	}
	os.Remove(filepath.Join(m.Home, savedName))
	return os.Chmod(filepath.Join(m.Home, agentName), 0o400)
}

// Save says that the user has saved a file in an editor, by its path from the folder on. It counts where an agent was cut
// off.
func (m Mark) Save(path string) error {
	if _, ok := m.Get(); !ok {
		return nil
	}
	file, err := regular.Open(filepath.Join(m.Home, savedName), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = file.WriteString(path + "\x00")
		err = cmp.Or(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("noting that a file was saved: %w", err)
	}
	return nil
}

// Saved are those files.
func (m Mark) Saved() (map[string]bool, error) {
	data, err := regular.Read(filepath.Join(m.Home, savedName), maxSaved)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading which files were saved: %w", err)
	}
	files := map[string]bool{}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(data), "\x00"), "\x00") {
		if path != "" {
			files[path] = true
		}
	}
	return files, nil
}
