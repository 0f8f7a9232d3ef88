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

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/stamp"
)

// Options say how snapshots are made.
type Options struct {
	Keep    time.Duration // how long a loop's snapshots stay; 0: none are made
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

// Store has the snapshots of one loop, in parts with a job each. It is for one goroutine at a time; other processes may
// use the same snapshots.
type Store struct {
	Snapshots *Snapshots // takes them
	Diff      Diff       // compares them, and reads in them
	Review    Review     // the files that the user has reviewed
	Undoer    *Undoer    // takes back what they brought
	Checkouts Checkouts  // copies of one, for agents side by side

	in *archive
}

// storeOf is a store that has seen nothing of its folder yet.
func storeOf(in *archive) *Store {
	s := &Store{Snapshots: &Snapshots{in: in, files: indexOf(in)}, Diff: Diff{in}, Review: Review{in}, in: in}
	s.Undoer, s.Checkouts = &Undoer{in: in, snaps: s.Snapshots}, Checkouts{s.Snapshots}
	return s
}

// archive is where the snapshots of a loop are: the row of them, in our own folder and in git.
type archive struct {
	id   string
	home string // our own folder: index, books, lock
	book book
	git  git.Git
	owed int64 // bytes of the last snapshot, which the tip has only with the next one
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
		s.Snapshots.obey(o, theirs)
		_ = os.Chtimes(filepath.Join(home, bookName), time.Time{}, time.Now()) // Find goes by it
		return s, nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for snapshots: %w", err)
	}
	b := book{LoopID: loopID, Folder: folder, AsIs: o.AsIs}
	in := &archive{id: loopID, home: home, book: discover(ctx, program, b)}
	s := storeOf(in)
	s.Snapshots.obey(o, theirs)
	if err := ctx.Err(); err != nil { // git was cut off, so it said nothing of the folder
		return nil, err
	}
	if in.book.GitDir == "" {
		if err := in.useOwn(); err != nil {
			return nil, err
		}
	}
	if in.git = newGit(program, home, in.book); in.book.Own || o.AsIs {
		_, _ = in.git.Unheeded(ctx) // else the three gits of the first snapshot would each read the configuration
	} else {
		in.git.As(git.Git{Program: program, Dir: folder})
	}
	return s, in.writeBook()
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
		_, noneErr := os.Stat(filepath.Join(home, tipName)) // its time is maybe an undo's
		info, err := os.Stat(filepath.Join(home, bookName))
		if cmp.Or(noneErr, err) != nil || found != nil && !info.ModTime().After(newest) {
			continue
		}
		s, err := open(program, home)
		if err == nil && s.in.book.Folder == folder && (loopID == "" || s.in.id == loopID) {
			found, newest = s, info.ModTime()
		}
	}
	if found == nil {
		return nil, ErrNone
	}
	found.outlive()
	if _, err := os.Stat(found.in.book.GitDir); errors.Is(err, fs.ErrNotExist) && !found.in.book.Own {
		return nil, fmt.Errorf("%w any more: the repository %s is gone", ErrNone, found.in.book.GitDir)
	}
	return found, nil
}

// LoopID is the id of the loop whose snapshots these are.
func (s *Store) LoopID() string { return s.in.id }

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
	return storeOf(&archive{id: b.LoopID, home: home, book: b, git: newGit(program, home, b)}), nil
}

func (s *archive) writeBook() error {
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
func (s *archive) writeOwn(name string, data []byte) error {
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

// useOwn makes a repository of our own.
func (s *archive) useOwn() error {
	s.book.Own, s.book.Top, s.book.GitDir = true, s.book.Folder, filepath.Join(s.home, "git")
	if err := git.Init(s.book.GitDir, s.book.Folder); err != nil {
		return fmt.Errorf("making a repository for snapshots: %w", err)
	}
	return nil
}

// SaveNote stores a note of its caller's about the loop, for as long as there are snapshots. The name is a file's
// name, and none of ours.
func (s *Store) SaveNote(name string, data []byte) error { return s.in.writeOwn("note-"+name, data) }

// Note reads what was saved.
func (s *Store) Note(name string) ([]byte, error) {
	return regular.Read(filepath.Join(s.in.home, "note-"+name), regular.Long)
}
