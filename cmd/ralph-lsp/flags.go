package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// resolveFolder returns the absolute path of a folder that must exist.
func resolveFolder(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the folder %s: %w", dir, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the folder %s doesn't exist; make it first, or give another one with -C", path)
	case err != nil:
		return "", fmt.Errorf("finding the folder: %w", err)
	case !info.IsDir():
		return "", fmt.Errorf("%s isn't a folder; give one with -C", path)
	}
	return path, nil
}
