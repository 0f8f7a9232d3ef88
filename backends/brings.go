package backends

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Brought is a file in a folder that makes an agent run programs, or send its keys elsewhere,
// without a word to its user, as it asks nobody when it is headless.
type Brought struct {
	File string   // its path in the folder
	Keys []string // the keys of its JSON that do so
	// Hooks are such keys that our arguments keep from counting.
	Hooks []string
	Above bool // one in a folder above counts, too
}

// Hooks are what keeps the programs of its settings from running in a session. They may keep
// a run from ending.
type Hooks struct {
	Off []string // arguments; nil: they run
	By  []string // flags of the user's own that take the place of Off
}

// HooksRun says whether the agent's hooks run with the user's own arguments. known is false
// for one that has none, as far as is known.
func (b Backend) HooksRun(user []string) (run, known bool) {
	return b.Hooks.Off == nil || HasFlag(user, b.Hooks.By...), len(b.Hooks.By) > 0
}

// Wants says, in one line, what a file would run, with the user's own arguments; "" for nothing. An unreadable file
// may run anything.
func (b Backend) Wants(file Brought, data []byte, user []string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return "what can't be read"
	}
	keys := file.Keys
	if run, _ := b.HooksRun(user); run {
		keys = slices.Concat(keys, file.Hooks)
	}
	var wants []string
	for _, key := range keys {
		value, ok := all[key]
		if names := map[string]json.RawMessage{}; key == "env" && json.Unmarshal(value, &names) == nil && len(names) > 0 {
			value = []byte(strings.Join(slices.Sorted(maps.Keys(names)), ", ")) // the values may be secrets
		}
		if compact := strings.Join(strings.Fields(string(value)), " "); ok && !slices.Contains([]string{"null", "{}", "[]", `""`}, compact) {
			wants = append(wants, key+" = "+compact)
		}
	}
	return strings.Join(wants, ", ")
}

// PlacesOf are where a file may be for an agent that works in a folder. A user's own home is none.
func (file Brought) PlacesOf(folder, home string) (places []string) {
	for dir := folder; ; dir = filepath.Dir(dir) {
		if dir != home {
			places = append(places, filepath.Join(dir, filepath.FromSlash(file.File)))
		}
		if !file.Above || dir == home || dir == filepath.Dir(dir) {
			return places
		}
	}
}
