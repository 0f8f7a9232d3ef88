package archtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
)

// Words returns the lines of text files that a pattern matches. The patterns
// map says why each is unwanted.
func Words(tree fs.FS, unwanted map[*regexp.Regexp]string) (problems []string, err error) {
	err = textFiles(tree, func(name string, content []byte) error {
		for pattern, why := range unwanted {
			for _, at := range pattern.FindAllIndex(content, -1) {
				line := bytes.Count(content[:at[0]], []byte("\n")) + 1
				problems = append(problems, fmt.Sprintf("%s:%d: %q: %s", name, line, content[at[0]:at[1]], why))
			}
		}
		return nil
	})
	return problems, err
}
