package verify

import (
	"path/filepath"
	"slices"
	"strings"
)

// Protects says whether a pattern of Protect stands for a file, by its path in the
// folder, with slashes.
func (c Check) Protects(path string) bool {
	return slices.ContainsFunc(c.Protect, func(pattern string) bool { return Matches(pattern, path) })
}

// Names says whether the command names a file in the folder: a script that it runs,
// or a test. Of a text for the shell its words count, as far as they can be told
// without one.
func (c Check) Names(folder, path string) bool {
	words := c.Command
	if c.Shell != "" {
		words = strings.FieldsFunc(c.Shell, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()<>\"'`$={}", r) })
	}
	for _, word := range words {
		if filepath.IsAbs(word) {
			rel, err := filepath.Rel(folder, word)
			if err != nil {
				continue
			}
			word = rel
		}
		if filepath.ToSlash(filepath.Clean(word)) == path {
			return true
		}
	}
	return false
}

// readBy has the files in the folder that programs read without being told.
var readBy = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "gmake": {"Makefile", "makefile", "GNUmakefile"}, "just": {"justfile", "Justfile"},
	"npm": {"package.json"}, "npx": {"package.json"}, "yarn": {"package.json"}, "pnpm": {"package.json"}, "bun": {"package.json"},
	"pytest": {"conftest.py", "pytest.ini"}, "tox": {"tox.ini"},
}

// Reads says whether the command's program takes what it does from a file in the
// folder, which the command needn't name: make from its Makefile.
func (c Check) Reads(path string) bool {
	for program, files := range readBy {
		if slices.Contains(files, path) && c.Names("", program) {
			return true
		}
	}
	return false
}
