package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The paths that the user names are found once, when the walls are raised. A link on the way
// counts only where nobody behind walls could have made it: else who may write in the folder
// says which files outside are opened, in the next run or in the next loop.

// maxLinks bounds the links on the way to a path.
const maxLinks = 40

// fixNamed finds what Spec.Write and Spec.Hide name.
func (w *site) fixNamed() error {
	open := append(slices.Clone(w.spec.Write), w.folder)
	isUsers := func(link string) bool {
		return !slices.ContainsFunc(open, func(dir string) bool { return within(filepath.Dir(link), w.expand(dir)) })
	}
	for _, list := range []*[]string{&w.spec.Write, &w.spec.Hide} {
		*list = slices.Clone(*list)
		for i, name := range *list {
			path, _, link := follow(w.named(name), isUsers)
			if link != "" {
				return &Error{"the sandbox can't tell what " + name + " is", link + " is a link, and an agent may have made it",
					"remove the link, or name what it leads to below [sandbox]"}
			}
			(*list)[i] = path
		}
	}
	slices.SortStableFunc(w.spec.Write, func(a, b string) int { return len(a) - len(b) }) // outer paths first
	return nil
}

// checkNamed says whether the paths are still what they were. Those behind the walls can't move
// one away, but one that isn't there they may make.
func (w *site) checkNamed() error {
	for _, path := range slices.Concat(w.spec.Write, w.spec.Hide, []string{w.folder}) {
		if now := real(path); now != path {
			return &Error{"the sandbox can't be raised around " + w.folder,
				path + " leads to " + now + " now, and didn't when the loop began", "look who made that link, and remove it"}
		}
	}
	return nil
}

// named is a path of the configuration, with its links.
func (w *site) named(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		path = w.home + rest
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.folder, path)
	}
	return filepath.Clean(path)
}

// follow is where a path leads, the links on the way with what they say, and the first of
// them that isn't the user's.
func follow(path string, isUsers func(link string) bool) (found string, links [][2]string, theirs string) {
	found, rest := "/", strings.Split(path, "/")
	for len(rest) > 0 {
		next := filepath.Join(found, rest[0])
		rest = rest[1:]
		target, err := os.Readlink(next)
		if err != nil {
			found = next
			continue
		}
		if len(links) == maxLinks || !isUsers(next) {
			return "", nil, next
		}
		links = append(links, [2]string{next, target})
		if filepath.IsAbs(target) {
			found = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return found, links, ""
}

// openNamed opens the folder and the paths that the user names. A path inside another open place can't be moved away,
// nor can the folders above it.
func (w *mounts) openNamed(p *mountList) {
	open := slices.Concat(w.spec.Write, []string{w.folder})
	slices.SortStableFunc(open, func(a, b string) int { return len(a) - len(b) })
	for i, path := range open {
		if around := outermost(open[:i], path); around != "" {
			p.pin(around, path)
		}
		p.open(path)
	}
}

// hideNamed has the last word: it hides in what is open, too.
func (w *mounts) hideNamed(p *mountList, empty string) {
	for _, path := range w.spec.Hide {
		around := outermost(slices.Concat(w.spec.Write, []string{w.folder}), path)
		if around == "" || !exists(path) {
			continue
		}
		p.pin(around, path)
		p.hide(path, empty)
	}
}

// outermost is the outermost of some folders that a path is in, "" for none.
func outermost(dirs []string, path string) (found string) {
	for _, dir := range dirs {
		if within(path, dir) && path != dir && (found == "" || len(dir) < len(found)) {
			found = dir
		}
	}
	return found
}

// HiddenIn lists what Hide names in a folder, by paths from there with slashes: nobody else is to keep it
// where an agent reads it.
func (s Spec) HiddenIn(folder string) (names []string) {
	p := siteOf(s, real(folder))
	for _, path := range s.Hide {
		if name, err := filepath.Rel(p.folder, p.expand(path)); err == nil && name != "." && filepath.IsLocal(name) {
			names = append(names, filepath.ToSlash(name))
		}
	}
	return names
}
