package changes

import (
	"cmp"
	"context"
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
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/changes/stamp"
	"github.com/ralph-lsp/ralph-lsp/changes/survey"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Options say how snapshots are made.
type Options struct {
	Keep    time.Duration // how long those of a loop stay; 0: none are made
	MaxFile int64         // bytes; a larger file is only noted. 0: no limit
	MaxKept int64         // bytes that a loop keeps at most; see bound.go for what stays. 0: no limit
	Skip    []string      // beginnings of paths in the folder that are nobody's work
	Hidden  []string      // files and folders in it that agents may not read, as they may snapshots
	Dir     string        // where the books are; "" is the user's state folder
	AsIs    bool          // they have files byte for byte, through no filter
}

// Printed finds the files that whoever runs the loop prints into; they are nobody's work. May be nil.
type Printed func() []os.FileInfo

// Check says why no snapshots can be made on this machine.
func (o Options) Check() error {
	_, _, err := o.find()
	return err
}

// Errors of Create and Find.
var (
	ErrNoGit = git.ErrMissing
	ErrNone  = errors.New("no snapshots are kept of a loop here")
)

// Store has the snapshots of one loop. It is for one goroutine at a time; other processes may use
// the same snapshots. Its own part is the way back: undo, redo and what the user keeps. Three
// embedded layers do the rest.
type Store struct{ shots }

// storeOf is a store that has seen nothing of its folder yet.
func storeOf(k kept) *Store { return &Store{shots{views: views{k}, deferred: map[string]bool{}}} }

// shots take snapshots of the folder.
type shots struct {
	views
	seen  look   // the folder as it was before the last look of git's
	left  uint64 // what that has left out
	blind bool   // and some of it can't be summed up
	large bool   // it has too many entries for a stamp

	isQuick bool // one git looks at it fast enough

	findPrinted Printed
	printed     printed // as found for this snapshot

	Survey   *survey.Survey  // is told how far the first snapshot is; nil: nobody asks
	most     int64           // bytes that the loop keeps at most; 0: any number
	owed     int64           // of the last snapshot, which the tip has only with the next one
	aside    map[string]bool // what was left out once; nil: not read yet
	deferred map[string]bool // what was left out by the last look for want of room
	below    below
	isDark   bool            // a repository below the folder is in no snapshot and too large to be looked at
	theirs   map[string]bool // files that this snapshot doesn't look at, as they are the user's
	isFinal  bool            // nothing comes behind this snapshot: it takes what is deferred
	takesAll bool            // it needs all, as somebody undoes something
}

// obey has the snapshots made as o says.
func (s *shots) obey(o Options, theirs Printed) {
	s.book.Skip, s.book.Hidden, s.book.MaxFile = o.Skip, o.Hidden, o.MaxFile
	s.findPrinted, s.most = theirs, o.MaxKept
}

// views compare snapshots, and read in them.
type views struct{ kept }

// kept is where the snapshots of a loop are, and what is known of them.
type kept struct {
	id   string
	home string // our own folder: index, books, lock
	book book
	git  git.Git

	// MayWrite is asked before an undo or a redo, even a dry run, begins, while
	// whoever calls Await waits. Its error is theirs; nil: they always may.
	MayWrite func() error
}

// look is the folder as it was at a snapshot.
type look struct {
	stamp.Stamp
	tip tip // that had it so
}

// look makes a stamp of the folder, but for files that are printed into.
func (b book) look(but printed) (s stamp.Stamp, isLarge bool) {
	return stamp.Of(b.Folder, func(path, name string) bool { return filepath.Base(path) == ".git" || b.skips(name) || but.has(path) })
}

// book says where a loop's snapshots are. It is written once.
type book struct {
	LoopID  string   `json:"loopId"`
	Folder  string   `json:"folder"`
	Top     string   `json:"top"`    // the work tree; Folder is in it
	GitDir  string   `json:"gitDir"` // the repository
	Own     bool     `json:"own"`    // GitDir is ours
	Skip    []string `json:"skip,omitempty"`
	Hidden  []string `json:"hidden,omitempty"`
	MaxFile int64    `json:"maxFile"`
	AsIs    bool     `json:"asIs,omitempty"`
	Below   []string `json:"below,omitempty"` // repositories below the folder whose files the snapshots have, by path in it
}

const bookName = "book.json" // its time is that at which the loop began, or was taken up

// prefix leads from the work tree to the folder, "" or with a slash behind.
func (b book) prefix() string {
	rel, err := filepath.Rel(b.Top, b.Folder)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

// skips says whether a path in the folder is nobody's work.
func (b book) skips(path string) bool {
	for _, beginning := range b.Skip {
		if strings.HasPrefix(path+"/", beginning) { // "notes/" is a file of that name, too
			return true
		}
	}
	return slices.ContainsFunc(b.Hidden, func(hidden string) bool { return path == hidden || strings.HasPrefix(path, hidden+"/") })
}

// fits says whether a loop's id may be a part of refs and of file names. It is no
// regular expression: to compile one costs each start of the program 0.1 ms.
func fits(id string) bool {
	isPart := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	return len(id) > 0 && len(id) <= 64 && !strings.ContainsRune("_-", rune(id[0])) &&
		!strings.ContainsFunc(id, func(r rune) bool { return !isPart(r) })
}

// find finds the git program and the folder of the books.
func (o Options) find() (program, dir string, err error) {
	if program, err = git.Find(); err != nil {
		return "", "", err
	}
	if dir = o.Dir; dir == "" {
		dir, err = paths.State("changes")
	}
	return program, dir, err
}

// Create opens the snapshots of a loop, or prepares them. The folder is looked
// at by the first Take.
//
// Errors: ErrNoGit, and what the system says.
func Create(ctx context.Context, folder, loopID string, o Options, theirs Printed) (*Store, error) {
	if !fits(loopID) {
		return nil, fmt.Errorf("the loop's id %q can't name its snapshots", loopID)
	}
	program, dir, err := o.find()
	if err != nil {
		return nil, err
	}
	folder = paths.Real(folder)
	if own, err := filepath.Rel(folder, paths.Real(dir)); err == nil && filepath.IsLocal(own) {
		o.Skip = append(o.Skip, filepath.ToSlash(own)+"/") // the folder is the user's home, say
	}
	home := filepath.Join(dir, homeName(loopID, folder))
	if s, err := open(program, home); err == nil {
		s.obey(o, theirs)
		_ = os.Chtimes(filepath.Join(home, bookName), time.Time{}, time.Now()) // Find goes by it
		return s, nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for snapshots: %w", err)
	}
	b := book{LoopID: loopID, Folder: folder, AsIs: o.AsIs}
	s := storeOf(kept{id: loopID, home: home, book: discover(ctx, program, b)})
	s.obey(o, theirs)
	if err := ctx.Err(); err != nil { // git was cut off, so it said nothing of the folder
		return nil, err
	}
	if s.book.GitDir == "" {
		if err := s.useOwn(); err != nil {
			return nil, err
		}
	}
	if s.git = newGit(program, home, s.book); s.book.Own || o.AsIs {
		_, _ = s.git.Unheeded(ctx) // else the three gits of the first snapshot would each read the configuration
	} else {
		s.git.As(git.Git{Program: program, Dir: folder})
	}
	return s, s.writeBook()
}

// homeName tells the copies of a folder apart: their state files name the same loop.
func homeName(loopID, folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return loopID + "-" + hex.EncodeToString(sum[:6])
}

// Find opens the snapshots of a loop in a folder. An empty id means the loop that was there last.
//
// Errors: ErrNoGit, ErrNone, and what the system says.
func Find(folder, loopID string, o Options) (*Store, error) {
	program, dir, err := o.find()
	if err != nil {
		return nil, err
	}
	folder = paths.Real(folder)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for snapshots: %w", err)
	}
	var found *Store
	var newest time.Time
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), homeName("", folder)) { // there may be thousands, of other folders
			continue
		}
		home := filepath.Join(dir, entry.Name())
		_, noneErr := os.Stat(filepath.Join(home, tipName)) // whose time is that of an undo, maybe
		info, err := os.Stat(filepath.Join(home, bookName))
		if cmp.Or(noneErr, err) != nil || found != nil && !info.ModTime().After(newest) {
			continue
		}
		s, err := open(program, home)
		if err == nil && s.book.Folder == folder && (loopID == "" || s.id == loopID) {
			found, newest = s, info.ModTime()
		}
	}
	if found == nil {
		return nil, ErrNone
	}
	found.outlive(program)
	if _, err := os.Stat(found.book.GitDir); errors.Is(err, fs.ErrNotExist) && !found.book.Own {
		return nil, fmt.Errorf("%w any more: the repository %s is gone", ErrNone, found.book.GitDir)
	}
	return found, nil
}

