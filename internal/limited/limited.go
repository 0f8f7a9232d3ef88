// Package limited is what the loops of a user know of the limits of their agents' accounts. A loop that is refused
// until a time writes that down, so that no other one asks before. There is a file for each account, for all processes.
package limited

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Folder has the files; without a path nothing is known, and nothing kept.
type Folder struct{ Path string }

// Of is the folder of this user.
func Of() Folder {
	path, _ := paths.Users("limited") // without it each loop asks by itself
	return Folder{path}
}

// chosen are the ends of variables by which agents choose the account and the provider.
var chosen = []string{"_API_KEY", "_TOKEN", "_BASE_URL", "_CONFIG_DIR", "_HOME"}

// Account names who is limited alone: an agent, with its arguments, its model and what of an environment ("NAME=value")
// chooses its account. Other words for the same account are asked once more, which does no harm; that two accounts
// count as one would. The name tells nothing of what it is made of.
func Account(environ []string, agent ...string) string {
	var all []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if name == "HOME" || slices.ContainsFunc(chosen, func(end string) bool { return strings.HasSuffix(name, end) }) {
			all = append(all, variable)
		}
	}
	slices.Sort(all)
	sum := sha256.Sum256([]byte(strings.Join(append(all, agent...), "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Until is when an account can be asked again; the zero time is now.
func (f Folder) Until(account string, now time.Time) time.Time {
	data, err := paths.ReadOwn(f.file(account), 100)
	if err != nil {
		return time.Time{}
	}
	until, err := time.Parse(time.RFC3339, string(data))
	if err != nil || !until.After(now) {
		return time.Time{}
	}
	return until
}

// Set stores until when an account is limited; the zero time removes that. A failed write isn't shared.
func (f Folder) Set(account string, until time.Time) {
	switch {
	case f.Path == "":
	case until.IsZero():
		_ = os.Remove(f.file(account))
	default:
		_ = paths.WriteOwn(f.file(account), []byte(until.UTC().Format(time.RFC3339)), false)
	}
}

func (f Folder) file(account string) string { return filepath.Join(f.Path, account) }
