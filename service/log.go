package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Log is what is kept of what a loop did.
type Log struct {
	LoopID      string
	SessionFile string        // "": there is none
	Goes        bool          // somebody drives the loop
	Reader      journal.Story // nil: the files are read anew
	remote      RemoteStory   // nil: it is of this machine
}

// Log finds the log of a loop. known are the logs of which the face knows more than files say, by
// their folders: they are looked at first.
func (s *Service) Log(w Which, known map[string][]Log) (Log, error) {
	if w.Remote != "" {
		return Log{LoopID: w.Remote, remote: s.Remote.Story(w.Remote)}, nil
	}
	for _, folder := range w.Folders {
		for _, l := range known[folder] {
			if w.isMeant(l) {
				return l.kept()
			}
		}
	}
	if w.SessionFile != "" {
		return Log{SessionFile: w.SessionFile}, nil
	}
	return pastLog(w)
}

// isMeant says whether a log of one of the folders is the one that is looked for.
func (w Which) isMeant(l Log) bool {
	switch {
	case w.SessionFile != "":
		return l.SessionFile == w.SessionFile
	case w.LoopID != "":
		return l.LoopID == w.LoopID
	}
	return true
}

// kept fails for a log of which nothing is kept.
func (l Log) kept() (Log, error) {
	if l.Reader == nil && l.SessionFile == "" {
		return l, wire.Failed(wire.ReasonNoSession, fmt.Errorf("the loop %s keeps no history", l.LoopID))
	}
	return l, nil
}

// pastLog finds the log of a loop that is over: by its id in the folders, or the last one of a folder.
func pastLog(w Which) (Log, error) {
	for _, folder := range w.Folders {
		if w.LoopID != "" {
			if past := loop.FindPast(folder, w.LoopID); past != nil {
				return Log{LoopID: past.LoopID, SessionFile: past.SessionFile}, nil
			}
			continue
		}
		for _, last := range loop.Kept(folder, 1) {
			return Log{LoopID: last.LoopID, SessionFile: last.SessionFile}, nil
		}
		return Log{}, wire.Failed(wire.ReasonNoSession, fmt.Errorf("no loop of %s was kept", folder))
	}
	return Log{}, wire.Failed(wire.ReasonNoSession, fmt.Errorf("no session of the loop %s is here", w.LoopID))
}

// story is where the log is read.
func (l Log) story() journal.Story {
	switch {
	case l.remote != nil:
		return l.remote
	case l.Reader != nil:
		return l.Reader
	}
	return journal.StoryOf(l.LoopID, l.SessionFile)
}

// Read reads a page behind a cursor. Complete says that nothing will come behind it.
func (l Log) Read(ctx context.Context, after string, o journal.Options) (journal.Page, error) {
	page, err := l.story().Read(ctx, after, o)
	if l.remote == nil {
		page.Complete = !page.More && !l.Goes
	}
	if err = l.unread(err); err == errUnwritten {
		return journal.Page{Cursor: after}, nil
	}
	return page, err
}

// Outline says what the log consists of.
func (l Log) Outline(ctx context.Context) (wire.Outline, error) {
	o, err := l.story().Outline(ctx)
	if err = l.unread(err); err == errUnwritten {
		err = nil
	}
	return o, err
}

// errUnwritten says that the first entry of a loop's file is still to come.
var errUnwritten = errors.New("nothing is written yet")

// unread says why the log couldn't be read.
func (l Log) unread(err error) error {
	_, isUnreadable := errors.AsType[*fs.PathError](err)
	switch {
	case isUnreadable && l.Goes && errors.Is(err, fs.ErrNotExist):
		return errUnwritten
	case isUnreadable:
		return wire.Failed(wire.ReasonNoSession, err)
	}
	return err
}

// Output is all that is kept of what a tool gave, and a file with it, which only the user can read.
func (l Log) Output(ctx context.Context, iteration int, callID string) (file, output string, err error) {
	from := l.SessionFile
	if l.remote != nil {
		from = l.LoopID
		output, err = l.remote.Output(ctx, iteration, callID)
	} else {
		output, err = l.outputHere(iteration, callID)
	}
	if err != nil {
		return "", "", err
	}
	output = stream.Sanitize(output)
	name := fmt.Sprintf("output-%.8x.txt", sha256.Sum256(fmt.Append(nil, from, "\n", iteration, "\n", callID)))
	file, err = writeOutput(name, output)
	return file, output, err
}

// outputHere is what the session has of what a tool gave.
func (l Log) outputHere(iteration int, callID string) (output string, err error) {
	var found bool
	if l.SessionFile != "" {
		output, found, err = history.Output(l.SessionFile, iteration, callID)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if found {
		return output, nil
	}
	why := fmt.Sprintf("the session has no output of the tool call %s in iteration %d", stream.Line(callID, wire.MaxTitle), iteration)
	if l.SessionFile == "" {
		why = "this loop keeps no history, so the whole output is gone"
	} else if l.Goes {
		why += " yet; it gets it when the agent goes on"
	}
	return "", wire.Failed(wire.ReasonNoOutput, errors.New(why))
}

const (
	// maxOutputs are how many written outputs are kept, and keptFor how long: the sessions
	// have them anyway.
	maxOutputs = 100
	keptFor    = 7 * 24 * time.Hour
)

// writeOutput writes a file into the state folder, and removes those that nobody has asked for lately.
func writeOutput(name, text string) (path string, err error) {
	dir, err := paths.State("outputs")
	path = filepath.Join(dir, name)
	if err == nil {
		err = paths.WriteOwn(path, []byte(text), false)
	}
	if err != nil {
		return "", fmt.Errorf("writing the output: %w", err)
	}
	count := paths.Count{Bounds: paths.Bounds{Age: keptFor, Files: maxOutputs}}
	for _, f := range paths.Newest(dir, "*") {
		if count.Exceeded(f, time.Now()) {
			os.Remove(f.Path) // a failure leaves it
		}
	}
	return path, nil
}