// LoopID is the id of the loop whose snapshots these are.
func (s *kept) LoopID() string { return s.id }

func open(program, home string) (*Store, error) {
	data, err := regular.Read(filepath.Join(home, bookName), regular.Long)
	if err != nil {
		return nil, err
	}
	var b book
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("reading %s: %w", bookName, err)
	}
	if !fits(b.LoopID) || b.GitDir == "" {
		return nil, fmt.Errorf("reading %s: it is incomplete", bookName)
	}
	return storeOf(kept{id: b.LoopID, home: home, book: b, git: newGit(program, home, b)}), nil
}

func (s *kept) writeBook() error {
	data, err := json.Marshal(s.book)
	if err == nil {
		err = s.writeOwn(bookName, data)
	}
	if err != nil {
		return fmt.Errorf("writing the snapshots' book: %w", err)
	}
	return nil
}

// writeOwn replaces a file of our own.
func (s *kept) writeOwn(name string, data []byte) error {
	path := filepath.Join(s.home, name)
	if err := regular.Write(path+".new", data, 0o600); err != nil {
		return err
	}
	return paths.Rename(path+".new", path)
}

// discover finds the folder's repository. It stays out of one that ignores the folder: nothing
// would be seen. Filters that only the repository names don't run, so it stays out of one
// that has some: files would be kept as git keeps none there.
func discover(ctx context.Context, program string, b book) book {
	g := git.Git{Program: program, Dir: b.Folder}
	var names []string
	var err error
	var reading sync.WaitGroup
	reading.Go(func() { names, err = g.Unheeded(ctx) })
	lines, layoutErr := g.Layout(ctx)
	reading.Wait()
	if layoutErr != nil || len(lines) != 3 || lines[0] != "true" {
		return b
	}
	if err != nil || slices.ContainsFunc(names, func(key string) bool { return strings.HasPrefix(key, "filter.") }) {
		return b
	}
	found := b
	found.Top, found.GitDir = paths.Real(filepath.FromSlash(lines[1])), filepath.FromSlash(lines[2])
	if prefix := found.prefix(); prefix != "" {
		if !filepath.IsLocal(prefix) {
			return b
		}
		if _, err := g.Run(ctx, nil, "check-ignore", "-q", "."); err == nil {
			return b
		}
	}
	return found
}

