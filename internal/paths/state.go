package paths

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// State is the folder with a name in what this program keeps in the user's state folder.
func State(name string) (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	switch {
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		config, err := os.UserConfigDir()
		if err != nil {
			return "", fmt.Errorf("finding the state folder: %w; set HOME", err)
		}
		dir = config
	case !filepath.IsAbs(dir):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the state folder: %w; set HOME", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "ralph-lsp", name), nil
}
