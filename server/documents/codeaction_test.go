package documents

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
)

// update writes the golden files anew.
var update = flag.Bool("update", false, "write the golden files")

// TestCodeActions has documents with the range that is asked for between «
// and », and the actions: kind, title, and what the text becomes or the
// command that runs.
func TestCodeActions(t *testing.T) {
	const addPromise = "Add the completion promise DONE"
	tests := []struct {
		name string
		uri  uri.URI
		text string
		only []protocol.CodeActionKind
		want []string
	}{
		{"unknown key of a state file", stateURI, "---\nmodel: \"😀\"\ncompletion_promise: A\nmax_iter«»ation: 3\n---\nx", nil, []string{
			"quickfix: Change it to max_iterations => ---\nmodel: \"😀\"\ncompletion_promise: A\nmax_iterations: 3\n---\nx"}},
		{"no limit, but a promise", stateURI, "---\nmax_iterations: 0«»\ncompletion_promise: A\n---\nx", nil, []string{
			"refactor: Set max_iterations to 50 => ---\nmax_iterations: 50\ncompletion_promise: A\n---\nx"}},
		{"elsewhere", stateURI, "---\nm«»ax_iterations: 3\ncompletion_promise: A\nactve: true\n---\nx", nil, nil},
		{"no promise", stateURI, "---\r\nmax_iterations: 3\r\n«»completion_promise: null\r\n---\r\nx", nil, []string{
			"refactor: " + addPromise + " => ---\r\nmax_iterations: 3\r\ncompletion_promise: \"DONE\"\r\n---\r\nx"}},
		{"in the body", stateURI, "---\nmax_iterations: 3\n---\nx«y»", nil, nil},
		{"never ends", stateURI, "---\nmax_iterations: «»0\n---\nx", nil, []string{
			"quickfix: Set max_iterations to 50 => ---\nmax_iterations: 50\n---\nx",
			"quickfix: " + addPromise + " => ---\nmax_iterations: 0\ncompletion_promise: \"DONE\"\n---\nx"}},
		{"unreadable", stateURI, "---\nmax_iterations: «»many\n---\nx", nil, nil},
		{"unknown key of a config", configURI, "[limits] # 😀\n«Max_Iterations» = 3\n", nil, []string{
			"quickfix: Change it to max_iterations => [limits] # 😀\nmax_iterations = 3\n"}},
		{"another line of a config", configURI, "[lim«»its]\nMax_Iterations = 3\n", nil, nil},
		{"value of a config", configURI, "backend = \"claud«»\"\n", nil, []string{"quickfix: Change it to claude => backend = \"claude\"\n"}},
		{"limit of a config", configURI, "limits.max_iterations = «0»\n", nil, []string{"quickfix: Set max_iterations to 50 => limits.max_iterations = 50\n"}},
		{"selection of a prompt", promptURI, "# Tasks\n«Fix \"X\" 😀\n»Other\n", nil, []string{
			`refactor: Run Ralph loop with the selection => ralph.loop.start {"folder":"file:///w","prompt":"Fix \"X\" 😀\n"}`}},
		{"nothing selected", promptURI, "Fix «» X\n", nil, nil},
		{"the character at the cursor", promptURI, "«F»ix X\n", nil, nil},
		{"blank selected", promptURI, "Fix X«\n \n»", nil, nil},
		{"only quick fixes", promptURI, "«Fix X»", []protocol.CodeActionKind{protocol.CodeActionKindQuickFix}, nil},
		{"only refactorings", stateURI, "---\nmax_iterations: «»0\n---\nx", []protocol.CodeActionKind{protocol.CodeActionKindRefactor}, nil},
		{"only a kind below", configURI, "«Backend» = \"pi\"\n", []protocol.CodeActionKind{"quickfix.ralph"}, nil},
		{"all kinds", configURI, "«Backend» = \"pi\"\n", []protocol.CodeActionKind{""}, []string{"quickfix: Change it to backend => backend = \"pi\"\n"}},
	}
	for _, tt := range tests {
		inBoth(t, tt.name, func(t *testing.T, utf8 bool) {
			text, _, ranges := cut(tt.text)
			d := withDoc(tt.uri, text, utf8, nil)
			doc := d.get(tt.uri)
			p := protocol.CodeActionParams{Range: doc.span(ranges[0][0], ranges[0][1])}
			p.TextDocument.URI, p.Context.Only = tt.uri, tt.only
			var got []string
			for _, action := range d.CodeAction(p) {
				what := action.Command.Command
				if action.Edit != nil {
					what = apply(t, doc, action.Edit.Changes[tt.uri]...)
				} else {
					what += " " + string(action.Command.Arguments[0])
				}
				got = append(got, string(*action.Kind)+": "+action.Title+" => "+what)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDocumentsOnTheWire compares what goes out with a file, as the bytes
// matter to clients.
func TestDocumentsOnTheWire(t *testing.T) {
	d := withDoc(configURI, "[limits]\nMax_Iterations = 3\nmax_duration = \"4h\"\n", false, nil)
	d.open[docKey(promptURI)] = newDocument(promptURI, 1, "Build X", false)
	position := func(line uint32) protocol.TextDocumentPositionParams {
		return protocol.TextDocumentPositionParams{
			TextDocument: protocol.TextDocumentIdentifier{URI: configURI}, Position: protocol.Position{Line: line, Character: 3},
		}
	}
	lenses, err := d.CodeLens(protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: promptURI}})
	must.OK(t, err)
	answers := []struct {
		name   string
		answer any
	}{
		{"publishDiagnostics", &protocol.PublishDiagnosticsParams{URI: configURI, Version: protocol.NewOptional(int32(1)), Diagnostics: d.diagnostics(d.get(configURI))}},
		{"diagnostic", d.Diagnostic(protocol.DocumentDiagnosticParams{TextDocument: protocol.TextDocumentIdentifier{URI: configURI}})},
		{"hover", d.Hover(protocol.HoverParams{TextDocumentPositionParams: position(2)})},
		{"hover of nothing", d.Hover(protocol.HoverParams{TextDocumentPositionParams: position(9)})},
		{"completion", d.Completion(protocol.CompletionParams{TextDocumentPositionParams: position(1)})},
		{"codeLens", lenses},
		{"codeAction", d.CodeAction(protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: configURI}, Range: protocol.Range{Start: position(1).Position, End: position(1).Position}})},
		{"codeAction of nothing", d.CodeAction(protocol.CodeActionParams{})},
	}
	var got strings.Builder
	for _, a := range answers {
		data, err := (rpc.Codec{}).Marshal(a.answer)
		if err != nil {
			t.Fatalf("%s: %v", a.name, err)
		}
		got.WriteString(a.name + " " + string(data) + "\n")
	}
	golden := filepath.Join("testdata", "answers.txt")
	if *update {
		must.OK(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want := must.Read(t, golden)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}
