package git

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// A repository's configuration may be anybody's: an agent makes a repository in the folder that it works in, a
// stranger's folder brings one along. So no program runs that only the repository names. Programs of the user's and
// the system's configuration do.

// programs are the keys whose values git, or a filter that it runs, takes for programs: by their
// section, the last words of their names; nil for all.
var programs = map[string][]string{
	"alias": nil, "credential": nil, "difftool": nil, "gpg": nil, "guitool": nil, "hook": nil, "mergetool": nil, "pager": nil,
	"core":        {"alternaterefscommand", "askpass", "editor", "fsmonitor", "gitproxy", "hookspath", "pager", "sshcommand"},
	"diff":        {"command", "external", "textconv"},
	"filter":      {"clean", "process", "smudge"},
	"interactive": {"difffilter"},
	"lfs":         {"args", "clean", "path", "smudge", "standalonetransferagent"},
	"merge":       {"driver"},
	"remote":      {"receivepack", "uploadpack", "vcs"},
	"sequence":    {"editor"},
	"tar":         {"command"},
	"trailer":     {"cmd", "command"},
	"uploadpack":  {"packobjectshook"},
}

// runs says whether a key, as git prints it, names a program.
func runs(key string) bool {
	section, rest, _ := strings.Cut(key, ".")
	names, ok := programs[section]
	return ok && (names == nil || slices.Contains(names, rest[strings.LastIndexByte(rest, '.')+1:]))
}

// nothing is what a key says instead. A merge that does nothing would say that it went well.
func nothing(key string) string {
	if strings.HasPrefix(key, "merge.") {
		return "false"
	}
	return ""
}

// unheeded is what a repository's configuration names and doesn't run.
type unheeded struct {
	keys []string
	env  []string // that says so to git
	seen string   // how the files were that it was read from; "" to read it each time
}

var (
	words   = map[string]unheeded{} // by whose git it is; guarded by wordsMu
	wordsMu sync.Mutex
)

// Unheeded names what of the repository's configuration doesn't run, as nobody but it names it.
func (g Git) Unheeded(ctx context.Context) ([]string, error) {
	u, err := g.unheeded(ctx)
	return u.keys, err
}

// unheeded reads the configuration once, and again when its files have changed: snapshots would start twice as many
// gits otherwise.
func (g Git) unheeded(ctx context.Context) (unheeded, error) {
	whose, seen := g.whose(), g.seen()
	wordsMu.Lock()
	known, ok := words[whose]
	wordsMu.Unlock()
	if ok && known.seen == seen {
		return known, nil
	}
	out, err := g.Config(ctx, nil, "--list", "-z", "--show-scope")
	if err != nil {
		return unheeded{}, err
	}
	u, isWhole := g.sift(Fields(out))
	if err := g.try(ctx, u); err != nil {
		return u, err
	}
	if u.seen = seen; !isWhole {
		u.seen = ""
	}
	wordsMu.Lock()
	words[whose] = u
	wordsMu.Unlock()
	return u, nil
}

// whose tells apart what may have different configurations.
func (g Git) whose() string {
	whose := fmt.Sprintf("%s\x00%s\x00%t%t", g.Program, g.Dir, g.NoFilters, g.AsUser)
	for _, kv := range g.Env {
		if name, _, _ := strings.Cut(kv, "="); name != "GIT_INDEX_FILE" && name != "GIT_OBJECT_DIRECTORY" && name != "GIT_LITERAL_PATHSPECS" {
			whose += "\x00" + kv
		}
	}
	return whose
}

func (g Git) seen() string {
	gitDir := ""
	for _, kv := range g.Env {
		if dir, ok := strings.CutPrefix(kv, "GIT_DIR="); ok {
			gitDir = dir
		}
	}
	return lookAt(g.Dir, gitDir)
}

