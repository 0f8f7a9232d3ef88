package verify

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Find looks for the program that the command begins with, as it is run in a folder. The error is
// about one that surely isn't there; yet names one that isn't there yet: the loop may make what is in its
// folder.
func (c Check) Find(folder string) (yet string, err error) {
	name := c.program()
	switch found, inFolder := find(name, folder); {
	case name == "" || found:
		return "", nil
	case inFolder:
		return name, nil
	}
	why := "isn't there"
	if !filepath.IsAbs(name) {
		why = "is in no folder of PATH"
	} else if _, err := os.Stat(name); err == nil {
		why = "can't be executed"
	}
	return "", fmt.Errorf("the check `%s` can't be run: %s %s; install it, or name another command (--verify, --until, "+
		"[verify]); --no-verify believes the agent", c, name, why)
}

// find looks for a program. inFolder says of one that isn't found that it may come to be there.
func find(name, folder string) (found, inFolder bool) {
	if strings.ContainsRune(name, filepath.Separator) {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		_, err := exec.LookPath(path)
		return err == nil, isBelow(folder, path)
	}
	if _, err := exec.LookPath(name); err == nil || errors.Is(err, exec.ErrDot) {
		return true, false
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) || isBelow(folder, dir) {
			return false, true
		}
	}
	return false, false
}

func isBelow(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// program returns the program that runs first, as far as its name is plain. The shell reports later ones.
func (c Check) program() string {
	switch {
	case c.Shell == "" && len(c.Command) > 0:
		return c.Command[0]
	case c.Shell == "" || runtime.GOOS == "windows", strings.Contains(c.Shell, "||"): // cmd has rules of its own; a || b may do without a
		return ""
	}
	words := strings.Fields(c.Shell)
	for len(words) > 0 && isAssignment(words[0]) && !strings.HasPrefix(words[0], "PATH=") {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(words[0], ";")
	if !isPlainWord(name) || slices.Contains(builtins, name) {
		return ""
	}
	return name
}

var (
	isPlainWord  = regexp.MustCompile(`^[A-Za-z0-9_./+@%:,-]+$`).MatchString
	isAssignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`).MatchString
)

// builtins are words that the shell knows, and no programs.
var builtins = strings.Fields(`cd test echo printf true false : pwd umask ulimit wait time read . source eval exec set export unset readonly local
	declare typeset alias unalias command type hash trap exit return shift getopts builtin shopt let jobs fg bg kill times break continue
	pushd popd enable if then elif else fi for while until do done case esac select function coproc in`)
