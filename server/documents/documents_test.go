package documents

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// The documents of the tests; their folder is /w.
const (
	promptURI = uri.URI("file:///w/PROMPT.md")
	stateURI  = uri.URI("file:///w/.pi/ralph-loop.local.md")
	configURI = uri.URI("file:///w/ralph.toml")
)

// docEditor notes what documents tell an editor.
type docEditor struct {
	client.Editor // nil: nothing else is called
	client        client.Info
	answer        chan struct{} // what an answer to a request waits for; nil: nothing

	mu   sync.Mutex
	told []string
}

func (e *docEditor) Client() client.Info { return e.client }

func (e *docEditor) NotifyLatest(_, method string, params any) {
	p := params.(*protocol.PublishDiagnosticsParams)
	version, _ := p.Version.Get()
	var messages []string
	for _, d := range p.Diagnostics {
		messages = append(messages, string(d.Message.(protocol.String)))
	}
	e.tell(fmt.Sprintf("%s v%d %q", filepath.Base(string(p.URI)), version, messages))
}

func (e *docEditor) Request(ctx context.Context, method string, _, _ any) error {
	e.tell(method)
	if e.answer == nil {
		return nil
	}
	select {
	case <-e.answer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *docEditor) tell(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = append(e.told, what)
}

// heard returns what was told since the last time, once nothing goes on any more.
func (e *docEditor) heard() []string {
	time.Sleep(2 * refreshDelay) // in a bubble: it costs nothing
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	told := e.told
	e.told = nil
	return told
}

// docWorld is a folder with at most one loop.
type docWorld struct {
	mu      sync.Mutex
	status  *wire.LoopStatus
	missing map[string]string
	review  answers.Review
	plans   Plans
	asked   int // times, for the plans
	saved   []string
}

// withLoop is a folder with a loop of another process, or nobody's.
func withLoop(s loop.Status) *docWorld { return &docWorld{status: new(wire.StatusOf(s, false))} }

func (w *docWorld) LoopIn(string) (wire.LoopStatus, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == nil {
		return wire.LoopStatus{}, false
	}
	return *w.status, true
}

func (w *docWorld) set(s wire.LoopStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status = &s
}

func (w *docWorld) PlansIn(string) Plans {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	return w.plans
}

func (w *docWorld) ReviewIn(string) answers.Review { return w.review }

func (w *docWorld) MissingBackend(name string) string { return w.missing[name] }

func (w *docWorld) FolderOf(u string) string {
	path, _ := wire.PathOf(u)
	return filepath.Dir(path)
}

func (w *docWorld) FolderAt(path string) string    { return path }
func (w *docWorld) StateSaved(folder, text string) {}
func (w *docWorld) FileSaved(folder, path string)  { w.saved = append(w.saved, folder+" "+path) }

// withDoc returns documents with one that is open, without telling the editor.
// A nil world has no loop and all backends.
func withDoc(u uri.URI, text string, utf8 bool, world *docWorld) *Documents {
	if world == nil {
		world = &docWorld{}
	}
	d := New(&docEditor{client: client.Info{UTF8: utf8, OptedIn: true}}, world)
	d.open[docKey(u)] = newDocument(u, 1, text, utf8)
	return d
}

func opened(u uri.URI, text string) (p openParams) {
	p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text = u, 1, text
	return p
}

func changed(u uri.URI, version int32, text string) (p changeParams) {
	change := map[string]any{
		"textDocument":   map[string]any{"uri": u, "version": version},
		"contentChanges": []any{map[string]any{"text": "overtaken"}, map[string]any{"text": text}, map[string]any{"range": map[string]any{}, "text": "a part"}},
	}
	if err := (rpc.Codec{}).Unmarshal(lsptest.JSON(change), &p); err != nil {
		panic(err)
	}
	return p
}

func closed(u uri.URI) protocol.DidCloseTextDocumentParams {
	return protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}}
}

