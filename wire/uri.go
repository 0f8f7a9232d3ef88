package wire

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// PathOf returns the absolute path that a file URI names.
func PathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "", fmt.Errorf("%q isn't a file URI", uri)
	}
	if u.Host != "" && u.Host != "localhost" {
		return "", fmt.Errorf("%q is a file of another machine", uri)
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // file:///C:/work
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q has a NUL byte (%%00), which no path can have", uri)
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q isn't an absolute path", uri)
	}
	return filepath.Clean(path), nil
}

// FileURI returns the file URI of an absolute path; "" of none.
func FileURI(path string) string {
	if path == "" {
		return ""
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/Users
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}
