package transcript

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Scheme is that of the documents' URIs: ralph-loop:/LOOPID, with any name for a tab behind that, and
// ?thinking for the model's reasoning, too.
const Scheme = "ralph-loop"

const (
	// methodRefresh tells an editor that it should ask for a document again.
	methodRefresh = "workspace/textDocumentContent/refresh"
	// minRefresh is how long an editor isn't told of news, and perKilobyte how much longer for each
	// kilobyte that it has to show anew.
	minRefresh  = 250 * time.Millisecond
	perKilobyte = 5 * time.Millisecond
	// maxUnasked is how often an editor is told of news of a document that it doesn't ask for: it was closed.
	maxUnasked = 3
	// maxOpen bounds the documents that are remembered.
	maxOpen = 32
	// maxRead is how many bytes of a story are looked at for the beginning of its document.
	maxRead = 4 << 20
)

// Documents are those that an editor has asked for.
type Documents struct {
	ed   client.Editor
	find func(ctx context.Context, loopID string) (service.Log, error)

	mu   sync.Mutex
	open map[string]*document // by URI
}

// document is one transcript, as the editor has it.
type document struct {
	uri, loopID string
	thinking    bool

	reading  sync.Mutex // held while the story is read
	hasBegun bool
	cursor   string // up to where it was read
	text     Markdown

	// The mutex of Documents guards these.
	asked   time.Time
	unasked int // how often the editor was told of news since it asked
	size    int // of the text, in bytes
	timer   *time.Timer
}

// New returns documents for an editor. find finds the log of a loop.
func New(ed client.Editor, find func(ctx context.Context, loopID string) (service.Log, error)) *Documents {
	return &Documents{ed: ed, find: find, open: map[string]*document{}}
}

// Content returns the text of a document. From then on the editor is told when there is more, as long as it asks again.
func (d *Documents) Content(ctx context.Context, uri string) (string, error) {
	doc, err := d.asked(uri)
	if err != nil {
		return "", err
	}
	log, err := d.find(ctx, doc.loopID)
	if err != nil {
		return "", err
	}
	text, err := doc.read(ctx, log)
	d.mu.Lock()
	doc.size = len(text)
	d.mu.Unlock()
	if text == "" {
		text = "*Nothing has been said yet.*\n"
	}
	return text, err
}

// Changed says that a loop has told something.
func (d *Documents) Changed(loopID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, doc := range d.open {
		if doc.loopID == loopID && doc.timer == nil {
			wait := minRefresh + time.Duration(doc.size)*perKilobyte/1024
			doc.timer = time.AfterFunc(wait, func() { d.refresh(doc) })
		}
	}
}

// refresh tells the editor of news.
func (d *Documents) refresh(doc *document) {
	d.mu.Lock()
	doc.timer = nil
	if doc.unasked++; doc.unasked > maxUnasked {
		delete(d.open, doc.uri)
	}
	d.mu.Unlock()
	params := struct {
		URI string `json:"uri"`
	}{doc.uri}
	_ = d.ed.Request(context.Background(), methodRefresh, params, nil) // who can't do it has said so by not asking
}

// asked is the document of a URI, which the editor wants now.
func (d *Documents) asked(uri string) (*document, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc := d.open[uri]
	if doc == nil {
		u, err := url.Parse(uri)
		if err != nil || u.Scheme != Scheme || len(u.Path) < 2 {
			return nil, wire.Invalid("uri", "%s names no transcript: that is %s:/LOOPID", uri, Scheme)
		}
		id, _, _ := strings.Cut(u.Path[1:], "/")
		doc = &document{uri: uri, loopID: id, thinking: u.Query().Has("thinking")}
		d.open[uri] = doc
		d.forget()
	}
	doc.asked, doc.unasked = time.Now(), 0
	return doc, nil
}

// forget drops what the editor has not asked for longest, where there is too much. The caller holds mu.
func (d *Documents) forget() {
	var oldest *document
	for _, doc := range d.open {
		if !doc.asked.IsZero() && (oldest == nil || doc.asked.Before(oldest.asked)) {
			oldest = doc
		}
	}
	if len(d.open) > maxOpen {
		delete(d.open, oldest.uri)
	}
}

// read takes what is new of the story.
func (doc *document) read(ctx context.Context, log service.Log) (string, error) {
	doc.reading.Lock()
	defer doc.reading.Unlock()
	if !doc.hasBegun {
		o, err := log.Outline(ctx)
		if err != nil {
			return "", err
		}
		doc.cursor, doc.text.isCut = beginning(o)
		doc.hasBegun = true
	}
	for more := true; more; {
		page, err := log.Read(ctx, doc.cursor, journal.Options{Thinking: doc.thinking})
		if err != nil {
			return "", fmt.Errorf("reading the transcript: %w", err)
		}
		if page.Reset {
			doc.text = Markdown{}
		}
		for _, it := range page.Items {
			doc.text.Add(wire.Decode(it.JSON))
		}
		doc.cursor, more = page.Cursor, page.More
	}
	return doc.text.String(), nil
}

// beginning is from where a story is read for its document, and whether something stands before.
func beginning(o wire.Outline) (cursor string, isCut bool) {
	read := int64(0)
	for i := len(o.Parts) - 1; i >= 0 && read < maxRead; i-- {
		read += o.Parts[i].Bytes
		cursor, isCut = o.Parts[i].Cursor, i > 0
	}
	return cursor, isCut
}
