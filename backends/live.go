package backends

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends/acp"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Live says how an agent is talked to while it works, as data: its standard input stays open
// until its run is over, and takes lines of JSON.
type Live struct {
	Args    []string // of a headless run, instead of the backend's
	Since   string   // the first version that says when all is done; "" is any
	Package string   // of npm: its package.json tells the version
	Unless  []string // arguments of the user's with which it can't be: flags, or the beginning of a word with * behind it

	// Of an agent that asks its user:
	Asks      []Replaceable // instead of the backend's; nil leaves these
	AskArgs   []string      // behind Args
	AskUnless []string      // flags of the user's by which it asks somebody else
	AskMay    string        // instead of the backend's

	// Dialect names the frames of its conversation: a key of dialects, "" where ACP says them.
	Dialect string
	ACP     *acp.Agent // of the Agent Client Protocol
	Silent  []string   // the backend's arguments where nobody talks to it
}

// dialect has the frames of a conversation. A frame is what becomes a line of JSON.
type dialect struct {
	Prompt   func(id, text string) any
	Steer    func(id, text string) any
	TakeBack func(ids []string) []any // of what it was told and hasn't read, by their ids
	Abort    func(id string) any
	Check    func() any                              // asks whether it works, once it has read its prompt; nil where its stream tells
	Answer   func(q stream.Question, a Answer) []any // to what the agent asks
	Refuse   func(q stream.Question) (why string)    // what no user is asked: "" is what one can answer; nil refuses nothing

	// Of an agent that is asked for one thing after the other:
	Answered func(stream.Answered) (next any, failure string) // the line that follows an answer; a failure ends the run
	Bye      func() any                                       // the last word, its id is acp.ByeID; nil for none
}

// dialects are the conversations that are the same in each run.
var dialects = map[string]*dialect{"pi": &piDialect, "claude": &claudeDialect}

// open is the conversation of a run in a folder.
func (l *Live) open(dir string) *dialect {
	if l.ACP != nil {
		return openACP(*l.ACP, dir)
	}
	return dialects[l.Dialect]
}

// Talking returns the backend such that its runs can be talked to while they work, with the
// user's own arguments; as it is when it can't be. It asks the program
// for its version only where no file tells.
func (b Backend) Talking(ctx context.Context, user []string) Backend {
	b, _ = b.talking(ctx, user)
	return b
}

// talking is Talking, with an error where nobody knows the version.
func (b Backend) talking(ctx context.Context, user []string) (Backend, error) {
	if b.Live == nil || b.Prompt != PromptStdin || b.Live.refuses(user) {
		return b, nil
	}
	if isNew, err := b.isSince(ctx, b.Live); !isNew {
		return b, err
	}
	live := *b.Live
	live.Silent = b.Args
	b.Live, b.Args, b.Prompt = &live, live.Args, PromptLive
	return b, nil
}

// Silent is Talking's end: the backend as it is where nobody talks to it.
func (b Backend) Silent() Backend {
	if b.Prompt == PromptLive {
		b.Args, b.Prompt = b.Live.Silent, PromptStdin
	}
	return b
}

// refuses says whether the user's arguments keep the agent from being talked to.
func (l *Live) refuses(user []string) bool {
	return slices.ContainsFunc(l.Unless, func(not string) bool {
		if begin, ok := strings.CutSuffix(not, "*"); ok {
			return slices.ContainsFunc(user, func(arg string) bool { return strings.HasPrefix(arg, begin) })
		}
		return HasFlag(user, not)
	})
}

// isSince says whether the agent's program is new enough, or why it doesn't tell.
func (b Backend) isSince(ctx context.Context, l *Live) (bool, error) {
	path, err := b.Find()
	if err != nil || l.Since == "" {
		return err == nil, err
	}
	version := packaged(path, l.Package)
	if version == "" {
		version, err = b.Version(ctx)
	}
	return version != "" && !isOlder(version, l.Since), err
}

// packaged is the version of the npm package that a program belongs to, "" when it
// doesn't look like one.
func packaged(program, name string) string {
	path, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		data, err := regular.Read(filepath.Join(dir, "package.json"), regular.Long)
		if err != nil {
			continue
		}
		var about struct{ Name, Version string }
		if json.Unmarshal(data, &about) == nil && about.Name == name {
			return about.Version
		}
	}
	return ""
}

// isOlder compares the numbers of two versions; text after a - doesn't count.
func isOlder(version, than string) bool {
	numbers := func(s string) (n []int) {
		s, _, _ = strings.Cut(s, "-")
		for part := range strings.SplitSeq(s, ".") {
			i, _ := strconv.Atoi(part)
			n = append(n, i)
		}
		return n
	}
	return slices.Compare(numbers(version), numbers(than)) < 0
}

// frame is a value as a line of JSON.
func frame(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // of texts and maps of them
	}
	return b.Bytes()
}

func frames(values []any) (lines [][]byte) {
	for _, v := range values {
		lines = append(lines, frame(v))
	}
	return lines
}

// byeLimit is how long an agent may take to answer to the last that it is asked.
const byeLimit = 3 * time.Second

