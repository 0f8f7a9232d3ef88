package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Init makes a repository in dir for the files of folder, which go in and out byte for byte. No git is needed for that, and
// no template of the user's gets into it.
func Init(dir, folder string) error {
	for _, sub := range []string{"objects", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	const config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tautocrlf = false\n\tignoreCase = %t\n"
	for name, text := range map[string]string{
		"HEAD":            "ref: refs/heads/none\n",
		"config":          fmt.Sprintf(config, IgnoresCase(folder)),
		"info/attributes": "* -text -filter -ident -working-tree-encoding\n",
	} {
		if err := regular.Write(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// IgnoresCase says whether the same file has names in capitals and in small letters. It asks with what is there: nothing
// is written to the folder.
func IgnoresCase(folder string) bool {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		other := strings.ToUpper(name)
		if other == name {
			other = strings.ToLower(name)
		}
		if other == name {
			continue
		}
		one, err := os.Lstat(filepath.Join(folder, name))
		if err != nil {
			continue
		}
		two, err := os.Lstat(filepath.Join(folder, other))
		return err == nil && os.SameFile(one, two)
	}
	return false
}
