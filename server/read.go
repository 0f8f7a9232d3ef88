package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// loopLog is where a loop can be read.
type loopLog struct {
	id   string
	path string // of its session file, "" if there is none
	live story  // of a loop that runs here or in another place; nil: all that there is is in files
	goes bool   // somebody drives it
}

// reader reads what is kept of loops.
type reader struct {
	*env
	workspace *workspace
	loops     *loops
	lookout   *lookout
	afar      *afar
}

// read reads a loop's log: one that runs here or elsewhere, or is over.
func (rd *reader) read(ctx context.Context, p wire.ReadParams) (any, error) {
	from, err := rd.logOf(ctx, p)
	if err != nil {
		return nil, err
	}
	client := rd.ed.Client()
	o := journal.Options{Limit: max(p.Limit, 0), Before: p.Before, Thinking: client.OptedIn && client.Thinking}
	page, err := rd.story(from).Read(ctx, p.After, o)
	if from.live == nil {
		page.Complete = !page.More && !from.goes
	}
	if err = unread(from, err); err == errUnwritten {
		page, err = journal.Page{Cursor: p.After}, nil
	}
	if err != nil {
		return nil, err
	}
	return answers.ReadResult{
		Updates: page.Updates(false), Cursor: page.Cursor, More: page.More, Complete: page.Complete, Reset: page.Reset, SkippedLines: page.Skipped,
	}, err
}

// story is what a loop's log is read from.
type story interface {
	Read(ctx context.Context, after string, o journal.Options) (journal.Page, error)
	Outline(ctx context.Context) (journal.Outline, error)
}

// story is a loop's journal or, where that is gone, its session file.
func (rd *reader) story(from loopLog) story {
	if from.live != nil {
		return from.live
	}
	if from.id == "" {
		from.id = history.LoopOf(from.path)
	}
	if from.id != "" {
		if kept, err := journal.Open(from.id); err == nil {
			return kept
		}
	}
	return rd.sessions.Of(from.path)
}

// errUnwritten says that the first entry of a loop's file is still to come.
var errUnwritten = errors.New("nothing is written yet")

// unread says why a log couldn't be read.
func unread(from loopLog, err error) error {
	foreign, isForeign := errors.AsType[*history.FormatError](err)
	unreadable, isUnreadable := errors.AsType[*fs.PathError](err)
	switch {
	case isUnreadable && from.goes && errors.Is(err, fs.ErrNotExist):
		return errUnwritten
	case isForeign:
		return refusal.Failed(wire.ReasonNoSession, foreign, nil)
	case isUnreadable:
		return refusal.Failed(wire.ReasonNoSession, unreadable, nil)
	}
	return err
}

// outline says what a loop's log consists of.
func (rd *reader) outline(ctx context.Context, p wire.OutlineParams) (any, error) {
	from, err := rd.logOf(ctx, wire.ReadParams{LoopParams: p.LoopParams, SessionFileURI: p.SessionFileURI})
	if err != nil {
		return nil, err
	}
	o, err := rd.story(from).Outline(ctx)
	if err = unread(from, err); err != nil && err != errUnwritten {
		return nil, err
	}
	result := answers.OutlineResult{Parts: make([]answers.LogPart, 0, len(o.Parts)), Iterations: o.Iterations, Cursor: o.Cursor}
	for _, part := range o.Parts {
		result.Parts = append(result.Parts, answers.LogPart(part))
	}
	if result.Iterations == nil {
		result.Iterations = []json.RawMessage{}
	}
	return result, nil
}

// logOf finds the log that is asked for.
func (rd *reader) logOf(ctx context.Context, p wire.ReadParams) (loopLog, error) {
	if id := rd.afar.find(p.LoopParams); id != "" {
		return loopLog{id: id, live: rd.afar.place.Story(id)}, nil
	}
	rd.workspace.awaitLooks(ctx)
	var named loopLog
	var folder string
	var err error
	switch {
	case p.SessionFileURI != "":
		if named.path, err = wire.PathOf(p.SessionFileURI); err != nil {
			return named, refusal.Failed(wire.ReasonNoSession, err, nil)
		}
	case p.LoopID != "":
		named.id = p.LoopID
	default:
		if folder, err = rd.workspace.folderPath(p.Folder); err != nil {
			return named, err
		}
	}
	logs := rd.workspace.logs()
	folders := slices.Sorted(maps.Keys(logs))
	for _, path := range folders {
		for _, l := range logs[path] {
			if named.path != "" && l.path == named.path || named.id != "" && l.id == named.id || folder == path {
				return l.readable()
			}
		}
	}
	if named.path != "" {
		return named, nil
	}
	return rd.pastLog(folders, folder, named.id)
}

// readable fails for a log of which nothing is kept.
func (l loopLog) readable() (loopLog, error) {
	if l.live == nil && l.path == "" {
		return l, refusal.Failed(wire.ReasonNoSession, fmt.Errorf("the loop %s keeps no history", l.id), nil)
	}
	return l, nil
}

// pastLog finds the log of a loop that was kept: by its id in the folders, or
// the last one of a folder.
func (rd *reader) pastLog(folders []string, folder, id string) (loopLog, error) {
	if id == "" {
		last, err := history.List(rd.keptIn(folder), folder, 1, true)
		if err == nil && len(last) == 0 {
			err = refusal.Failed(wire.ReasonNoSession, fmt.Errorf("no loop of %s was kept", folder), nil)
		}
		if err != nil {
			return loopLog{}, err
		}
		return loopLog{path: last[0].Path}, nil
	}
	for _, folder := range folders {
		past, err := loop.FindPast(folder, rd.keptIn(folder), id)
		if err != nil {
			return loopLog{}, err
		}
		if past != nil {
			return loopLog{id: past.Loop.LoopID, path: past.Path}, nil
		}
	}
	return loopLog{}, refusal.Failed(wire.ReasonNoSession, fmt.Errorf("no session of the loop %s is here", id), nil)
}
