package sandbox

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// layout is what is there of the homes of users, which are empty behind walls, and of rooms.
// It is found once, before anything runs.
type layout struct {
	*site
	homes    []string // emptied, without links; none is in another one
	tempDirs []string // the same of what is everybody's
	opened   []Opened
	links    [][2]string // where one is, and what it says
	own      []Opened    // caches of the folder's, by where programs look for them
	cache    string      // the folder of most of them, which is another one inside; "" is none
}

// Opened is something that is there all the same.
type Opened struct {
	Path  string // without links
	Whose string // needs it
	Way   string
}

const oneself = "read below [sandbox]"

// lay finds what there is of homes. Only the user may have said where: to what agents could
// have made, nothing leads.
func (w *site) lay() error {
	l := &layout{site: w}
	w.there = l
	for _, room := range tempDirs {
		if room = real(room); exists(room) {
			l.tempDirs = append(l.tempDirs, room)
		}
	}
	if err := l.emptyHomes(); err != nil {
		return err
	}
	for _, n := range needs {
		if path := l.openNeed(n); path != "" {
			return &Error{"the sandbox can't be raised around " + w.folder,
				path + " is in it, which programs outside of it obey or run", "start the loop in a folder below it"}
		}
	}
	for _, path := range openings {
		l.open("the system", asItIs, path)
	}
	if dir, err := os.UserHomeDir(); err == nil {
		l.open("all", asItIs, dir) // its links: itself it stays closed
	}
	l.openOfGit()
	l.openRepository()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		l.openPrograms("PATH", dir)
	}
	l.open("ralph-lsp", asItIs, w.self)
	for _, path := range w.spec.Read {
		path = l.named(path)
		if _, _, ok := l.follow(path); !ok {
			return &Error{"the sandbox can't open " + path, "a link leads there that an agent could have made",
				"name where it leads below [sandbox] read"}
		}
		l.open(oneself, asItIs, path)
	}
	return nil
}

// emptyHomes says which homes there are: the user's own, by all of its names, and others'.
func (l *layout) emptyHomes() error {
	homes := []string{l.home}
	if me, err := user.Current(); err == nil && filepath.IsAbs(me.HomeDir) {
		homes = append(homes, real(me.HomeDir))
	}
	for name := range usual {
		if dir := os.Getenv(name); filepath.IsAbs(dir) {
			homes = append(homes, real(dir))
		}
	}
	for _, dir := range homes {
		switch {
		case dir == "":
		case dir == "/" || slices.ContainsFunc(system, func(s string) bool { return within(dir, s) }):
			return &Error{cantRaise, "your home folder is " + dir + ", where the system is, so it can't be hidden",
				"set HOME, and what XDG_CONFIG_HOME and the like name, to folders of your own"}
		case within(dir, l.folder):
			return &Error{"the sandbox can't be raised around " + l.folder, "your home folder is in it, so an agent that may " +
				"write there may write everything", "start the loop in a folder below it"}
		}
	}
	for _, dir := range append(homes, othersHomes...) {
		if dir != "" && exists(dir) && !within(dir, l.folder) {
			l.homes = append(l.homes, dir)
		}
	}
	l.homes = apart(l.homes)
	return nil
}

// openNeed opens what is there of a need, and says what of it the loop's folder is around.
func (l *layout) openNeed(n need) (around string) {
	for _, name := range n.paths {
		path := l.placeOf(name)
		isCache := name == "$XDG_CACHE_HOME"
		if isCache && path != "" && (within(l.home, path) || l.cacheRoot() == "") {
			continue
		}
		switch {
		case path == "":
		case n.way == ofTheFolder && n.variable != "":
		case n.way != ofTheFolder, !isCache && !l.spec.Network && exists(path): // else what can't be fetched again is lost
			how := n.way
			if how == ofTheFolder {
				how = asItIs
			}
			if isFixed(name) && within(real(path), l.folder) {
				return path
			}
			l.open(n.whose, how, path)
		case !l.mayWrite(path):
			at := filepath.Join(real(filepath.Dir(path)), filepath.Base(path))
			l.own = append(l.own, Opened{at, n.whose, string(n.way)})
			if isCache && real(at) == at { // else a link in its place does
				l.cache = at
			}
		}
	}
	return ""
}

// isFixed says whether a need's path is among the user's settings: no loop is around it.
func isFixed(name string) bool {
	return strings.HasPrefix(name, "~/.") || strings.HasPrefix(name, "$XDG_")
}

