package documents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Env is what documents know of the rest.
type Env interface {
	// LoopIn returns the loop of a folder as ralph/status shows it.
	LoopIn(folder string) (wire.LoopStatus, bool)
	// ReviewIn returns what is known of the changes of the folder's last loop.
	ReviewIn(folder string) answers.Review
	// MissingBackend returns how to install a backend, "" for one that is or may be.
	MissingBackend(name string) string
	// FolderOf returns the absolute path of the workspace folder with a
	// document, else of the document's own; "" for one that is no file.
	FolderOf(uri string) string
	// FolderAt returns the one path that stands for all names of a folder.
	FolderAt(path string) string
	// PlansIn returns what is known of a folder's plans.
	PlansIn(folder string) Plans
	// StateSaved takes what the user has saved as the state file of a folder's loop.
	StateSaved(folder, text string)
	// FileSaved takes that the user has saved a file, maybe in the folder of a loop.
	FileSaved(folder, path string)
}

// docKind is what a document is for us.
type docKind int

const (
	foreignDoc docKind = iota // none of ours
	promptDoc
	stateDoc
	configDoc
	planDoc // that may be a plan: its folder says
)

func kindOf(u uri.URI) docKind {
	name, err := wire.PathOf(string(u))
	if err != nil {
		return foreignDoc
	}
	name = filepath.ToSlash(name)
	isPrompt, _ := path.Match("PROMPT*.md", path.Base(name))
	switch {
	case strings.HasSuffix(name, "/"+loopstate.Name):
		return stateDoc
	case path.Base(name) == config.Name:
		return configDoc
	case isPrompt:
		return promptDoc
	case path.Ext(name) == ".md", path.Base(name) == "prd.json":
		return planDoc
	}
	return foreignDoc
}

// IsOurs says whether a file is one whose diagnostics we make in any folder.
func IsOurs(u uri.URI) bool { return kindOf(u) != foreignDoc && kindOf(u) != planDoc }

// maxLooked is how much of a document is looked at, in bytes: what is to be told
// stands at its beginning, and each look costs some copies of it.
const maxLooked = 1 << 20

// document is a text that is open in the editor, in one version of it. The
// index is of what is looked at.
type document struct {
	uri     uri.URI
	kind    docKind
	version int32
	whole   string
	*textIndex
}

func newDocument(u uri.URI, version int32, text string, utf8 bool) *document {
	looked := text
	if len(text) > maxLooked {
		looked = strings.ToValidUTF8(text[:maxLooked], "") // not half a character
	}
	return &document{u, kindOf(u), version, text, newTextIndex(looked, utf8)}
}

// isCut says whether there is more than what is looked at.
func (doc *document) isCut() bool { return len(doc.text) < len(doc.whole) }

// Documents keeps the open documents. It reads what the editor has, never the disk.
type Documents struct {
	ed      client.Editor
	env     Env
	refresh map[string]*refresher // by method

	mu      sync.Mutex
	open    map[string]*document // by docKey
	changed map[uri.URI]bool     // to publish; true: because of a loop
	working bool                 // a worker is at it
	// shown is what the editor was last told, in short.
	shown map[shownKey]string
	plans map[string]lookedUp // by folder; another one when something has changed
}

// shownKey names something that the editor shows of a document.
type shownKey struct {
	uri  uri.URI
	what string
}

const (
	methodPublish           = "textDocument/publishDiagnostics"
	methodRefreshLenses     = "workspace/codeLens/refresh"
	methodRefreshDiagnostic = "workspace/diagnostic/refresh"
)

func New(ed client.Editor, env Env) *Documents {
	return &Documents{
		ed: ed, env: env,
		refresh: map[string]*refresher{
			methodRefreshLenses:     {ed: ed, method: methodRefreshLenses, turn: make(chan struct{}, 1)},
			methodRefreshDiagnostic: {ed: ed, method: methodRefreshDiagnostic, turn: make(chan struct{}, 1)},
		},
		open: map[string]*document{}, changed: map[uri.URI]bool{}, shown: map[shownKey]string{}, plans: map[string]lookedUp{},
	}
}

