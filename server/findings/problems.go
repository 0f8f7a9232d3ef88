// Package findings shows an editor what a loop's checks found in its files, and asks it what its
// own language servers know of them.
package findings

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/documents"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Source is who says so, as editors show it.
const Source = "ralph verify"

// Problems are the places where the last check of a folder's loop failed, as
// diagnostics of the editor's.
type Problems struct {
	ed client.Editor

	mu    sync.Mutex
	shown map[string]found // by folder
}

// found are diagnostics by file.
type found map[uri.URI][]protocol.Diagnostic

// New returns Problems without any.
func New(ed client.Editor) *Problems {
	return &Problems{ed: ed, shown: map[string]found{}}
}

// Tell shows what a loop's check found, as an update says, until another one begins or there is
// nothing to go on with.
func (p *Problems) Tell(folder string, update []byte) {
	switch wire.KindOf(update) {
	case wire.KindVerify:
		u, _ := wire.Decode(update).(wire.Verify)
		switch {
		case u.Gate == verify.DiagnosticsGate: // the editor shows them
			p.Clear(folder)
		case u.State != verify.Running || u.Output == "":
			p.show(folder, foundIn(folder, u.Problems))
		}
	case wire.KindEnd:
		if u, _ := wire.Decode(update).(wire.End); len(u.Reason.Ending().Remedies) == 0 {
			p.Clear(folder)
		}
	}
}

// Clear takes back what a folder's check found.
func (p *Problems) Clear(folder string) { p.show(folder, nil) }

// show tells the editor about each file that has or had diagnostics of a folder. One folder may be inside another:
// then a file has the diagnostics of both.
func (p *Problems) show(folder string, now found) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var changed []uri.URI
	for _, files := range []found{p.shown[folder], now} {
		for u := range files {
			changed = append(changed, u)
		}
	}
	delete(p.shown, folder)
	if len(now) > 0 {
		p.shown[folder] = now
	}
	slices.Sort(changed)
	for _, u := range slices.Compact(changed) {
		all := []protocol.Diagnostic{}
		for _, files := range p.shown {
			all = append(all, files[u]...)
		}
		documents.Publish(p.ed, protocol.PublishDiagnosticsParams{URI: u, Diagnostics: all})
	}
}

// foundIn returns problems as diagnostics of the folder's files. Other files are left out, and documents with
// diagnostics of ours: those would be replaced.
func foundIn(folder string, problems []verify.Problem) found {
	files := found{}
	for _, p := range problems {
		path := filepath.FromSlash(p.Path)
		if !filepath.IsLocal(path) {
			continue
		}
		path = filepath.Join(folder, path)
		u := uri.URI(wire.FileURI(path))
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || documents.IsOurs(u) {
			continue
		}
		files[u] = append(files[u], protocol.Diagnostic{
			Range: rangeOf(p), Severity: protocol.DiagnosticSeverityError,
			Source: protocol.NewOptional(Source), Message: protocol.String(stream.Sanitize(p.Message)),
		})
	}
	return files
}

// rangeOf is the place of a problem: a point, of which editors make a word, or a
// line. Commands count columns as they like; an editor shows one that isn't there at
// the line's end.
func rangeOf(p verify.Problem) protocol.Range {
	at := protocol.Position{Line: uint32(max(p.Line-1, 0)), Character: uint32(max(p.Column-1, 0))}
	if p.Column > 0 {
		return protocol.Range{Start: at, End: at}
	}
	return protocol.Range{Start: at, End: protocol.Position{Line: at.Line + 1}}
}