// placeOf is a path of a need, "" where its variable isn't set or leads to a home as a whole.
func (l *layout) placeOf(path string) string {
	if rest, ok := strings.CutPrefix(path, "$"); ok {
		name, below, _ := strings.Cut(rest, "/")
		if path = os.Getenv(name); !filepath.IsAbs(path) {
			if path = usual[name]; path == "" {
				return ""
			}
		}
		path = filepath.Join(path, below)
	}
	if strings.HasPrefix(path, "~") && l.home == "" {
		return ""
	}
	return l.named(path)
}

// open opens a path of a home, with the links on the way. A home as a whole stays closed.
func (l *layout) open(whose string, how way, path string) {
	if path == "" {
		return
	}
	found, links, ok := l.follow(path)
	if !ok || !l.isEmptied(found) && len(links) == 0 {
		return
	}
	if info, err := os.Stat(found); err != nil || isSocket(found) || !info.IsDir() && !info.Mode().IsRegular() {
		return
	}
	for _, link := range links {
		if l.isEmptied(link[0]) && !slices.Contains(l.links, link) {
			l.links = append(l.links, link)
		}
	}
	isAround := func(dir string) bool { return within(dir, found) }
	if l.isEmptied(found) && !isAround(l.home) && !slices.ContainsFunc(l.homes, isAround) && !slices.ContainsFunc(l.tempDirs, isAround) {
		l.opened = append(l.opened, Opened{found, whose, string(how)})
	}
}

// isEmptied says whether a path is in a home, or in a room.
func (l *layout) isEmptied(path string) bool {
	return withinAny(path, l.homes) || withinAny(path, l.tempDirs)
}

// follow is where a path leads, and the links on the way: not ok where an agent could have
// made one.
func (l *layout) follow(path string) (found string, links [][2]string, ok bool) {
	found, links, theirs := follow(path, l.isUsers)
	return found, links, theirs == ""
}

// isUsers says whether no agent can have made a link, of this loop or another: one of the
// system, on the way to the home, right in it, or in what programs need of it.
func (l *layout) isUsers(link string) bool {
	if within(link, l.folder) || slices.ContainsFunc(l.spec.Write, func(open string) bool { return within(link, l.expand(open)) }) {
		return false
	}
	if !l.isOfHome(link) { // a loop may have been anywhere else
		return filepath.Dir(link) == "/" || within(filepath.Clean(os.Getenv("HOME")), link) || withinAny(link, system) || withinAny(link, managed)
	}
	if filepath.Dir(link) == l.home || slices.Contains(l.homes, filepath.Dir(link)) {
		return true
	}
	return slices.ContainsFunc(needs, func(n need) bool {
		return n.way != ofTheFolder && slices.ContainsFunc(n.paths, func(name string) bool {
			path := l.placeOf(name)
			return path != "" && isFixed(name) && (within(link, path) || within(path, filepath.Dir(link)))
		})
	})
}

// openPrograms opens a folder with programs, and what these need beside it.
func (l *layout) openPrograms(whose, dir string) {
	if !filepath.IsAbs(dir) {
		return
	}
	dir = filepath.Clean(dir)
	l.open(whose, asItIs, packageOf(dir))
	found, _, ok := l.follow(dir)
	if !ok {
		return
	}
	for _, name := range managers {
		if i := strings.Index(found+"/", "/"+name+"/"); i > 0 {
			l.open(whose, asItIs, found[:i+1+len(name)])
		}
	}
	l.open(whose, asItIs, packageOf(found))
	if prefix := filepath.Dir(found); l.isEmptied(found) && prefix != l.home && !slices.Contains(l.homes, prefix) &&
		prefix != filepath.Join(l.home, ".local") {
		for _, name := range beside {
			l.open(whose, asItIs, filepath.Join(prefix, name))
			if filepath.Base(prefix) == "usr" && filepath.Dir(prefix) != l.home { // of a system that was unpacked there
				l.open(whose, asItIs, filepath.Join(filepath.Dir(prefix), name))
			}
		}
	}
}

// openOfGit opens the files that the user's own configuration of git names.
func (l *layout) openOfGit() {
	out, err := gitRuns(l.folder, nil, "--global", "--includes", "--show-origin", "--type=path", "--list", "-z")
	if err != nil {
		return
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		origin, isFile := strings.CutPrefix(fields[i], "file:")
		if isFile && filepath.IsAbs(origin) {
			l.open("git", withoutLogins, origin)
		}
		switch key, value, _ := strings.Cut(fields[i+1], "\n"); key {
		case "core.excludesfile", "core.attributesfile", "core.hookspath", "commit.template", "init.templatedir",
			"blame.ignorerevsfile", "gpg.ssh.allowedsignersfile":
			if value != "" && (filepath.IsAbs(value) || strings.HasPrefix(value, "~/")) {
				l.open("git", asItIs, l.named(value))
			}
		}
	}
}