// newUUID makes an id for a frame, in the form that claude wants.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// talk is the conversation with an agent that works.
type talk struct {
	mu    sync.Mutex
	said  []sentText        // messages that it hasn't read yet, oldest first
	open  []stream.Question // its open questions
	ended bool              // messages that it reads from here on did nothing

	failure string          // why it can't be talked to
	denials []stream.Denial // refusals that its stream doesn't tell
}

// sentText is a message to the agent: its name here, and its id in the frame.
type sentText struct{ name, id, text string }

// Steer tells the agent something while it works. It is false when that can't be:
// it isn't talked to, is done, or doesn't read. A stream.Heard with the name as its ID
// tells that the agent has read it; without one it hasn't.
func (p *Process) Steer(name, text string) bool {
	live := p.live()
	if live == nil {
		return false
	}
	p.talk.mu.Lock()
	defer p.talk.mu.Unlock()
	s := sentText{name, newUUID(), text}
	word := live.Steer(s.id, text)
	if word == nil || p.talk.ended || !p.in.send(frame(word)) {
		return false
	}
	p.talk.said = append(p.talk.said, s)
	return true
}

// TakeBack takes back what the agent was told and hasn't read yet.
func (p *Process) TakeBack() {
	p.talk.mu.Lock()
	defer p.talk.mu.Unlock()
	if live := p.live(); live != nil && len(p.talk.said) > 0 {
		p.in.send(p.talk.takeBack(live)...)
	}
}

func (t *talk) takeBack(live *dialect) (lines [][]byte) {
	var ids []string
	for _, s := range t.said {
		ids = append(ids, s.id)
	}
	return frames(live.TakeBack(ids))
}

// Abort ends the run in the way that suits the agent: by a request, where it takes one, so that its last event tells
// the cost of the run; after grace, or else, by Stop. Unread messages are withdrawn.
func (p *Process) Abort(grace time.Duration) {
	live := p.live()
	if live == nil {
		p.Stop(grace)
		return
	}
	p.talk.mu.Lock()
	p.talk.ended = true
	var lines [][]byte
	if len(p.talk.said) > 0 {
		lines = p.talk.takeBack(live)
	}
	word := live.Abort(newUUID())
	if word != nil {
		lines = append(lines, frame(word))
	}
	for _, q := range p.talk.open { // pi aborts nothing while it waits for an answer
		lines = append(lines, frames(live.Answer(q, Answer{Text: "the run is ended"}))...)
	}
	p.talk.open = nil
	if word != nil { // before it can hear of that, and end
		select {
		case p.abort <- grace:
		default:
		}
	}
	asked := word != nil && p.in.send(lines...)
	p.talk.mu.Unlock()
	if !asked {
		p.Stop(grace)
	}
}

// live is how the agent of this run is talked to, nil when it isn't.
func (p *Process) live() *dialect { return p.spec.dialect }

// hangUp ends the input of an agent that is talked to: it is done.
func (p *Process) hangUp() {
	live := p.live()
	if live == nil {
		return
	}
	if live.Bye != nil {
		if word := live.Bye(); word != nil && p.in.send(frame(word)) {
			time.AfterFunc(byeLimit, p.in.finish)
			return
		}
	}
	p.in.close()
}

// Handle passes on what an agent says that is talked to.
func (p *Process) Handle(e stream.Event) {
	switch about := e.(type) {
	case stream.Heard:
		name, ok := p.talk.heard(about)
		if check := p.live().Check; !ok && about.ID != "" && check != nil {
			p.in.send(frame(check()))
		}
		if !ok {
			return
		}
		e = stream.Heard{ID: name}
	case stream.Question:
		p.ask(about)
	case stream.Withdrawn:
		p.talk.close(about.ID)
	case stream.Answered:
		p.answered(about)
		return
	case stream.Complete:
		p.amend(&about.Result)
		e = about
	}
	if p.spec.Handler != nil {
		p.spec.Handler.Handle(e)
	}
}

// answered goes on with what follows what the agent says to a request of ours.
func (p *Process) answered(e stream.Answered) {
	if e.ID == acp.ByeID {
		p.in.finish()
		return
	}
	next, failure := p.live().Answered(e)
	if next != nil && !p.in.send(frame(next)) {
		failure = "the agent doesn't read what it is told, or that is too long"
	}
	p.talk.failure = failure
}

// amend adds to what the stream came to what the conversation did.
func (p *Process) amend(r *stream.Result) {
	if p.talk.failure != "" {
		r.Failure, r.Terminal = &stream.Error{Message: p.talk.failure, Refused: true}, true
	}
	r.Denials = append(r.Denials, p.talk.denials...)
}

// heard finds what the agent has read.
func (t *talk) heard(e stream.Heard) (name string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.said, func(s sentText) bool { return e.ID == s.id || e.ID == "" && e.Text == s.text })
	if i < 0 || t.ended {
		return "", false
	}
	name = t.said[i].name
	t.said = slices.Delete(t.said, i, i+1)
	return name, true
}
