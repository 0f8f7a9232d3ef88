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

// MissingError says that a check can't be run: its program isn't there.
type MissingError struct{ Program, Command string }

func (e *MissingError) Error() string {
	why := "isn't there"
	if !filepath.IsAbs(e.Program) {
		why = "is in no folder of PATH"
	} else if _, err := os.Stat(e.Program); err == nil {
		why = "can't be executed"
	}
	return fmt.Sprintf("the check `%s` can't be run: %s %s; install it, or name another command (--verify, --until, [verify]); --no-verify believes the agent", e.Command, e.Program, why)
}

// Find looks for the programs that the command can't do without, as it is run in a
// folder. The error is a *MissingError for one that surely isn't there; yet names one
// that isn't there yet: the loop may make what is in its folder.
func (c Check) Find(folder string) (yet string, err error) {
	names := c.programs()
	for _, name := range names {
		switch found, inFolder := find(name, folder); {
		case found:
		case !inFolder:
			return yet, &MissingError{name, c.String()}
		case yet == "":
			yet = name
		}
	}
	return yet, nil
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

// programs are those that are run for sure when the command passes, as far as their names
// are plain.
func (c Check) programs() []string {
	switch {
	case c.Shell == "" && len(c.Command) > 0:
		return c.Command[:1]
	case c.Shell == "" || runtime.GOOS == "windows": // cmd has rules of its own
		return nil
	}
	return shellPrograms(c.Shell)
}

var (
	isPlainWord  = regexp.MustCompile(`^[A-Za-z0-9_./+@%:,-]+$`).MatchString
	isAssignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`).MatchString
)

// harmless are words of the shell's own behind which names mean what they meant before.
// Behind any other, such as if or eval, nobody knows.
var harmless = strings.Fields("cd test [ echo printf true false : pwd umask ulimit wait time read")

// others are words that the shell knows, and no programs.
var others = strings.Fields(`. source eval exec set export unset readonly local declare typeset alias unalias command type hash trap exit return
	shift getopts builtin shopt let jobs fg bg kill times break continue pushd popd enable
	if then elif else fi for while until do done case esac select function { } ! [[ ]] (( coproc in`)

// shellPrograms are the programs of a chain a && b | c, or else the first one. It reads
// no more of a text than it is sure of.
func shellPrograms(text string) (names []string) {
	links, ok := chain(text)
	if !ok {
		return nil
	}
	isHere := true
	for _, link := range links {
		words := strings.Fields(link)
		for len(words) > 0 && isAssignment(words[0]) {
			if strings.HasPrefix(words[0], "PATH=") {
				return names
			}
			words = words[1:]
		}
		switch {
		case len(words) == 0, !isPlainWord(words[0]) && words[0] != "[":
			return names
		case slices.Contains(others, words[0]):
			return names
		case slices.Contains(harmless, words[0]):
			isHere = isHere && words[0] != "cd"
		case isHere || filepath.IsAbs(words[0]) || !strings.Contains(words[0], "/"):
			names = append(names, words[0])
		}
	}
	return names
}

// chain splits a text at its && and |, outside of quotes. What stands behind another
// separator may be left out; ok is false where that decides what is run.
func chain(text string) (links []string, ok bool) {
	var quote rune
	var link strings.Builder
	runes := []rune(strings.TrimSpace(text))
	isNext := func(i int, r rune) bool { return i+1 < len(runes) && runes[i+1] == r }
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
			r = 'x' // a quoted blank separates nothing; an escaped quote is seldom, and ends in nothing known
			if quote == 0 {
				r = '"'
			}
		case r == '\\' || r == '`' || r == '<' && isNext(i, '<'):
			return nil, false
		case r == '\'' || r == '"':
			quote = r
		case r == '$' && isNext(i, '('), r == '|' && isNext(i, '|'):
			return nil, false
		case r == '|', r == '&' && isNext(i, '&'):
			if links = append(links, link.String()); r == '&' {
				i++
			}
			link.Reset()
			continue
		case r == '&' && (i > 0 && runes[i-1] == '>' || isNext(i, '>')): // 2>&1, &>log
		case r == ';', r == '\n', r == '&', r == '(':
			if strings.Contains(text, "||") {
				return nil, false
			}
			if links = append(links, link.String()); r == '&' || r == '(' {
				return nil, false
			}
			return links[:1], true
		}
		link.WriteRune(r)
	}
	return append(links, link.String()), quote == 0
}