// As makes g use the configuration that other has read; both work in the same repository.
func (g Git) As(other Git) {
	seen, now := g.seen(), other.seen()
	wordsMu.Lock()
	defer wordsMu.Unlock()
	if known, ok := words[other.whose()]; ok && known.seen == now { // then it is as it was before seen
		known.seen = seen
		words[g.whose()] = known
	}
}

// try sees to it that git understands what it is told: one before 2.31 doesn't.
func (g Git) try(ctx context.Context, u unheeded) error {
	if len(u.keys) == 0 {
		return nil
	}
	out, err := g.With(u.env...).Config(ctx, nil, "--list", "-z", "--show-scope")
	if err == nil && !strings.Contains(string(out), "command\x00"+u.keys[0]+"\n") {
		err = fmt.Errorf("the repository's configuration names programs (%s), and this git is too old to be kept from running them", u.keys[0])
	}
	return err
}

// sift reads what git lists: "scope", "key\nvalue". It is whole unless more files belong to it.
func (g Git) sift(list []string) (u unheeded, isWhole bool) {
	said, theirs := map[string][]string{}, map[string]bool{}
	isWhole = true
	for ; len(list) > 1; list = list[2:] {
		key, value, hasValue := strings.Cut(list[1], "\n")
		if !hasValue {
			value = "true"
		}
		isRepos := list[0] == "local" || list[0] == "worktree"
		isWhole = isWhole && !(isRepos && strings.HasPrefix(key, "include"))
		switch isFilter := g.NoFilters && strings.HasPrefix(key, "filter."); {
		case isFilter, isRepos && runs(key):
			theirs[key] = true
		case !isRepos:
			said[key] = append(said[key], value)
		}
	}
	u.keys = slices.Sorted(maps.Keys(theirs))
	given, _ := strconv.Atoi(g.Given("GIT_CONFIG_COUNT")) // the user's variables come first
	set := func(key, value string) {
		n := given + len(u.env)/2
		u.env = append(u.env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
	}
	for _, key := range u.keys {
		set(key, nothing(key))
		for _, value := range said[key] {
			set(key, value)
		}
	}
	u.env = append(u.env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", given+len(u.env)/2))
	return u, isWhole
}

// lookAt is how the files are that say which repository git finds for a folder, and what is set there.
func lookAt(dir, gitDir string) string {
	var seen strings.Builder
	look := func(path string) (info fs.FileInfo) {
		if info, _ = os.Stat(path); info != nil { // else it isn't there
			fmt.Fprintf(&seen, "%s %o %d %d %v\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano(), fileNumber(info))
		}
		return info
	}
	lookIn := func(repo string) {
		for _, name := range []string{"HEAD", "config", "config.worktree"} {
			look(filepath.Join(repo, name))
		}
		if look(filepath.Join(repo, "commondir")) != nil {
			look(filepath.Join(CommonOf(repo), "config"))
		}
	}
	if gitDir != "" {
		lookIn(gitDir)
		return seen.String()
	}
	dir, err := filepath.Abs(dir)
	for ; err == nil; dir = filepath.Dir(dir) {
		lookIn(dir) // one without a work tree
		entry := filepath.Join(dir, ".git")
		if info := look(entry); info != nil && info.IsDir() {
			lookIn(entry)
		} else if repo := linkedFrom(entry); info != nil && repo != "" {
			lookIn(repo)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return seen.String()
}

// linkedFrom is the repository that a file .git names, "" for none.
func linkedFrom(entry string) string {
	link, err := regular.Read(entry, regular.Short)
	if path, ok := strings.CutPrefix(string(link), "gitdir: "); err == nil && ok {
		return at(filepath.Dir(entry), path)
	}
	return ""
}

// CommonOf is the repository that one of a worktree is a part of; else itself.
func CommonOf(repo string) string {
	if common, err := regular.Read(filepath.Join(repo, "commondir"), regular.Short); err == nil {
		return at(repo, string(common))
	}
	return repo
}

// at is a path as git writes it into a file, which may be relative to dir.
func at(dir, path string) string {
	if path = strings.TrimRight(path, "\r\n"); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
