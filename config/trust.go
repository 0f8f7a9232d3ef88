package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Opening a repository must not run its code. A folder's file that names a program, arguments or a path outside the
// folder counts only when the user said so. The answer is stored in the user's folder: a small file named by the hash
// of its subject, so that any change asks again. It holds the path, by which all answers about a file are found.

// UntrustedError says that a file in the folder wants what only a trusted one may.
type UntrustedError struct {
	File  string
	Wants []string // `backends.mine.command = "my-agent"`, ...
	// Agents: files that describe agents want to be used. File is the first of them.
	Agents bool

	runs   string   // before the keys of the agent that the file chooses: "backends.mine."
	memory string   // see Files.memory
	hashes []string // of what is wanted
	about  string   // the file by which all that was said of it is found
}

func (e *UntrustedError) Error() string {
	if e.Agents {
		return "the folder's files for agents are not trusted yet; they say\n  " + strings.Join(e.Lines(), "\n  ")
	}
	return fmt.Sprintf("%s is not trusted yet; it says\n  %s", stream.Sanitize(e.File), strings.Join(e.Lines(), "\n  "))
}

// Remember trusts what the file wants, as it was read.
func (e *UntrustedError) Remember() error {
	if err := caller.Check(caller.Trust); err != nil {
		return err
	}
	if e.memory == "" {
		return errors.New("there is no folder of your configuration to remember it in; set HOME")
	}
	for _, hash := range e.hashes {
		if err := remember(e.memory, hash, e.about); err != nil {
			return err
		}
	}
	return nil
}

// untrusted is the error for what a folder's file wants.
func (f Files) untrusted(file source, wants []string) *UntrustedError {
	return &UntrustedError{File: file.name, Wants: wants, memory: f.memory(), hashes: []string{file.hash()}, about: file.name}
}

// Planted is a file that the folder brought along, and that wants to be used.
type Planted struct {
	File string
	Data []byte
	Want string // its purpose, in one line
}

// CheckAgents returns an *UntrustedError for the files with agents that the user doesn't trust as they are. Answers
// about them are forgotten together with those about the folder's file.
func (f Files) CheckAgents(files []Planted) error {
	e := &UntrustedError{Agents: true, memory: f.memory(), about: filepath.Join(f.Folder, Name)}
	for _, p := range files {
		file := source{name: p.File, data: p.Data}
		if f.trusts(file) {
			continue
		}
		e.File = cmp.Or(e.File, p.File)
		e.Wants, e.hashes = append(e.Wants, p.Want), append(e.hashes, file.hash())
	}
	if len(e.hashes) == 0 {
		return nil
	}
	return e
}

// trusts says whether the user trusts the folder's file as it is. In a worktree of
// ours, the file is trusted if its content would be trusted in the repository.
func (f Files) trusts(file source) bool {
	if f.Trusted || f.remembers(file.hash()) {
		return true
	}
	rel, err := filepath.Rel(f.Folder, file.name)
	if f.Origin == "" || err != nil || !filepath.IsLocal(rel) || file.target != "" {
		return false
	}
	file.name = filepath.Join(f.Origin, rel)
	return f.remembers(file.hash())
}

// demands are the lines of a folder's file that keep loops from starting before
// it is trusted.
func demands(folder, user map[string]any) []string {
	var wants []string
	for _, l := range leaves(folder) {
		if l.demandsTrust(user) {
			wants = append(wants, l.line())
		}
	}
	return wants
}

// line is the value as it would stand in a file.
func (l leaf) line() string { return strings.Join(l.path, ".") + " = " + text(l.value) }

// demandsTrust says whether no loop may start with the value before its file is
// trusted. An empty list demands nothing unless it takes away arguments of the user's.
func (l leaf) demandsTrust(user map[string]any) bool {
	if list, ok := l.value.([]any); ok && len(list) == 0 {
		own, _ := at(user, l.path...).([]any)
		return l.key.Yields == settings.Demands && len(own) > 0
	}
	return l.key.Yields == settings.Demands || l.key.Name() == "prompt_file" && leadsOut(l.value.(string))
}

// RememberRun takes down that the user started a program with arguments in the
// folder: it may be continued from a state file, which anybody can write.
func (f Files) RememberRun(backend string, args []string) error {
	return f.remember(f.runHash(backend, args), f.Folder)
}

// CheckRun returns an *UntrustedError for a program with arguments that a file
// names and that RememberRun wasn't told of, and for flags that name agents for it.
func (f Files) CheckRun(file, backend string, args []string, agents ...string) error {
	hash := f.runHash(backend, args)
	if len(agents) > 0 {
		hash = fingerprint(append([]string{"agents", hash}, agents...)...)
	}
	if f.Trusted || f.remembers(hash) {
		return nil
	}
	wants := []string{"backend = " + text(backend)}
	for _, flags := range agents {
		wants = append(wants, "agents = "+text(flags))
	}
	if len(args) > 0 {
		wants = append(wants, "backend_args = "+text(args))
	}
	return &UntrustedError{File: file, Wants: wants, memory: f.memory(), hashes: []string{hash}, about: file}
}

// started is a loop as it is remembered that the user has started.
type started struct {
	ID string `json:"id"`
	verify.Check
	Mark string `json:"mark,omitempty"` // of the reviewer's hat
}

