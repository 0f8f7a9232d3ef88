package paths

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// EnvState names the folder for everything that this program stores about the loops of a temporary folder, such as a
// worker's checkout: snapshots' books, sessions, trust, caches of the walls. Nothing is written into the user's
// folders then.
const EnvState = "RALPH_STATE_DIR"

// Own is the folder with a name in the one that EnvState names; "" where there is none.
func Own(name string) string {
	if dir := os.Getenv(EnvState); filepath.IsAbs(dir) {
		return filepath.Join(dir, name)
	}
	return ""
}

// State is the folder with a name in what this program keeps in the user's state folder.
func State(name string) (string, error) {
	if own := Own(name); own != "" {
		return own, nil
	}
	return Users(name)
}

// Users is State for what is the user's and not a loop's: wherever loops keep theirs.
func Users(name string) (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	switch {
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		config, err := os.UserConfigDir()
		if err != nil {
			return "", fmt.Errorf("finding the state folder: %w; set HOME or "+EnvState, err)
		}
		dir = config
	case !filepath.IsAbs(dir):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the state folder: %w; set HOME or "+EnvState, err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "ralph-lsp", name), nil
}

// Fleet is the file or folder with a name in what a fleet's programs keep for their user.
func Fleet(name string) (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the state folder: %w; set HOME", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "ralph-fleet", name), nil
}
