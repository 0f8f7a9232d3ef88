package documents

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// stateKeys are the keys of the state file, for an editor's help.
var stateKeys = sync.OnceValue(func() (keys []config.Key) {
	for _, k := range loopstate.Keys() {
		key := config.Key{Type: config.Type(k.Kind)}
		if twin, ok := twinOf(k.Name); ok {
			key = twin
		}
		key.Path, key.Doc, key.Default = []string{k.Name}, cmp.Or(k.Doc, key.Doc), cmp.Or(k.Default, key.Default)
		if k.Name == "completion_promise" {
			key.Samples = append(key.Samples, k.Default)
		}
		keys = append(keys, key)
	}
	return keys
})

// twinOf is the key of ralph.toml that means what one of the state file does.
func twinOf(name string) (key config.Key, ok bool) {
	path := map[string]string{"backend": "backend", "sandbox_engine": "sandbox.engine"}[name]
	setting, isSetting := settings.ByStored(name)
	switch {
	case setting.Stored.Means != "":
		return config.Key{Type: config.Switch, Default: "false", Doc: setting.Stored.Doc}, true
	case isSetting:
		path = setting.Key
	}
	if key, ok = config.Lookup(strings.Split(path, ".")...); isSetting {
		key.Doc = cmp.Or(setting.Stored.Doc, key.Doc)
	}
	return key, ok
}

func stateKey(name string) (config.Key, bool) {
	i := slices.IndexFunc(stateKeys(), func(k config.Key) bool { return k.Name() == name })
	if i < 0 {
		return config.Key{}, false
	}
	return stateKeys()[i], true
}

// stateNode is what is at an offset of a state file.
func stateNode(text string, offset int) config.Node {
	none := config.Node{Start: offset, End: offset}
	front, ok := loopstate.FrontOf(text)
	if !ok || offset < front.Start || offset > front.End || offset == front.End && front.End < len(text) {
		return none
	}
	from := strings.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	if strings.TrimSpace(line) == "" {
		return config.Node{Where: config.InKey, Path: []string{""}, Start: offset, End: offset}
	}
	l, ok := front.LineAt(from)
	switch {
	case !ok:
		return none
	case l.Colon < 0 || offset <= l.Colon:
		return config.Node{Where: config.InKey, Path: []string{l.Key}, Start: l.KeyStart, End: max(l.KeyEnd, offset),
			Closed: l.Colon >= 0, Value: text[l.ValueStart:l.ValueEnd]}
	case offset > l.ValueEnd && l.ValueEnd > l.ValueStart, offset > l.ValueStart && l.ValueEnd == l.ValueStart:
		return none
	}
	p := config.Node{Where: config.InValue, Path: []string{l.Key}, Start: offset, End: offset, Closed: true}
	if l.ValueStart < l.ValueEnd {
		p.Start, p.End, p.Value = min(l.ValueStart, offset), l.ValueEnd, text[l.ValueStart:l.ValueEnd]
	}
	return p
}

// editState returns the edits that make a state file say something else; none
// for a file that can't be read.
func editState(text string, change func(*loopstate.State)) []edit {
	doc, err := loopstate.Parse([]byte(text))
	if err != nil {
		return nil
	}
	state := doc.State()
	change(&state)
	doc.Set(state)
	return difference(text, string(doc.Bytes()))
}
