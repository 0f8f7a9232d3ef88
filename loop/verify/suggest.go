package verify

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Suggestion is a check that a folder seems to have. It is the folder's code, so it runs only
// when the user has said so.
type Suggestion struct {
	Command string // as it is typed behind --verify; "": none was found
	File    string // what speaks for it: "go.mod"
}

// habits are the ways in which projects are tested, the surest first. One fits when a file
// of its patterns is there, says what it must, and the program is there.
var habits = []struct {
	files   string
	says    func([]byte) bool // nil: anything
	command string
}{
	{"go.mod", nil, "go test ./..."},
	{"Cargo.toml", nil, "cargo test"},
	{"package.json", testsWith("pnpm"), "pnpm test"},
	{"package.json", testsWith("yarn"), "yarn test"},
	{"package.json", testsWith(""), "npm test"},
	{"pytest.ini conftest.py tests/conftest.py test_*.py tests/test_*.py", nil, "pytest"},
	{"pyproject.toml setup.cfg tox.ini", regexp.MustCompile(`\bpytest\b`).Match, "pytest"},
	{"test_*.py", isUnittest, "python3 -m unittest"},
	{"tests/test_*.py", isUnittest, "python3 -m unittest discover -s tests"},
	{"Makefile makefile GNUmakefile", regexp.MustCompile(`(?m)^test[ \t]*::?([^=:]|$)`).Match, "make test"},
	{"justfile Justfile .justfile", regexp.MustCompile(`(?m)^@?test([ \t][^:\n]*)?:([^=]|$)`).Match, "just test"},
}

var isUnittest = regexp.MustCompile(`(?m)^(import|from) unittest\b`).Match

// testsWith says whether a package.json has tests that the package manager runs; "" is npm, the default. The test
// script that npm writes into a new file is none.
func testsWith(manager string) func([]byte) bool {
	return func(data []byte) bool {
		var file struct {
			PackageManager string
			Scripts        map[string]string
		}
		if json.Unmarshal(data, &file) != nil || strings.TrimSpace(file.Scripts["test"]) == "" ||
			strings.Contains(file.Scripts["test"], "no test specified") {
			return false
		}
		return manager == "" || strings.HasPrefix(file.PackageManager, manager+"@")
	}
}

// maxHabit is how much of a file is looked at, in bytes, and how many files of a pattern.
const (
	maxHabit      = 1 << 20
	maxHabitFiles = 20
)

// Suggest looks for a check in a folder. It only reads.
func Suggest(folder string) Suggestion {
	for _, habit := range habits {
		if yet, err := (Check{Shell: habit.command}).Find(folder); err != nil || yet != "" {
			continue
		}
		for pattern := range strings.FieldsSeq(habit.files) {
			names, _ := fs.Glob(os.DirFS(folder), pattern) // the pattern is a good one
			for _, name := range names[:min(len(names), maxHabitFiles)] {
				data, err := regular.Read(filepath.Join(folder, name), maxHabit) // a pipe that nobody writes to, say, is left alone
				if err == nil && (habit.says == nil || habit.says(data)) {
					return Suggestion{habit.command, name}
				}
			}
		}
	}
	return Suggestion{}
}
