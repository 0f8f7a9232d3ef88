package findings

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	severityError = 1   // of LSP
	maxDiagnostic = 300 // characters of a message, or a source or code
	maxLineNumber = 1 << 30
)

// Ask returns what asks the editor for what it knows of a folder's files; nil
// where it doesn't tell.
func Ask(ed client.Editor, folder string) func(context.Context, []string) (verify.Diagnosis, error) {
	if !ed.Client().Diagnostics {
		return nil
	}
	return func(ctx context.Context, names []string) (verify.Diagnosis, error) {
		params := wire.DiagnosticsParams{Folder: wire.FileURI(folder), Paths: []string{}}
		for _, name := range names {
			if utf8.ValidString(name) { // else the editor can't be told of it: nobody looks at it
				params.Paths = append(params.Paths, name)
			}
		}
		if len(params.Paths) == 0 && len(names) > 0 {
			return verify.Diagnosis{Settled: true}, nil
		}
		var answer json.RawMessage
		if err := ed.Request(ctx, wire.MethodDiagnostics, params, &answer); err != nil {
			return verify.Diagnosis{}, err
		}
		var result *wire.DiagnosticsResult
		if err := json.Unmarshal(answer, &result); err != nil || result == nil {
			return verify.Diagnosis{}, errors.New("what the editor answers can't be read")
		}
		return diagnosisOf(folder, result), nil
	}
}

// diagnosisOf returns an editor's answer about a folder's files. Warnings, other files and our own diagnostics are
// left out.
func diagnosisOf(folder string, r *wire.DiagnosticsResult) verify.Diagnosis {
	in := &inside{[]string{folder, paths.Real(folder)}, map[string]string{}}
	d := verify.Diagnosis{Settled: r.Settled, Seen: in.all(r.Seen), Busy: in.all(r.Busy), Unsaved: in.all(r.Unsaved)}
	for _, e := range r.Diagnostics {
		path := in.path(e.URI)
		if e.Severity != severityError || path == "" || e.Source == Source {
			continue
		}
		if len(d.Errors) == verify.MaxErrors {
			d.Cut = true
			break
		}
		line := lineOf(e.Range.Start)
		d.Errors = append(d.Errors, verify.Diagnostic{
			Path: path, Line: line, EndLine: max(line, lineOf(e.Range.End)), Column: 1 + min(max(e.Range.Start.Character, 0), maxLineNumber),
			Source: stream.Line(e.Source, maxDiagnostic), Code: codeOf(e.Code), Message: stream.Line(e.Message, maxDiagnostic),
		})
	}
	return d
}

func lineOf(p wire.Point) int { return 1 + min(max(p.Line, 0), maxLineNumber) }

// codeOf is a diagnostic's code as a text: it may be a number.
func codeOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return stream.Line(text, maxDiagnostic)
}

// inside finds the paths of files in a folder, by their URIs.
type inside struct {
	roots []string          // the folder's names
	known map[string]string // by URI
}

// path is relative to the folder, with slashes; "" for a file outside of it.
func (in *inside) path(uri string) string {
	path, ok := in.known[uri]
	if ok {
		return path
	}
	if name, err := wire.PathOf(uri); err == nil {
		for _, root := range in.roots {
			rel, err := filepath.Rel(root, name)
			if err == nil && filepath.IsLocal(rel) && rel != "." {
				path = filepath.ToSlash(rel)
				break
			}
		}
	}
	in.known[strings.Clone(uri)] = path
	return path
}

func (in *inside) all(uris []string) []string {
	var found []string
	for _, uri := range uris {
		if path := in.path(uri); path != "" {
			found = append(found, path)
		}
	}
	return found
}
