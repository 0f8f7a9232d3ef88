package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// onePage is a story with one page.
type onePage struct {
	journal.Page
	err error
}

func (s onePage) Read(context.Context, string, journal.Options) (journal.Page, error) {
	return s.Page, s.err
}
func (s onePage) Outline(context.Context) (wire.Outline, error) {
	return wire.Outline{Cursor: s.Cursor}, s.err
}
func (s onePage) Output(_ context.Context, _ int, callID string) (string, error) {
	return "\x1b[31mall of " + callID, s.err
}

// moon is another machine.
type moon struct {
	Remote
	onePage
}

func (m moon) Story(string) RemoteStory { return m.onePage }

func reasonOf(err error) string {
	if f := FailureOf(err); f != nil {
		return f.Reason
	}
	return ""
}

func TestALogIsFoundByWhatNamesIt(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	one, two := paths.Real(t.TempDir()), paths.Real(t.TempDir())
	session := func(name string) string {
		path := filepath.Join(two, name)
		must.OK(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	past := registry.Entry{LoopID: "ralph-past", Folder: two, SessionFile: session("past.jsonl"), End: []byte(`{"stopReason":"max_iterations"}`)}
	must.OK(t, registry.Set(past))
	known := map[string][]Log{one: {{LoopID: "ralph-live", SessionFile: "live.jsonl", Goes: true}, {LoopID: "ralph-before", SessionFile: "before.jsonl"}}, two: {{LoopID: "ralph-bare"}}}
	s, both := &Service{Remote: moon{}}, []string{one, two}
	for name, tt := range map[string]struct {
		w      Which
		loopID string
		reason string
	}{
		"the folder's":            {Which{Folders: []string{one}}, "ralph-live", ""},
		"by its id":               {Which{LoopID: "ralph-before", Folders: both}, "ralph-before", ""},
		"by its file":             {Which{SessionFile: "before.jsonl", Folders: both}, "ralph-before", ""},
		"by a file of nobody's":   {Which{SessionFile: "other.jsonl", Folders: both}, "", ""},
		"one that is over":        {Which{LoopID: "ralph-past", Folders: both}, "ralph-past", ""},
		"of another machine":      {Which{Remote: "m1"}, "m1", ""},
		"one without a history":   {Which{Folders: []string{two}}, "", wire.ReasonNoSession},
		"of a folder without any": {Which{Folders: []string{t.TempDir()}}, "", wire.ReasonNoSession},
		"by another id":           {Which{LoopID: "ralph-x", Folders: both}, "", wire.ReasonNoSession},
	} {
		log, err := s.Log(tt.w, known)
		if reasonOf(err) != tt.reason || (err == nil) != (tt.reason == "") || err == nil && log.LoopID != tt.loopID {
			t.Errorf("%s: %+v, %v", name, log, err)
		}
	}
	if log, err := s.Log(Which{Folders: []string{two}}, nil); err != nil || log.SessionFile != past.SessionFile {
		t.Errorf("the last of a folder: %+v, %v", log, err)
	}
}

func TestALogIsCompleteWhenNothingComes(t *testing.T) {
	for name, tt := range map[string]struct {
		log      Log
		complete bool
	}{
		"over":            {Log{Reader: onePage{}}, true},
		"more of it":      {Log{Reader: onePage{Page: journal.Page{More: true}}}, false},
		"it goes on":      {Log{Reader: onePage{}, Goes: true}, false},
		"elsewhere":       {Log{remote: onePage{Page: journal.Page{Complete: true}}, Goes: true}, true},
		"elsewhere, goes": {Log{remote: onePage{}}, false},
	} {
		if page, err := tt.log.Read(t.Context(), "", journal.Options{}); err != nil || page.Complete != tt.complete {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
	}
}

// The first entry of a loop's file may be still to come.
func TestALogThatIsNotThereYetIsEmpty(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	missing := Log{SessionFile: filepath.Join(t.TempDir(), "none.jsonl"), Goes: true}
	page, err := missing.Read(t.Context(), "c1", journal.Options{})
	if err != nil || page.Cursor != "c1" || len(page.Items) > 0 || page.Complete {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := missing.Outline(t.Context()); err != nil {
		t.Error(err)
	}
	missing.Goes = false
	_, err = missing.Read(t.Context(), "", journal.Options{})
	_, outlineErr := missing.Outline(t.Context())
	if reasonOf(err) != wire.ReasonNoSession || reasonOf(outlineErr) != wire.ReasonNoSession {
		t.Errorf("%v, %v", err, outlineErr)
	}
	other := errors.New("other")
	if _, err := (Log{Reader: onePage{err: other}}).Read(t.Context(), "", journal.Options{}); err != other {
		t.Error(err)
	}
}

func TestAnOutputIsInAFile(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	file, output, err := Log{LoopID: "m1", remote: onePage{}}.Output(t.Context(), 2, "call")
	if text, readErr := os.ReadFile(file); err != nil || readErr != nil || string(text) != output || output != "all of call" {
		t.Errorf("%q, %q, %v, %v", text, output, err, readErr)
	}
	again, _, _ := Log{LoopID: "m1", remote: onePage{}}.Output(t.Context(), 2, "call")
	other, _, _ := Log{LoopID: "m1", remote: onePage{}}.Output(t.Context(), 3, "call")
	if again != file || other == file {
		t.Errorf("%s, %s and %s", file, again, other)
	}
	session := filepath.Join(t.TempDir(), "none.jsonl")
	for want, log := range map[string]Log{
		"this loop keeps no history":                                  {},
		"the session has no output of the tool call c in iteration 2": {SessionFile: session},
		"it gets it when the agent goes on":                           {SessionFile: session, Goes: true},
	} {
		if _, _, err := log.Output(t.Context(), 2, "c"); reasonOf(err) != wire.ReasonNoOutput || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, _, err := (Log{remote: onePage{err: errors.New("gone")}}).Output(t.Context(), 1, "c"); err == nil {
		t.Error("an output of nowhere")
	}
}

func TestTheRunningLoopIsNotPast(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	dir := paths.Real(t.TempDir())
	for _, id := range []string{"ralph-1", "ralph-2", "ralph-3"} {
		file := filepath.Join(dir, id+".jsonl")
		must.OK(t, errors.Join(os.WriteFile(file, nil, 0o600), registry.Set(registry.Entry{LoopID: id, Folder: dir, SessionFile: file})))
	}
	for _, tt := range []struct {
		limit   int
		running string
		want    int
	}{{0, "", 3}, {2, "", 2}, {0, "ralph-3", 2}, {2, "ralph-3", 2}, {1, "ralph-1", 1}} {
		q := HistoryRequest{Folder: dir, Limit: tt.limit}
		if tt.running != "" {
			q.Running = filepath.Join(dir, tt.running+".jsonl")
		}
		past, err := new(Service).History(q)
		if err != nil || len(past) != tt.want {
			t.Errorf("%+v: %d, %v", tt, len(past), err)
		}
		for _, p := range past {
			if p.LoopID == tt.running {
				t.Errorf("%s is past", p.LoopID)
			}
		}
	}
	for _, name := range []string{paths.EnvState, "XDG_STATE_HOME", "HOME", "AppData"} {
		t.Setenv(name, "")
	}
	if _, err := new(Service).History(HistoryRequest{Folder: dir}); err == nil {
		t.Error("nobody knows where loops are kept, and nothing says so")
	}
}
