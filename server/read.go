package server

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// reader reads what is kept of loops: logs, outputs, sessions and prompts.
type reader struct {
	finder
	service *service.Service
}

// log finds the log that is asked for: of a loop that runs here or elsewhere, or is over.
func (rd *reader) log(ctx context.Context, p wire.LoopParams, sessionFileURI string) (service.Log, error) {
	var w service.Which
	var err error
	if sessionFileURI == "" || rd.remote.Find(p) != "" {
		w, err = rd.Which(ctx, p)
	} else if w.SessionFile, err = wire.PathOf(sessionFileURI); err != nil {
		err = wire.Failed(wire.ReasonNoSession, err)
	}
	if err != nil {
		return service.Log{}, err
	}
	rd.workspace.AwaitLooks(ctx)
	if w.SessionFile != "" || w.LoopID != "" { // whichever folder is named with it
		w.Folders = rd.workspace.List()
	}
	return rd.service.Log(w, rd.workspace.Logs())
}

// logOf finds the log of a loop.
func (rd *reader) logOf(ctx context.Context, loopID string) (service.Log, error) {
	return rd.log(ctx, wire.LoopParams{LoopID: loopID}, "")
}

// content is the text of a document that shows a transcript.
func (rd *reader) content(p contentParams) (rpc.Work, error) {
	return func(ctx context.Context) (any, error) {
		text, err := rd.Stories.Content(ctx, p.URI)
		if err != nil {
			return nil, refusal.Of(err)
		}
		return &protocol.TextDocumentContentResult{Text: text}, nil
	}, nil
}

// read reads a page of a loop's log.
func (rd *reader) read(ctx context.Context, p wire.ReadParams) (any, error) {
	log, err := rd.log(ctx, p.LoopParams, p.SessionFileURI)
	if err != nil {
		return nil, err
	}
	client := rd.Editor.Client()
	page, err := log.Read(ctx, p.After, journal.Options{Limit: max(p.Limit, 0), Before: p.Before, Thinking: client.OptedIn && client.Thinking})
	if err != nil {
		return nil, err
	}
	return answers.ReadResult{
		LoopID: log.LoopID, Updates: page.Updates(false), Cursor: page.Cursor, More: page.More, Complete: page.Complete,
		Reset: page.Reset, SkippedLines: page.Skipped,
	}, nil
}

// outline says what a loop's log consists of.
func (rd *reader) outline(ctx context.Context, p wire.OutlineParams) (any, error) {
	log, err := rd.log(ctx, p.LoopParams, p.SessionFileURI)
	if err != nil {
		return nil, err
	}
	o, err := log.Outline(ctx)
	if err != nil {
		return nil, err
	}
	o.Parts, o.Iterations = append([]wire.LogPart{}, o.Parts...), append([]json.RawMessage{}, o.Iterations...) // none is [], not null
	return o, nil
}

// output writes all that a session keeps of what a tool gave into a file, for an editor to open.
func (rd *reader) output(ctx context.Context, p wire.OutputParams) (any, error) {
	if p.ToolCallID == "" {
		return nil, wire.Invalid("toolCallId", "toolCallId is missing: say which call the output is of")
	}
	log, err := rd.log(ctx, p.LoopParams, p.SessionFileURI)
	if err != nil {
		return nil, err
	}
	file, output, err := log.Output(ctx, p.Iteration, p.ToolCallID)
	if err != nil {
		return nil, err
	}
	if p.Show {
		if err := rd.ShowFile(ctx, file); err != nil {
			return nil, err
		}
	}
	return answers.OutputOf(file, output), nil
}

// history lists the loops that have a session file and don't run: of a folder, and of its
// worktrees that are gone. Those that are there are folders of their own.
func (rd *reader) history(_ context.Context, p answers.HistoryParams) (any, error) {
	path, err := rd.workspace.FolderPath(p.Folder)
	if err != nil {
		return nil, err
	}
	rd.workspace.LookAt(path)
	found, err := rd.service.History(service.HistoryRequest{Folder: path, Limit: p.Limit, Without: rd.workspace.List(),
		Running: rd.workspace.RunningSession(path)})
	if err != nil {
		return nil, err
	}
	past := []answers.PastLoop{}
	for _, s := range found {
		one := answers.PastIn(s)
		one.Talks = []wire.Talk{feed.TalkAnew(wire.FileURI(path), wire.Choices{})}
		past = append(past, one)
	}
	return answers.HistoryResult{Loops: past}, nil
}

// prompts lists what loops were started with in a folder, or in all that are open.
func (rd *reader) prompts(_ context.Context, p answers.PromptsParams) (any, error) {
	folders := rd.workspace.Open()
	if p.Folder != "" {
		path, err := rd.workspace.FolderPath(p.Folder)
		if err != nil {
			return nil, err
		}
		folders = []string{path}
	}
	return answers.PromptsResult{Prompts: rd.service.Prompts(folders, p.Limit)}, nil
}
