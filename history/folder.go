package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Options say where sessions are kept. The zero value means pi's own folder.
type Options struct {
	Off    bool
	Folder string // a folder for all sessions, like pi's --session-dir; relative to the working directory

	// How long loops are stored, and how much of them; 0 is no bound.
	Keep     time.Duration
	MaxBytes int64 // of all loops together
}

// The environment variables that move pi's folders.
const (
	envSessionDir = "PI_CODING_AGENT_SESSION_DIR"
	envAgentDir   = "PI_CODING_AGENT_DIR"
)

const sessionSuffix = ".jsonl"

// dir returns the folder of the sessions for a working directory without links, as an agent sees it: the one that was
// set, else the one of paths.EnvState, else pi's, which has one for each working directory. It need not exist.
func (o Options) dir(cwd string) (string, error) {
	if o.Folder != "" {
		folder, err := expandHome(o.Folder)
		if err == nil && !filepath.IsAbs(folder) {
			folder = filepath.Join(cwd, folder)
		}
		return folder, err
	}
	if dir := os.Getenv(envSessionDir); dir != "" {
		dir, err := expandHome(dir)
		if err != nil {
			return "", err
		}
		return filepath.Abs(dir)
	}
	if own := paths.Own("sessions"); own != "" {
		return own, nil
	}
	agent := os.Getenv(envAgentDir)
	if agent == "" {
		agent = "~/.pi/agent"
	}
	agent, err := expandHome(agent)
	return filepath.Join(agent, "sessions", folderName(cwd)), err
}

// folderName is pi's name for the folder of a working directory's sessions.
func folderName(cwd string) string {
	cwd = strings.TrimPrefix(strings.TrimPrefix(cwd, "/"), `\`)
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(cwd) + "--"
}

// expandHome puts the user's home in the place of a leading ~.
func expandHome(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the folder of sessions: %w; set HOME", err)
		}
		return filepath.Join(home, rest), nil
	}
	return path, nil
}

// FormatError says that a file is no loop's session.
type FormatError struct {
	Path string
}

func (e *FormatError) Error() string { return e.Path + " isn't the session file of a loop" }