func TestKindOf(t *testing.T) {
	tests := map[uri.URI]docKind{
		promptURI: promptDoc, stateURI: stateDoc, configURI: configDoc,
		"file:///w/a/PROMPT-two.md":              promptDoc,
		"file:///w/a%20b/PROMPT.md":              promptDoc,
		"file:///w/prompt.md":                    planDoc,
		"file:///w/a/prd.json":                   planDoc,
		"file:///w/package.json":                 foreignDoc,
		"file:///w/PROMPT.txt":                   foreignDoc,
		"file:///w/ralph-loop.local.md":          planDoc,
		"file:///w/my-ralph.toml":                foreignDoc,
		"file:///w/main.go":                      foreignDoc,
		"untitled:PROMPT.md":                     foreignDoc,
		"file:///w/%zz/PROMPT.md":                foreignDoc,
		"file:///w/sub/.pi/ralph-loop.local.md":  stateDoc,
		"file:///w/x.pi/ralph-loop.local.md.bak": foreignDoc,
	}
	for u, want := range tests {
		if got := kindOf(u); got != want {
			t.Errorf("%s is of kind %d, want %d", u, got, want)
		}
	}
}

func TestPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &docEditor{}
		d := New(ed, &docWorld{})
		steps := []struct {
			what string
			do   func()
			want []string
		}{
			{"open", func() { d.DidOpen(opened(promptURI, "")) }, []string{`PROMPT.md v1 ["the prompt is empty: say what the agent should do"]`}},
			{"change", func() { d.DidChange(changed(promptURI, 2, "Build X")) }, []string{`PROMPT.md v2 []`}},
			{"the loop changes, the prompt doesn't", func() { d.Republish(d.folderOf(d.get(promptURI))) }, nil},
			{"a source file", func() { d.DidOpen(opened("file:///w/main.go", "")) }, nil},
			{"its end", func() { d.DidClose(closed("file:///w/main.go")) }, nil},
			{"close", func() { d.DidClose(closed(promptURI)) }, []string{`PROMPT.md v0 []`}},
			{"open again", func() { d.DidOpen(opened(promptURI, "")) }, []string{`PROMPT.md v1 ["the prompt is empty: say what the agent should do"]`}},
		}
		for _, s := range steps {
			s.do()
			if diff := cmp.Diff(s.want, ed.heard()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.what, diff)
			}
		}
	})
}

const interruptedState = "---\nactive: true\niteration: 3\nmax_iterations: 50\ncompletion_promise: \"DONE\"\nstarted_at: null\n---\n\nBuild X\n"

func TestPull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &docEditor{client: client.Info{PullDiagnostics: true, DiagnosticRefresh: true}}
		world := &docWorld{}
		d := New(ed, world)
		d.DidOpen(opened(stateURI, interruptedState))
		ask := protocol.DocumentDiagnosticParams{TextDocument: protocol.TextDocumentIdentifier{URI: stateURI}}
		count := func() int {
			return len(d.Diagnostic(ask).(*protocol.RelatedFullDocumentDiagnosticReport).Items)
		}
		if got := count(); got != 0 {
			t.Errorf("%d diagnostics without a loop, want none", got)
		}
		world.set(wire.LoopStatus{State: string(loop.StateRunning)})
		d.Republish(d.folderOf(d.get(stateURI)))
		if got := ed.heard(); got != nil {
			t.Errorf("told %q although the diagnostics are the same", got)
		}
		world.set(wire.LoopStatus{State: string(loop.StateInterrupted)})
		d.Republish(d.folderOf(d.get(stateURI)))
		if got := ed.heard(); !slices.Equal(got, []string{methodRefreshDiagnostic}) {
			t.Errorf("told %q, want a refresh", got)
		}
		if got := count(); got != 1 {
			t.Errorf("%d diagnostics of an interrupted loop, want one", got)
		}
		ask.TextDocument.URI = "file:///w/main.go"
		if got := count(); got != 0 {
			t.Errorf("%d diagnostics of a source file, want none", got)
		}
	})
}