// useOwn makes a repository of our own. No git is needed for that, and no
// template of the user's gets into it. Files go in and out as they are.
func (s *kept) useOwn() error {
	dir := filepath.Join(s.home, "git")
	s.book.Own, s.book.Top, s.book.GitDir = true, s.book.Folder, dir
	for _, sub := range []string{"objects", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return fmt.Errorf("making a repository for snapshots: %w", err)
		}
	}
	for name, text := range map[string]string{
		"HEAD":            "ref: refs/heads/none\n",
		"config":          fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tautocrlf = false\n\tignoreCase = %t\n", ignoresCase(s.book.Folder)),
		"info/attributes": "* -text -filter -ident -working-tree-encoding\n",
	} {
		if err := regular.Write(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("making a repository for snapshots: %w", err)
		}
	}
	return nil
}

// ignoresCase says whether the same file has names in capitals and in small
// letters. It asks with what is there: nothing is written to the folder.
func ignoresCase(dir string) bool {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		name := entry.Name()
		other := strings.ToUpper(name)
		if other == name {
			other = strings.ToLower(name)
		}
		if other == name {
			continue
		}
		one, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		two, err := os.Lstat(filepath.Join(dir, other))
		return err == nil && os.SameFile(one, two)
	}
	return false
}

// SaveNote keeps what its caller has to remember of the loop, for as long as there
// are snapshots. The name is that of a file, and none of ours.
func (s *kept) SaveNote(name string, data []byte) error { return s.writeOwn("note-"+name, data) }

// Note reads what was saved.
func (s *kept) Note(name string) ([]byte, error) {
	return regular.Read(filepath.Join(s.home, "note-"+name), regular.Long)
}