// openParams and changeParams are what is needed of the protocol's own types,
// whose decoder makes seven copies of a text.
type openParams struct {
	TextDocument struct {
		URI     uri.URI `json:"uri"`
		Version int32   `json:"version"`
		Text    string  `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument struct {
		URI     uri.URI `json:"uri"`
		Version int32   `json:"version"`
	} `json:"textDocument"`
	ContentChanges []struct {
		Range *struct{} `json:"range"` // nil: the text is the whole one
		Text  string    `json:"text"`
	} `json:"contentChanges"`
}

func (d *Documents) DidOpen(p openParams) {
	d.set(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text)
}

// DidChange takes the last whole text: that is how the server said it syncs.
func (d *Documents) DidChange(p changeParams) {
	for _, change := range slices.Backward(p.ContentChanges) {
		if change.Range == nil {
			d.set(p.TextDocument.URI, p.TextDocument.Version, change.Text)
			return
		}
	}
}

func (d *Documents) set(u uri.URI, version int32, text string) {
	if kindOf(u) == foreignDoc {
		return
	}
	doc := newDocument(u, version, text, d.ed.Client().UTF8)
	d.mu.Lock()
	if old := d.open[docKey(u)]; old != nil {
		u = old.uri // as the editor called it first
	}
	doc.uri = u
	d.open[docKey(u)] = doc
	d.mu.Unlock()
	d.publish(u, false)
}

// DidSave tells the loop of a file that it is the editor's user who wrote that. Editors tell it of all files.
func (d *Documents) DidSave(p protocol.DidSaveTextDocumentParams) {
	if path, err := wire.PathOf(string(p.TextDocument.URI)); err == nil {
		d.env.FileSaved(d.env.FolderOf(string(p.TextDocument.URI)), path)
	}
	switch doc := d.get(p.TextDocument.URI); {
	case doc == nil:
	case doc.kind == stateDoc:
		d.env.StateSaved(d.folderOf(doc), doc.whole)
	case doc.kind == configDoc: // it may name another plan
		d.Republish(d.folderOf(doc))
	}
}

func (d *Documents) DidClose(p protocol.DidCloseTextDocumentParams) {
	key := docKey(p.TextDocument.URI)
	d.mu.Lock()
	doc := d.open[key]
	delete(d.open, key)
	d.mu.Unlock()
	if doc != nil {
		d.publish(doc.uri, false)
	}
}

// get returns an open document, or nil.
func (d *Documents) get(u uri.URI) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[docKey(u)]
}

// docKey is the same for all spellings of a document's URI.
func docKey(u uri.URI) string {
	if path, err := wire.PathOf(string(u)); err == nil {
		return path
	}
	return string(u)
}

// OpenText is the text of the document at a path as its editor has it, saved or not.
func (d *Documents) OpenText(path string) (text string, ok bool) {
	d.mu.Lock()
	open := maps.Clone(d.open)
	d.mu.Unlock()
	if doc := open[path]; doc != nil {
		return doc.whole, true
	}
	real := paths.Real(path)
	for key, doc := range open { // it may be open under another name of its folder
		if paths.Real(key) == real {
			return doc.whole, true
		}
	}
	return "", false
}

// folderOf returns the folder whose loop a document belongs to.
func (d *Documents) folderOf(doc *document) string {
	if doc.kind == stateDoc {
		name, _ := wire.PathOf(string(doc.uri))
		return d.env.FolderAt(filepath.Dir(filepath.Dir(name)))
	}
	return d.env.FolderOf(string(doc.uri))
}

// Republish shows the documents of a folder again: its loop changed. It never
// blocks and may be called with any lock held.
func (d *Documents) Republish(folder string) {
	d.mu.Lock()
	open := slices.Collect(maps.Values(d.open))
	d.plans = map[string]lookedUp{}
	d.mu.Unlock()
	if len(open) == 0 {
		return
	}
	go func() {
		for _, doc := range open {
			if d.folderOf(doc) == folder {
				d.publish(doc.uri, true)
			}
		}
	}()
}

// publish has a document's diagnostics sent. One worker at a time does so:
// older ones never arrive behind newer ones, and no caller waits.
func (d *Documents) publish(u uri.URI, loopChanged bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed[u] = d.changed[u] || loopChanged
	if !d.working {
		d.working = true
		go d.work()
	}
}

func (d *Documents) work() {
	for {
		u, doc, loopChanged, ok := d.next()
		switch {
		case !ok:
			return
		case doc == nil:
			d.forget(u)
		default:
			d.show(doc, loopChanged)
		}
	}
}

// next takes a document off those to publish; nil for one that was closed.
func (d *Documents) next() (u uri.URI, doc *document, loopChanged, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for u, loopChanged = range d.changed {
		delete(d.changed, u)
		if doc = d.open[docKey(u)]; doc != nil && doc.uri != u {
			doc = nil // it was opened again, with its URI spelled differently
		}
		return u, doc, loopChanged, true
	}
	d.working = false
	return "", nil, false, false
}

// show brings what the editor shows of a document up to date, if it isn't.
func (d *Documents) show(doc *document, loopChanged bool) {
	if d.ed.Client().PullDiagnostics {
		if loopChanged && d.wasShown(doc.uri, methodRefreshDiagnostic) != summary(d.diagnostics(doc)) {
			d.refresh[methodRefreshDiagnostic].ask(d.ed.Client().DiagnosticRefresh)
		}
	} else if found := d.diagnostics(doc); !(doc.kind == planDoc && len(found) == 0 &&
		d.wasShown(doc.uri, methodPublish) == "") && d.isNews(doc.uri, methodPublish, fmt.Sprint(doc.version, summary(found))) {
		Publish(d.ed, protocol.PublishDiagnosticsParams{
			URI: doc.uri, Version: protocol.NewOptional(doc.version), Diagnostics: found,
		})
	}
	if loopChanged && d.wasShown(doc.uri, methodRefreshLenses) != summary(d.lenses(doc)) {
		d.refresh[methodRefreshLenses].ask(d.ed.Client().CodeLensRefresh)
	}
}

// forget clears what the editor shows of a document that was closed.
func (d *Documents) forget(u uri.URI) {
	wasShown := kindOf(u) != planDoc || d.wasShown(u, methodPublish) != ""
	d.mu.Lock()
	maps.DeleteFunc(d.shown, func(k shownKey, _ string) bool { return k.uri == u })
	d.mu.Unlock()
	if !d.ed.Client().PullDiagnostics && wasShown {
		Publish(d.ed, protocol.PublishDiagnosticsParams{URI: u, Diagnostics: []protocol.Diagnostic{}})
	}
}

// Publish tells an editor of a file's diagnostics. They replace those that it hasn't read yet.
func Publish(ed client.Editor, p protocol.PublishDiagnosticsParams) {
	ed.NotifyLatest(methodPublish+" "+string(p.URI), methodPublish, &p)
}

// summary tells different answers apart.
func summary[T any](answer []T) string {
	data, err := protocol.Marshal(answer)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// isNews notes what the editor is shown, and says whether that is new.
func (d *Documents) isNews(u uri.URI, what, summary string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := shownKey{u, what}
	before, ok := d.shown[key]
	d.shown[key] = summary
	return !ok || before != summary
}

func (d *Documents) wasShown(u uri.URI, what string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shown[shownKey{u, what}]
}

// refreshPatience bounds how long a client may take to answer a refresh. lsp-mode loses what it
// reads together with the answer to a command, so changes, which come in bursts, are told of after
// refreshDelay, and what has no answer is asked again.
const refreshPatience, refreshDelay = 5 * time.Second, 100 * time.Millisecond

// refresher asks the client to ask again. At most one question is under way:
// while a client doesn't answer, any number of changes make one more.
type refresher struct {
	ed     client.Editor
	method string
	due    atomic.Bool   // a question is coming that is about the change, too
	turn   chan struct{} // holds that of the one under way
}

// ask asks the client, if it can be asked. It never blocks.
func (r *refresher) ask(supported bool) {
	if supported && !r.due.Swap(true) {
		go r.run()
	}
}

func (r *refresher) run() {
	time.Sleep(refreshDelay)
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	r.due.Store(false)
	for range 2 { // a client that refuses asks when it likes
		ctx, cancel := context.WithTimeout(context.Background(), refreshPatience)
		err := r.ed.Request(ctx, r.method, nil, nil)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return
		}
	}
}
