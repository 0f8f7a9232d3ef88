package answers

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// ChangesResult is what changed in a loop's folder, whoever changed it.
type ChangesResult struct {
	LoopID     string             `json:"loopId"`
	Folder     string             `json:"folder"`
	From       int                `json:"from"`
	To         *int               `json:"to,omitempty"`
	Files      []ChangedFile      `json:"files"`
	More       bool               `json:"more,omitempty"` // there are more files, behind the last one
	Text       string             `json:"text"`           // "4 files, +12 -3", of all
	Class      wire.Class         `json:"class"`
	Reviewed   int                `json:"reviewed,omitempty"` // how many of all the user has kept
	Iterations []ChangedIteration `json:"iterations"`         // of the range, that changed something
}

// ChangedFile is a file that changed. Paths are relative to the loop's folder,
// as PathText writes them.
type ChangedFile struct {
	Path    string         `json:"path"`
	URI     string         `json:"uri"`
	Status  changes.Status `json:"status"`
	From    string         `json:"from,omitempty"` // its path before, when it was renamed
	FromURI string         `json:"fromUri,omitempty"`
	Added   int            `json:"added"`
	Removed int            `json:"removed"`
	Binary  bool           `json:"binary,omitempty"`
	Kept    bool           `json:"kept,omitempty"` // the user has reviewed it as it is
	Last    bool           `json:"last,omitempty"` // no later iteration changed it: what came of it is in the folder
	Text    string         `json:"text"`           // "+3 -1", "binary", "mode"
	Places  []ChangedPlace `json:"places,omitempty"`
}

// ChangedPlace is where a file changed.
type ChangedPlace struct {
	Line int    `json:"line"` // in the file as it is now, from 1
	Text string `json:"text"` // "+2 -1 func main() {", or what became of the file
}

// ChangedIteration is how much an iteration changed.
type ChangedIteration struct {
	Iteration int `json:"iteration"`
	changes.Summary
	Text string `json:"text"`
}

// MaxChangedFiles is how many files an answer has at most.
const MaxChangedFiles = 5000

// ChangesOf is a page of what changed: the files behind the path after.
func ChangesOf(p wire.ChangesParams, folder string, files []changes.File, iterations []changes.Iteration) ChangesResult {
	sum := changes.Sum(files)
	r := ChangesResult{Folder: wire.FileURI(folder), From: p.From, To: p.To, Files: []ChangedFile{}, Text: SumText(sum),
		Class: wire.ClassInfo, Iterations: []ChangedIteration{}}
	begun := p.After == ""
	for _, f := range files {
		if f.Kept {
			r.Reviewed++
		}
		switch {
		case !begun:
			begun = PathText(f.Path) == p.After
		case len(r.Files) == MaxChangedFiles:
			r.More = true
		default:
			r.Files = append(r.Files, changedFile(folder, f))
		}
	}
	for _, it := range iterations {
		r.Iterations = append(r.Iterations, ChangedIteration{it.Number, it.Summary, SumText(it.Summary)})
	}
	return r
}

func changedFile(folder string, f changes.File) ChangedFile {
	shown := ChangedFile{
		Path: PathText(f.Path), URI: wire.FileURI(filepath.Join(folder, filepath.FromSlash(f.Path))), Status: f.Status,
		Added: f.Added, Removed: f.Removed, Binary: f.Binary, Kept: f.Kept, Last: f.Last, Text: FileText(f),
	}
	if f.From != "" {
		shown.From, shown.FromURI = PathText(f.From), wire.FileURI(filepath.Join(folder, filepath.FromSlash(f.From)))
	}
	return shown
}

// maxPlaces is how many places an answer has at most, beside one for each file.
const maxPlaces = 10_000

// AddPlaces tells where the files changed; each has a place at least.
func (r *ChangesResult) AddPlaces(found map[string][]changes.Place) {
	byText := map[string][]changes.Place{}
	for path, places := range found {
		byText[PathText(path)] = places
	}
	room := maxPlaces
	for i := range r.Files {
		f := &r.Files[i]
		places := byText[f.Path]
		for _, p := range places[:min(len(places), room)] {
			f.Places = append(f.Places, ChangedPlace{p.Line, wire.OneLine(wire.CountsText(p.Added, p.Removed) + " " + p.Text)})
		}
		if room -= len(f.Places); len(f.Places) == 0 {
			f.Places = []ChangedPlace{{1, f.fate()}}
		}
	}
}

// fate says what became of a file.
func (f ChangedFile) fate() string {
	switch f.Status {
	case changes.Renamed:
		return "renamed from " + wire.OneLine(f.From)
	case changes.Added, changes.Deleted:
		return string(f.Status) + " " + f.Text
	}
	return f.Text
}

