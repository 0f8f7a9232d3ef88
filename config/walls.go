package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// adding returns a list with its items and those of the files below, each once.
func (s *Settings) adding(l leaf) []any {
	list := []any{}
	if below, ok := s.sources[strings.Join(l.path, ".")]; ok {
		list = slices.Clone(below.value.([]any))
	}
	for _, item := range l.value.([]any) {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// checkWallPath completes "KEY ..." for a path that no wall can stand at.
func checkWallPath(text string) string {
	switch clean := filepath.Clean(text); {
	case strings.TrimSpace(text) == "":
		return "has an empty item; leave it out or fill it in"
	case strings.ContainsRune(text, 0):
		return "contains a NUL character; remove it"
	case strings.HasPrefix(text, "~") && text != "~" && !strings.HasPrefix(text, "~/"):
		return "contains " + text + ", another user's home; write the path from / on"
	case clean == "/", clean == "~", clean == ".":
		return "contains " + text + ", which is everything; name what is meant in it"
	case !filepath.IsAbs(text) && !strings.HasPrefix(text, "~/") && !filepath.IsLocal(text):
		return "contains " + text + ", which leads out of the folder; write the path from / or ~ on"
	case strings.ContainsAny(text, "*?["):
		return "contains " + text + ", but knows no patterns; name files and folders"
	}
	return ""
}

// host is a name, an address, or all names below one, and maybe a port.
var host = lazy.Regexp(`^((\*\.)?[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*` +
	`|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

func checkHost(text string) string {
	if !host().MatchString(text) {
		return "contains " + text + `, which is no host; write names such as "api.anthropic.com" or "*.npmjs.org", without https://`
	}
	return ""
}

var variable = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)

func checkVariable(text string) string {
	if !variable().MatchString(text) {
		return "contains " + text + `, which is no variable's name; write names such as "GOPRIVATE" or "GO*"`
	}
	return ""
}