// RememberLoop stores which loop the user started last in the folder, and how its promises are verified: the state
// file's word on that is then the user's, and an agent that changes that or the folder's file changes nothing about
// the verification. mark tells the reviewer's hat from another one of its name.
func (f Files) RememberLoop(id string, check verify.Check, mark string) error {
	said, err := json.Marshal(started{id, check, mark})
	if err != nil {
		return fmt.Errorf("remembering a loop: %w", err)
	}
	return f.remember(f.loopHash(), f.Folder+"\n"+string(said))
}

// startOf is what RememberLoop was told of a loop.
func (f Files) startOf(id string) (was started, ok bool) {
	about, _ := f.recall(f.loopHash())
	lines := strings.Split(strings.TrimSuffix(about, "\n"), "\n") // a folder's name may have line breaks
	ok = json.Unmarshal([]byte(lines[len(lines)-1]), &was) == nil && was.ID == id && id != ""
	if !ok {
		return started{}, false
	}
	return was, true
}

// KnowsLoop says whether RememberLoop was told of a loop, or the folder is
// trusted. A state file that anybody may have written names others.
func (f Files) KnowsLoop(id string) bool { return f.Trusted || f.HasStarted(id) }

// HasStarted says whether RememberLoop was told of a loop.
func (f Files) HasStarted(id string) bool {
	_, ok := f.startOf(id)
	return ok
}

// CheckOf is how the promises of a loop are verified, as RememberLoop was told; the zero value is nothing.
func (f Files) CheckOf(id string) (check verify.Check, mark string) {
	was, _ := f.startOf(id)
	return was.Check, was.Mark
}

func (f Files) loopHash() string { return fingerprint("loop", paths.Real(f.Folder)) }

func (f Files) runHash(backend string, args []string) string {
	return fingerprint(append([]string{"run", paths.Real(f.Folder), backend}, args...)...)
}

func (f Files) remembers(hash string) bool {
	_, ok := f.recall(hash)
	return ok
}

// Forget makes the folder's file untrusted again, in all versions. known says that it was trusted once.
func (f Files) Forget() (known bool, err error) {
	name := filepath.Join(f.Folder, Name)
	names := []string{inRealFolder(name)}
	if f.Origin != "" {
		names = append(names, inRealFolder(filepath.Join(f.Origin, Name)))
	}
	for _, dir := range f.memories() {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return known, fmt.Errorf("forgetting that %s is trusted: %w", name, err)
		}
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			about, err := regular.Read(path, regular.Short)
			if err != nil || !slices.Contains(names, inRealFolder(strings.TrimSuffix(string(about), "\n"))) {
				continue // another's
			}
			if err := os.Remove(path); err != nil {
				return known, fmt.Errorf("forgetting that %s is trusted: %w", name, err)
			}
			known = true
		}
	}
	return known, nil
}

// fingerprint is a hash that no other parts have.
func fingerprint(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// memories are the folders with what is trusted.
func (f Files) memories() (dirs []string) {
	for _, dir := range []string{f.OwnDir, f.UserDir} {
		if dir != "" {
			dirs = append(dirs, filepath.Join(dir, "trusted"))
		}
	}
	return dirs
}

// Trusting is a file that says what is trusted, of a loop, a file or a program.
type Trusting struct {
	paths.File
	About string // begins with the path of that, or of its folder
}

// Remembered lists all that the user trusts.
func (f Files) Remembered() (all []Trusting) {
	for _, dir := range f.memories() {
		for _, file := range paths.Newest(dir, "*") {
			if about, err := paths.ReadOwn(file.Path, 64<<10); err == nil {
				all = append(all, Trusting{file, string(about)})
			}
		}
	}
	return all
}

// memory is the one of them in which more is remembered; "" is none.
func (f Files) memory() string { return append(f.memories(), "")[0] }

// recall is what was remembered with a hash.
func (f Files) recall(hash string) (about string, ok bool) {
	for _, dir := range f.memories() {
		if about, err := regular.Read(filepath.Join(dir, hash), regular.Short); err == nil {
			return string(about), true
		}
	}
	return "", false
}

// remember takes down a hash, where there is a place for that, with what it is about.
func (f Files) remember(hash, about string) error {
	if f.memory() == "" {
		return nil
	}
	return remember(f.memory(), hash, about)
}

// remember makes the file of a hash; the path of what it is about stands in it.
func remember(memory, hash, about string) error {
	if err := paths.WriteOwn(filepath.Join(memory, hash), []byte(about+"\n"), false); err != nil {
		return fmt.Errorf("remembering what is trusted: %w", err)
	}
	return nil
}

// inRealFolder is the path of a file, which may be gone, in the real path of its folder.
func inRealFolder(path string) string {
	return filepath.Join(paths.Real(filepath.Dir(path)), filepath.Base(path))
}

// source is a folder's file as it was read.
type source struct {
	name   string
	target string // where it leads out of the folder, "" when it doesn't
	data   []byte
}

// hash changes with all that makes the file mean something else. A program's path in
// it is relative to the folder, wherever a link leads.
func (s source) hash() string {
	parts := []string{"file", inRealFolder(s.name), string(s.data)}
	if s.target != "" {
		parts = append(parts, s.target)
	}
	return fingerprint(parts...)
}

// readFolder reads the folder's file. One that is a link out of the folder is
// a stranger's choice of what is read.
func (f Files) readFolder() (file source, err error) {
	file.name = filepath.Join(f.Folder, Name)
	if target, err := filepath.EvalSymlinks(file.name); err == nil {
		if rel, err := filepath.Rel(paths.Real(f.Folder), target); err != nil || leadsOut(rel) {
			file.target = target
		}
	}
	file.data, err = readFile(file.name)
	return file, err
}
