// Package reading reads what is kept of loops: logs, outputs, sessions and prompts.
package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/remote"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Reader reads what is kept of loops.
type Reader struct {
	*session.Session
	workspace *folders.Workspace
	remote    *remote.Loops
}

// New reads loops of a workspace, and remote ones.
func New(e *session.Session, w *folders.Workspace, a *remote.Loops) *Reader {
	return &Reader{e, w, a}
}

// Read reads a loop's log: one that runs here or elsewhere, or is over.
func (rd *Reader) Read(ctx context.Context, p wire.ReadParams) (any, error) {
	from, err := rd.logOf(ctx, p)
	if err != nil {
		return nil, err
	}
	client := rd.Editor.Client()
	o := journal.Options{Limit: max(p.Limit, 0), Before: p.Before, Thinking: client.OptedIn && client.Thinking}
	page, err := story(from).Read(ctx, p.After, o)
	if from.Live == nil {
		page.Complete = !page.More && !from.Goes
	}
	if err = unread(from, err); err == errUnwritten {
		page, err = journal.Page{Cursor: p.After}, nil
	}
	if err != nil {
		return nil, err
	}
	return answers.ReadResult{
		LoopID: from.ID, Updates: page.Updates(false), Cursor: page.Cursor, More: page.More, Complete: page.Complete, Reset: page.Reset, SkippedLines: page.Skipped,
	}, err
}

// story is a loop's journal.
func story(from folders.LoopLog) journal.Story {
	if from.Live != nil {
		return from.Live
	}
	if from.Here != nil {
		return from.Here
	}
	return journal.StoryOf(from.ID, from.Path)
}

// errUnwritten says that the first entry of a loop's file is still to come.
var errUnwritten = errors.New("nothing is written yet")

// unread says why a log couldn't be read.
func unread(from folders.LoopLog, err error) error {
	_, isUnreadable := errors.AsType[*fs.PathError](err)
	switch {
	case isUnreadable && from.Goes && errors.Is(err, fs.ErrNotExist):
		return errUnwritten
	case isUnreadable:
		return refusal.Failed(wire.ReasonNoSession, err, nil)
	}
	return err
}

// Outline says what a loop's log consists of.
func (rd *Reader) Outline(ctx context.Context, p wire.OutlineParams) (any, error) {
	from, err := rd.logOf(ctx, wire.ReadParams{LoopParams: p.LoopParams, SessionFileURI: p.SessionFileURI})
	if err != nil {
		return nil, err
	}
	o, err := story(from).Outline(ctx)
	if err = unread(from, err); err != nil && err != errUnwritten {
		return nil, err
	}
	o.Parts, o.Iterations = append([]wire.LogPart{}, o.Parts...), append([]json.RawMessage{}, o.Iterations...) // none is [], not null
	return o, nil
}

// logOf finds the log that is asked for.
func (rd *Reader) logOf(ctx context.Context, p wire.ReadParams) (folders.LoopLog, error) {
	if id := rd.remote.Find(p.LoopParams); id != "" {
		return folders.LoopLog{ID: id, Live: rd.remote.Fleet.Story(id)}, nil
	}
	rd.workspace.AwaitLooks(ctx)
	var named folders.LoopLog
	var folder string
	var err error
	switch {
	case p.SessionFileURI != "":
		if named.Path, err = wire.PathOf(p.SessionFileURI); err != nil {
			return named, refusal.Failed(wire.ReasonNoSession, err, nil)
		}
	case p.LoopID != "":
		named.ID = p.LoopID
	default:
		if folder, err = rd.workspace.FolderPath(p.Folder); err != nil {
			return named, err
		}
	}
	logs := rd.workspace.Logs()
	paths := slices.Sorted(maps.Keys(logs))
	for _, path := range paths {
		for _, l := range logs[path] {
			if named.Path != "" && l.Path == named.Path || named.ID != "" && l.ID == named.ID || folder == path {
				return readable(l)
			}
		}
	}
	if named.Path != "" {
		return named, nil
	}
	return rd.pastLog(paths, folder, named.ID)
}

// readable fails for a log of which nothing is kept.
func readable(l folders.LoopLog) (folders.LoopLog, error) {
	if l.Live == nil && l.Here == nil && l.Path == "" {
		return l, refusal.Failed(wire.ReasonNoSession, fmt.Errorf("the loop %s keeps no history", l.ID), nil)
	}
	return l, nil
}

// pastLog finds the log of a loop that was kept: by its id in the folders, or
// the last one of a folder.
func (rd *Reader) pastLog(paths []string, folder, id string) (folders.LoopLog, error) {
	if id == "" {
		for _, last := range loop.Kept(folder, 1) {
			return folders.LoopLog{ID: last.LoopID, Path: last.SessionFile}, nil
		}
		return folders.LoopLog{}, refusal.Failed(wire.ReasonNoSession, fmt.Errorf("no loop of %s was kept", folder), nil)
	}
	for _, folder := range paths {
		if past := loop.FindPast(folder, id); past != nil {
			return folders.LoopLog{ID: past.LoopID, Path: past.SessionFile}, nil
		}
	}
	return folders.LoopLog{}, refusal.Failed(wire.ReasonNoSession, fmt.Errorf("no session of the loop %s is here", id), nil)
}