// TestRefresh has a client that doesn't answer: it is asked once, once more
// when it did, and the same again when it never does.
func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &docEditor{client: client.Info{CodeLensRefresh: true}, answer: make(chan struct{})}
		world := &docWorld{}
		d := New(ed, world)
		d.DidOpen(opened(promptURI, "Build X"))
		ask := protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: promptURI}}
		must.OK(t, must.Err(d.CodeLens(ask)))
		folder := d.folderOf(d.get(promptURI))
		ed.heard()
		for i := range 5 {
			world.set(wire.LoopStatus{State: string(loop.StateRunning), LoopID: "a", Iteration: i + 1})
			d.Republish(folder)
			time.Sleep(2 * refreshDelay) // else they'd all be in one question
			synctest.Wait()
		}
		if got := ed.heard(); !slices.Equal(got, []string{methodRefreshLenses}) {
			t.Errorf("told %q, want one refresh while the client doesn't answer", got)
		}
		ed.answer <- struct{}{}
		if got := ed.heard(); !slices.Equal(got, []string{methodRefreshLenses}) {
			t.Errorf("told %q, want one more refresh", got)
		}
		time.Sleep(refreshPatience) // the client has lost the question
		if got := ed.heard(); !slices.Equal(got, []string{methodRefreshLenses}) {
			t.Errorf("told %q, want the question again", got)
		}
		time.Sleep(2 * refreshPatience)
		must.OK(t, must.Err(d.CodeLens(ask)))
		d.Republish(folder)
		d.Republish("/elsewhere")
		if got := ed.heard(); got != nil {
			t.Errorf("told %q although nothing changed", got)
		}
	})
}

// TestNobodyIsAskedWhoCannotAnswer has a client without refreshes.
func TestNobodyIsAskedWhoCannotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &docEditor{}
		world := &docWorld{}
		d := New(ed, world)
		d.DidOpen(opened(promptURI, "Build X"))
		ed.heard()
		world.set(wire.LoopStatus{State: string(loop.StateRunning), LoopID: "a"})
		d.Republish(d.folderOf(d.get(promptURI)))
		if got := ed.heard(); got != nil {
			t.Errorf("told %q", got)
		}
	})
}

