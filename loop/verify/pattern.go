package verify

import (
	"fmt"
	"path"
	"strings"
)

// A pattern of files is one of path.Match's for each part of a path with slashes;
// ** stands for any number of parts, also none.

// CheckPattern completes "... " for a pattern that can't match; "" for one that can.
func CheckPattern(pattern string) string {
	switch parts := strings.Split(pattern, "/"); {
	case strings.TrimSpace(pattern) == "":
		return "is empty; leave it out or fill it in"
	case strings.HasPrefix(pattern, "/"), strings.Contains(pattern, `\`), parts[0] == "..":
		return fmt.Sprintf("has %q, which isn't relative to the folder, with slashes", pattern)
	default:
		for _, part := range parts {
			if _, err := path.Match(part, ""); err != nil {
				return fmt.Sprintf("has %q, which isn't a pattern: %v", pattern, err)
			}
		}
	}
	return ""
}

// Matches says whether a path, relative and with slashes, is one of a pattern. A
// pattern of a folder is one of all that is in it.
func Matches(pattern, name string) bool {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	return matches(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matches(pattern, parts []string) bool {
	// reach[i]: the pattern up to here stands for the first i parts.
	reach := make([]bool, len(parts)+1)
	reach[0] = true
	for _, p := range pattern {
		next := make([]bool, len(parts)+1)
		for i := range reach {
			switch {
			case !reach[i]:
			case p == "**":
				for j := i; j <= len(parts); j++ {
					next[j] = true
				}
			case i < len(parts):
				if ok, _ := path.Match(p, parts[i]); ok {
					next[i+1] = true
				}
			}
		}
		reach = next
	}
	for i := 1; i <= len(parts); i++ { // a folder's name matches all below it
		if reach[i] {
			return true
		}
	}
	return false
}
