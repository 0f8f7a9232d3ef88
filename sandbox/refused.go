package sandbox

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// Refusal is what the walls kept from being done.
type Refusal struct {
	Path string // absolute, or a host with its port
	What string
}

// What walls refuse: reading, writing, a host.
const (
	Write = "write"
	Read  = "read"
	Reach = "reach"
	Guard = "guard" // a write where the walls are open but for what stays as it is
)

// maxRefusals is how many one output is looked through for.
const maxRefusals = 20

// Signs of what walls refuse, in the words of system calls' errors.
var (
	cantWrite = lazy.Regexp(`(?i)read-only file system|Error code: EROFS`)
	isMissing = lazy.Regexp(`(?i)no such file or directory`)
	inQuotes  = lazy.Regexp("['\"`‘]([^'\"`‘’]+)['\"`’]")
	// behindVerb is a path behind what was tried with it: "open /etc/hosts: ", "cannot create /etc/x: ".
	behindVerb = lazy.Regexp(`\b(?:open|openat|create|creat|mkdir|mkdirat|rename|link|symlink|unlink|remove|rmdir|chmod` +
		`|chown|truncate|write|touch|file) ((?:~|\.{0,2}/)?[^:'"]+?): *$`)
	// ofPi is how pi's edit says it: "Could not edit file: ralph.toml. Error code: EROFS."
	ofPi   = lazy.Regexp(`file: (.+?)\. *$`)
	asPart = lazy.Regexp(`(?:^|: )([^:]+?): *$`)
)

// Refusals returns the refusals of the walls in a tool's output. The same place looks different from outside.
// Relative paths begin at dir.
func (w *Sandbox) Refusals(output, dir string) []Refusal {
	if w == nil {
		return nil
	}
	return w.site.refusals(output, dir)
}

func (w *site) refusals(output, dir string) []Refusal {
	if !cantWrite().MatchString(output) && !isMissing().MatchString(output) {
		return nil
	}
	var found []Refusal
	for line := range strings.Lines(output) {
		var r Refusal
		if sign := cantWrite().FindStringIndex(line); sign != nil {
			r = Refusal{w.place(pathIn(line, sign), dir), Write}
			if r.Path != "" && isReadOnly(r.Path) {
				continue
			}
		} else if sign := isMissing().FindStringIndex(line); sign != nil {
			r = Refusal{w.place(pathIn(line, sign), dir), Read}
			if !w.isHidden(r.Path) || !exists(r.Path) && !w.isHidden(filepath.Dir(r.Path)) || !exists(filepath.Dir(r.Path)) {
				continue
			}
		}
		if r = w.classed(r); r.Path != "" && !slices.Contains(found, r) {
			if found = append(found, r); len(found) == maxRefusals {
				break
			}
		}
	}
	return found
}

// classed tells what stays as it is from what is merely not open.
func (w *site) classed(r Refusal) Refusal {
	if r.What == Write && r.Path != "" && w.mayWrite(r.Path) {
		r.What = Guard
	}
	return r
}

// place is a path as a tool names it, from the root on and without links; "" for what is none.
func (w *site) place(path, dir string) string {
	if path == "" || strings.ContainsRune(path, 0) {
		return ""
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(w.home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return real(path)
}

// pathIn is the path that a line with an error speaks of: sign is where that is.
func pathIn(line string, sign []int) string {
	before, behind := line[:sign[0]], line[sign[1]:]
	before = strings.TrimSuffix(strings.TrimRight(before, " "), "EROFS:")
	before = strings.TrimSuffix(before, "ENOENT:")
	before = regexpErrno().ReplaceAllString(before, "")
	if m := inQuotes().FindStringSubmatch(behind); m != nil { // node, python: the path comes last
		return m[1]
	}
	if all := inQuotes().FindAllStringSubmatch(before, -1); all != nil {
		return all[len(all)-1][1]
	}
	for _, form := range []*regexp.Regexp{ofPi(), behindVerb(), asPart()} {
		if m := form.FindStringSubmatch(before); m != nil {
			return strings.TrimSpace(m[1])
		}
	}
	return ""
}

// regexpErrno is how python begins: "OSError: [Errno 30] ".
var regexpErrno = lazy.Regexp(`\[Errno \d+\] *$`)

// existing is a path, or the folder above it that is there.
func existing(path string) string {
	for {
		if _, err := os.Lstat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}
