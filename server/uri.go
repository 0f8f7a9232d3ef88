package server

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"ralph-lsp/loopstate"
)

// PathOf returns the absolute path that a file URI names.
func PathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "", fmt.Errorf("%q is no file URI", uri)
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // file:///C:/work
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q names no absolute path", uri)
	}
	return filepath.Clean(path), nil
}

// promptIn returns the prompt that a file holds: all of it, or what is behind
// the front matter of a state file.
func promptIn(path, content string) string {
	if !strings.HasSuffix(filepath.ToSlash(path), loopstate.Name) {
		return content
	}
	doc, err := loopstate.Parse([]byte(content))
	if err != nil {
		return content
	}
	return doc.State().Prompt
}