// openRepository opens the work tree that the folder is in, and the main one beside it.
func (l *layout) openRepository() {
	r, ok := findRepository(l.folder)
	if !ok {
		return
	}
	l.open("the folder's repository", asItIs, filepath.Dir(r.entry))
	if filepath.Base(r.common) == ".git" {
		l.open("the folder's repository", asItIs, filepath.Dir(r.common))
	}
}

// isClosed says whether a path is of a home, and nothing shows it inside.
func (l *layout) isClosed(path string) bool {
	isShown := func(o Opened) bool { return within(path, o.Path) || within(o.Path, path) }
	return l.isOfHome(path) && !slices.ContainsFunc(l.opened, isShown) && !l.mayWrite(path) && !within(l.folder, path)
}

// isOfHome says whether a path is in a home.
func (l *layout) isOfHome(path string) bool {
	return slices.ContainsFunc(l.homes, func(dir string) bool { return within(path, dir) && path != dir })
}

// apart are the folders of a list that are in no other one.
func apart(dirs []string) (found []string) {
	slices.SortFunc(dirs, func(a, b string) int { return len(a) - len(b) })
	for _, dir := range dirs {
		if !withinAny(dir, found) {
			found = append(found, dir)
		}
	}
	return found
}

// emptied are the homes that nothing else takes the place of.
func (l *layout) emptied() []string {
	return slices.DeleteFunc(slices.Clone(l.homes), func(dir string) bool { return dir == l.cache })
}

// forProgram is the layout with what one program needs besides.
func (l layout) forProgram(program string) *layout {
	l.opened, l.links = slices.Clone(l.opened), slices.Clone(l.links)
	l.openPrograms("the agent", filepath.Dir(program))
	l.open("the agent", asItIs, program)
	if found, _, ok := l.follow(program); ok {
		l.openPrograms("the agent", filepath.Dir(found))
	}
	slices.SortStableFunc(l.opened, func(a, b Opened) int { return len(a.Path) - len(b.Path) })
	return &l
}

// fill mounts the open parts of emptied homes and rooms. A part inside another one is there with it, and a link that
// exists can't be made.
func (l *layout) fill(p *mountList, run Run) error {
	var shown []string
	isShown := func(path string) bool { return withinAny(path, shown) }
	for _, dir := range l.emptied() {
		p.add("--perms", "0755", "--tmpfs", dir)
	}
	if l.home != "" {
		p.add("--perms", "0700", "--dir", l.home)
	}
	own := l.cacheRoot()
	if l.cache != "" {
		l.bindOwn(p, own, l.cache)
	}
	for _, o := range l.opened {
		switch {
		case isShown(o.Path), !exists(o.Path): // an update may have removed it
		case o.Way == string(withoutLogins):
			content, err := readBounded(o.Path, maxPlain)
			if err != nil {
				continue // it can't be read outside, either, or is none
			}
			if err := p.put(run, o.Path, stripLogins(content), "--ro-bind"); err != nil {
				return err
			}
		default:
			p.show(o.Path)
			shown = append(shown, o.Path)
		}
	}
	for _, link := range l.links {
		if !isShown(link[0]) {
			p.add("--symlink", link[1], link[0])
		}
	}
	for _, c := range l.own {
		isWanted := func(path string) bool { return within(c.Path, l.expand(path)) }
		switch {
		case own == "" || c.Path == l.cache || !l.isEmptied(c.Path) || slices.ContainsFunc(l.spec.Write, isWanted):
		case !isShown(c.Path):
			if at := filepath.Join(own, slug(c.Path)); os.MkdirAll(at, 0o700) == nil {
				p.add("--symlink", at, c.Path)
			}
		case exists(c.Path):
			l.bindOwn(p, own, c.Path)
		}
	}
	return nil
}

// Openings lists what there is of homes behind walls around a folder, besides the folder.
func (s Spec) Openings(folder string) ([]Opened, error) {
	p := siteOf(s, real(folder))
	if err := p.lay(); err != nil {
		return nil, err
	}
	l := p.there
	isIn := func(o, in Opened) bool { return o.Path != in.Path && within(o.Path, in.Path) && o.Way == in.Way }
	found := slices.DeleteFunc(slices.Concat(l.opened, l.own), func(o Opened) bool {
		return !l.isOfHome(o.Path) || slices.ContainsFunc(l.opened, func(in Opened) bool { return isIn(o, in) })
	})
	slices.SortStableFunc(found, func(a, b Opened) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(found, func(a, b Opened) bool { return a.Path == b.Path }), nil
}