// FileText says how much a file changed: "+3 -1", "binary", "mode".
func FileText(f changes.File) string {
	switch {
	case f.Binary:
		return "binary"
	case f.Status == changes.Mode:
		return "mode"
	}
	return wire.CountsText(f.Added, f.Removed)
}

// SumText says how much changed: "4 files, +12 -3".
func SumText(sum changes.Summary) string {
	if sum.Files == 0 {
		return "nothing changed"
	}
	return format.Counted(sum.Files, "file") + ", " + wire.CountsText(sum.Added, sum.Removed)
}

// PathText is a path as text: one that isn't UTF-8, or that begins with a quote,
// stands in quotes with octal escapes, as git writes it.
func PathText(path string) string {
	if utf8.ValidString(path) && !strings.HasPrefix(path, `"`) {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// PathFrom is the path that PathText has written.
func PathFrom(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	path, err := strconv.Unquote(text)
	if err != nil {
		return "", fmt.Errorf("%s begins with a quote, but isn't quoted as git does", text)
	}
	return path, nil
}

// PathsFrom are the paths that PathText has written.
func PathsFrom(texts []string) (paths []string, err error) {
	for _, text := range texts {
		path, err := PathFrom(text)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func pathTexts(paths []string) []string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = PathText(path)
	}
	return texts
}

// FileParams is the argument of ralph.loop.file: a file as it was after an
// iteration, or as one has found it. With neither it is as the user has kept it
// last, else as it was before the loop.
type FileParams struct {
	wire.LoopParams
	Iteration *int   `json:"iteration,omitempty"` // 0: before the loop
	Before    *int   `json:"before,omitempty"`
	Path      string `json:"path"`
}

// FileResult is a file's content: as text where it is UTF-8 without NUL.
type FileResult struct {
	Text   *string `json:"text,omitempty"`
	Base64 []byte  `json:"base64,omitempty"`
	Absent bool    `json:"absent,omitempty"` // there was no such file
}

// FileOf is the content of a file.
func FileOf(c changes.Content) FileResult {
	text := string(c.Data)
	switch {
	case c.Absent:
		return FileResult{Absent: true}
	case utf8.ValidString(text) && !strings.ContainsRune(text, 0):
		return FileResult{Text: &text}
	}
	return FileResult{Base64: c.Data}
}

// UndoParams is the argument of ralph.loop.undo: one iteration, or one and all
// behind it.
type UndoParams struct {
	wire.LoopParams
	Iteration int      `json:"iteration,omitempty"`
	Since     int      `json:"since,omitempty"`
	Paths     []string `json:"paths,omitempty"`
	DryRun    bool     `json:"dryRun,omitempty"` // nothing is written, and nobody asked
	Merge     bool     `json:"merge,omitempty"`  // texts that both changed in one place get conflict markers
}

// RedoParams is the argument of ralph.loop.redo.
type RedoParams struct {
	wire.LoopParams
	DryRun bool `json:"dryRun,omitempty"` // nothing is written
}

// UndoResult is what became of an undo or a redo.
type UndoResult struct {
	Undone  []string       `json:"undone"`           // paths
	Merged  []string       `json:"merged,omitempty"` // have both sides now, between conflict markers
	Refused []RefusedFile  `json:"refused"`          // were left as they are
	Text    string         `json:"text"`
	Class   wire.Class     `json:"class"`
	Offers  []wire.Command `json:"offers,omitempty"`
}

// RefusedFile is a file that was left as it is.
type RefusedFile struct {
	Path   string         `json:"path"`
	Reason string         `json:"reason"` // a part of a sentence
	Text   string         `json:"text"`
	Offers []wire.Command `json:"offers,omitempty"`
}

// UndoneBy tells what became of an undo, and what can be done then: to take it
// back, and to merge a file that both sides changed in the same place. p names
// its loop and its folder.
func UndoneBy(p UndoParams, done changes.Undone) UndoResult {
	if p.DryRun {
		return UndoneOf(done, "would be undone")
	}
	r := UndoneOf(done, "undone")
	if len(done.Paths)+len(done.Merged) > 0 {
		r.Offers = []wire.Command{{Title: "Redo", Command: wire.CommandRedo, Arguments: []any{p.LoopParams}}}
	}
	for i, f := range done.Refused {
		if f.CanMerge {
			merge := p
			merge.Paths, merge.Merge = []string{PathText(f.Path)}, true
			r.Refused[i].Offers = []wire.Command{{Title: "Merge with Markers", Command: wire.CommandUndo, Arguments: []any{merge}}}
		}
	}
	return r
}

// UndoneOf tells what became of the files of an undo or a redo; verb is "undone",
// "redone" or "would be undone".
func UndoneOf(done changes.Undone, verb string) UndoResult {
	r := UndoResult{Undone: pathTexts(done.Paths), Refused: []RefusedFile{}, Class: wire.ClassOK}
	for _, f := range done.Refused {
		r.Refused = append(r.Refused, RefusedFile{Path: PathText(f.Path), Reason: f.Reason,
			Text: wire.OneLine(PathText(f.Path)) + " is left as it is: " + wire.OneLine(f.Reason)})
	}
	var said []string
	say := func(n int, one, more string) {
		files := strconv.Itoa(n)
		if len(said) == 0 {
			files = format.Counted(n, "file")
		}
		if n == 1 {
			said = append(said, files+" "+one)
		} else if n > 1 {
			said = append(said, files+" "+more)
		}
	}
	say(len(done.Paths), verb, verb)
	if n := len(done.Merged); n > 0 {
		r.Merged, r.Class = pathTexts(done.Merged), wire.ClassWarning
		say(n, verb+" with conflict markers", verb+" with conflict markers")
	}
	if n := len(done.Refused); n > 0 {
		r.Class = wire.ClassWarning
		say(n, "is left as it is", "are left as they are")
	}
	if done.HeadMoved {
		said = append(said, "HEAD has moved since the loop began, and stays where it is")
	}
	if r.Text = strings.Join(said, "; "); len(said) == 0 {
		r.Text, r.Class = "there is nothing to take back", wire.ClassInfo
	}
	return r
}

// NothingUndone is the result of an undo that the user didn't want.
func NothingUndone() UndoResult {
	return UndoResult{Undone: []string{}, Refused: []RefusedFile{}, Text: "nothing was undone", Class: wire.ClassInfo}
}

// QuestionBefore asks whether to undo, with what a dry run says.
func QuestionBefore(p UndoParams, would UndoResult) string {
	of := fmt.Sprintf("iteration %d", p.Iteration)
	if p.Since > 0 {
		of = fmt.Sprintf("all since iteration %d", p.Since)
	}
	text := "Undo " + of + "?"
	say := func(format string, paths []string) {
		if len(paths) > 0 {
			text += fmt.Sprintf(format, namesText(paths))
		}
	}
	say(" It takes back %s.", would.Undone)
	say(" It writes conflict markers into %s.", would.Merged)
	say(" It leaves %s as it is.", refusedPaths(would.Refused))
	return text
}

func refusedPaths(files []RefusedFile) (paths []string) {
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths
}

// namesText lists some paths in a line.
func namesText(paths []string) string {
	const most = 5
	var names []string
	for _, path := range paths[:min(len(paths), most)] {
		names = append(names, wire.OneLine(path))
	}
	if left := len(paths) - most; left > 0 {
		names = append(names, fmt.Sprintf("%d more", left))
	}
	return strings.Join(names, ", ")
}

// KeepParams is the argument of ralph.loop.keep: marks files as reviewed, as
// they are after an iteration.
type KeepParams struct {
	wire.LoopParams
	Iteration *int     `json:"iteration,omitempty"` // absent: now
	Paths     []string `json:"paths,omitempty"`
	Kept      *bool    `json:"kept,omitempty"` // false takes the marks away
	Text      *string  `json:"text,omitempty"` // of the one path: the file with what was reviewed, and without the rest
}

// KeepResult lists the files that were marked, or are no more.
type KeepResult struct {
	Kept []string `json:"kept"`
	Text string   `json:"text"`
}

// KeptOf tells which files were marked, or are no more.
func KeptOf(paths []string, kept bool) KeepResult {
	text := format.Counted(len(paths), "file") + " kept"
	if !kept {
		text = format.Counted(len(paths), "file") + " to review again"
	}
	return KeepResult{pathTexts(paths), text}
}

// PatchHead is the first line of a patch that is shown to people: "Iteration 3: 4
// files, +12 -3".
func PatchHead(r changes.Range, text string) string {
	of := "What the loop changed"
	switch {
	case r.To > 0 && r.From == r.To-1:
		of = fmt.Sprintf("Iteration %d", r.To)
	case r.To >= 0:
		of += fmt.Sprintf(" between the ends of iterations %d and %d", r.From, r.To)
	case r.From > 0:
		of += fmt.Sprintf(" since the end of iteration %d", r.From)
	}
	return of + ": " + text
}