// cut takes the marks out of a text: the cursor ‸, and what «» enclose.
func cut(marked string) (text string, cursor int, ranges [][2]int) {
	var b strings.Builder
	for _, r := range marked {
		switch r {
		case '‸':
			cursor = b.Len()
		case '«':
			ranges = append(ranges, [2]int{b.Len(), b.Len()})
		case '»':
			ranges[len(ranges)-1][1] = b.Len()
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), cursor, ranges
}

// inBoth runs a test with an editor that counts UTF-8 bytes, and with one that
// counts UTF-16 units.
func inBoth(t *testing.T, name string, test func(t *testing.T, utf8 bool)) {
	t.Helper()
	for encoding, utf8 := range map[string]bool{"UTF-8": true, "UTF-16": false} {
		t.Run(name+"/"+encoding, func(t *testing.T) { test(t, utf8) })
	}
}

// apply makes an editor's edits.
func apply(t *testing.T, doc *document, edits ...protocol.TextEdit) string {
	t.Helper()
	text := doc.text
	for _, e := range slices.Backward(edits) {
		start, end := doc.offsets(e.Range)
		text = text[:start] + e.NewText + text[end:]
	}
	return text
}

func BenchmarkLargeDocument(b *testing.B) {
	body := strings.Repeat("All work and no play makes Jack a dull boy. ü€😀\n", 100_000)
	for name, doc := range map[string]struct {
		uri  uri.URI
		text string
	}{
		"prompt":       {promptURI, body},
		"state":        {stateURI, interruptedState + body},
		"front matter": {stateURI, "---\n" + strings.Repeat("key: 1\n", 700_000) + "---\nx"},
		"config":       {configURI, strings.Repeat("key = 1\n", 700_000)},
		"config 60 kB": {configURI, strings.Repeat("x =\n", 15_000)},
		"one line":     {stateURI, interruptedState + strings.ReplaceAll(body, "\n", " ")},
	} {
		b.Run(name, func(b *testing.B) {
			d := New(&docEditor{}, &docWorld{})
			for b.Loop() {
				document := newDocument(doc.uri, 1, doc.text, false)
				d.diagnostics(document)
				d.actions(document, 0, len(doc.text))
			}
		})
	}
}

func FuzzDocument(f *testing.F) {
	for _, seed := range []string{interruptedState, "---\nmax_iterations: 0\nkex:\n- a\n---\nx", "---\r\nactiv\r\n", "---\nactive\n---\n0", "[limits\nx=1\n[hats.ü]\nb = {", "\uFEFF---\n😀: \"\xff\n---\n\ry"} {
		f.Add(seed, uint32(1), uint32(2), true)
	}
	f.Fuzz(func(t *testing.T, text string, line, column uint32, utf8 bool) {
		world := &docWorld{status: &wire.LoopStatus{State: string(loop.StateInterrupted)}, missing: map[string]string{"pi": "get it"}}
		for _, u := range []uri.URI{promptURI, stateURI, configURI} {
			d := withDoc(u, text, utf8, world)
			doc := d.get(u)
			inside := func(what string, r protocol.Range) {
				start, end := doc.offset(r.Start), doc.offset(r.End)
				if doc.position(start) != r.Start || doc.position(end) != r.End || end < start {
					t.Errorf("%s of %s: %+v is not inside the text", what, u, r)
				}
			}
			at := protocol.TextDocumentPositionParams{
				TextDocument: protocol.TextDocumentIdentifier{URI: u}, Position: protocol.Position{Line: line, Character: column},
			}
			for _, found := range d.diagnostics(doc) {
				inside("diagnostic", found.Range)
			}
			if hover := d.Hover(protocol.HoverParams{TextDocumentPositionParams: at}); hover != nil {
				inside("hover", *hover.Range)
			}
			for _, item := range d.Completion(protocol.CompletionParams{TextDocumentPositionParams: at}).Items {
				inside("completion", item.TextEdit.(*protocol.TextEdit).Range)
			}
			for _, action := range d.actions(doc, 0, len(text)) {
				if action.Edit == nil {
					continue
				}
				for _, e := range action.Edit.Changes[u] {
					inside("edit", e.Range)
				}
			}
		}
	})
}

// What is to be told of a document stands at its beginning.
func TestOfALongDocumentOnlyTheBeginningIsLookedAt(t *testing.T) {
	const state = "---\nactive: true\niteration: 1\nmax_iteration: 5\n---\n\n"
	for name, tail := range map[string]string{"lines": "do it\n", "short lines": "x\n", "one line": "x", "runes": "日"} {
		text := state + strings.Repeat(tail, 2*maxLooked/len(tail))
		for _, u := range []uri.URI{stateURI, promptURI} {
			d := withDoc(u, text, false, nil)
			doc := d.get(u)
			if len(doc.text) > maxLooked || len(doc.text) < maxLooked-utf8.UTFMax || !utf8.ValidString(doc.text) || doc.whole != text {
				t.Errorf("%s: %d bytes are looked at", name, len(doc.text))
			}
			found := fmt.Sprint(d.findings(doc))
			if !strings.Contains(found, "only the first 102") || strings.Contains(found, "max_iterations?") != (u == stateURI) {
				t.Errorf("%s: got %.300s", name, found)
			}
			if len(d.lenses(doc)) != 2 {
				t.Errorf("%s: %d lenses", name, len(d.lenses(doc)))
			}
			if got, ok := d.OpenText(docKey(u)); !ok || got != text {
				t.Errorf("%s: the prompt has %d bytes", name, len(got))
			}
			for _, end := range []int{len(doc.text) - 1, len(doc.text)} {
				offers := fmt.Sprint(d.actions(doc, 0, end))
				if isOffered := strings.Contains(offers, "selection"); u == promptURI && isOffered != (end < len(doc.text)) {
					t.Errorf("%s: a loop with a selection of %d bytes: %t", name, end, isOffered)
				}
			}
		}
	}
	if d := withDoc(promptURI, strings.Repeat("x", maxLooked), false, nil); d.get(promptURI).isCut() {
		t.Error("a document of that length is cut")
	}
}

// A text is copied a few times on its way, not once for each look at it.
func TestALongDocumentCostsASmallMultiple(t *testing.T) {
	text := strings.Repeat("\n", 8<<20)
	body := lsptest.JSON(map[string]any{"textDocument": map[string]any{"uri": promptURI, "version": 1, "text": text}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var p openParams
	must.OK(t, (rpc.Codec{}).Unmarshal(body, &p))
	d := withDoc(promptURI, p.TextDocument.Text, false, nil)
	d.diagnostics(d.get(promptURI))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*uint64(len(text)) {
		t.Errorf("%d bytes for a text of %d", n, len(text))
	}
}

func TestADocumentHasOneURIAtATime(t *testing.T) {
	ed := &docEditor{}
	d := New(ed, &docWorld{})
	d.DidOpen(opened("file:///w/PROMPT%2Dx.md", ""))
	if text, ok := d.OpenText("/w/PROMPT-x.md"); !ok || text != "" {
		t.Error("it isn't open by its path")
	}
	if doc := d.get("file:///w/PROMPT-x.md"); doc == nil || doc.uri != "file:///w/PROMPT%2Dx.md" {
		t.Errorf("got %+v", doc)
	}
}
