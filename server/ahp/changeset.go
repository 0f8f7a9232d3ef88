package ahp

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// A changeset is a channel: that of its session, and what of it changed behind that. VS Code makes the
// name of a turn's itself.
const (
	changesetPart = "/changeset/"
	turnPart      = "turn/"
)

// snapshotScheme stands before the URI of a file, and makes it that of the file as a snapshot has it.
const snapshotScheme = "ralph-"

// work is what was done in a turn.
type work struct {
	loopID    string
	iteration int
}

func (s *session) changesets() []any {
	return []any{
		object{"label": "Changes", "changeKind": "session", "uriTemplate": s.resource + changesetPart + "session"},
		object{"label": "Changes of an Iteration", "changeKind": "turn", "uriTemplate": s.resource + changesetPart + turnPart + "{turnId}"},
	}
}

// refresh tells the clients of a changeset what is in it: that of a turn has what its iteration changed,
// the session's all that its loop did. It returns false where there is nothing to look at.
func (s *session) refresh(channel string) bool {
	p := wire.ChangesParams{LoopParams: wire.LoopParams{LoopID: s.loopID}}
	if id, isTurn := strings.CutPrefix(channel, s.resource+changesetPart+turnPart); isTurn {
		w := s.worked[id]
		p.LoopID, p.From, p.To = w.loopID, w.iteration-1, &w.iteration
	}
	if p.LoopID == "" {
		return false
	}
	p.Folder = uriOf(s.folder)
	go func() {
		found, err := s.host.Loops.Changes(s.host.ctx, p)
		s.host.mu.Lock()
		defer s.host.mu.Unlock()
		if err != nil {
			failure := object{"errorType": "ralph", "message": err.Error()}
			s.host.act(channel, object{"type": "changeset/statusChanged", "status": "error", "error": failure})
			return
		}
		files := []any{}
		for _, f := range found.Files {
			files = append(files, fileOf(found, f))
		}
		s.host.act(channel, object{"type": "changeset/contentChanged", "files": files})
		s.host.act(channel, object{"type": "changeset/statusChanged", "status": "ready"})
	}()
	return true
}

// refreshAll tells what is in the changesets that clients look at.
func (s *session) refreshAll() {
	looked := map[string]bool{}
	for c := range s.host.clients {
		for channel := range c.channels {
			if strings.HasPrefix(channel, s.resource+changesetPart) && !looked[channel] {
				looked[channel] = true
				s.refresh(channel)
			}
		}
	}
}

// fileOf is a file that changed, with where it can be read as it was and as it became.
func fileOf(of answers.ChangesResult, f answers.ChangedFile) object {
	loop := wire.LoopParams{LoopID: of.LoopID}
	begin, end := 0, of.From // the end is that of the last iteration which changed something
	for _, it := range of.Iterations {
		end = it.Iteration
	}
	before := answers.FileParams{LoopParams: loop, Path: f.Path, Iteration: &begin}
	after := answers.FileParams{LoopParams: loop, Path: f.Path, Iteration: &end}
	uri := f.URI
	if f.From != "" {
		before.Path, uri = f.From, f.FromURI
	}
	if of.To != nil { // without what its user did before the iteration
		before.Iteration, before.Before = nil, of.To
	}
	edit := object{"diff": object{"added": f.Added, "removed": f.Removed}}
	if f.Status != "added" {
		edit["before"] = snapshotOf(uri, before)
	}
	if f.Status != "deleted" {
		edit["after"] = snapshotOf(f.URI, after)
	}
	return object{"id": f.URI, "edit": edit}
}

// snapshotOf is a file as a snapshot has it. Its content is read when it is looked at.
func snapshotOf(uri string, asked answers.FileParams) object {
	return object{"uri": uri, "content": object{"uri": snapshotScheme + uri + "?" + url.PathEscape(string(rpc.Raw(asked)))}}
}

// resourceRead reads a file of a changeset, as a snapshot of a session's loop has it: no other file is read.
func (c *client) resourceRead(id json.RawMessage, p params) *rpc.Error {
	uri, query, _ := strings.Cut(p.URI, "?")
	text, err := url.PathUnescape(query)
	var asked answers.FileParams
	if err != nil || !strings.HasPrefix(uri, snapshotScheme) || json.Unmarshal([]byte(text), &asked) != nil {
		return rpc.Errorf(codeDenied, "nothing but the files of changesets is read here")
	}
	folder := c.folderOf(asked.LoopID)
	if folder == "" {
		return rpc.Errorf(codeDenied, "nothing but the files of changesets is read here")
	}
	asked.Folder = uriOf(folder)
	go func() {
		content, err := c.Loops.File(c.ctx, asked)
		switch {
		case err != nil:
			c.rpc.Reply(id, nil, rpc.Errorf(codeNotFound, "%s", err.Error()))
		case content.Absent:
			c.rpc.Reply(id, nil, rpc.Errorf(codeNotFound, "there was no such file"))
		case content.Text != nil:
			c.rpc.Reply(id, object{"data": *content.Text, "encoding": "utf-8"}, nil)
		default:
			c.rpc.Reply(id, object{"data": content.Base64, "encoding": "base64"}, nil)
		}
	}()
	return nil
}

// folderOf is the folder of a session that a loop is or was of, "" for another loop.
func (h *Host) folderOf(loopID string) string {
	for _, s := range h.sessions {
		if loopID != "" && s.loopID == loopID {
			return s.folder
		}
		for _, w := range s.worked {
			if w.loopID == loopID {
				return s.folder
			}
		}
	}
	return ""
}
