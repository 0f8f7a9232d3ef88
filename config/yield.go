package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
)

// A folder's file that isn't trusted may tighten what the user set, and loosen
// nothing: neither the limits, nor the choice of the agent and its arguments,
// nor what is kept of a loop.

// Held is a value of a folder's file that doesn't count, as the file isn't trusted, or whatever it is.
type Held struct {
	Line   string // "limits.max_cost_usd = 0"
	Counts string // "2.0", what counts instead; "" when that is no single value
	Users  bool   // no folder's file may say it
}

// hold takes what must yield out of a folder's decoded file, and returns it: of one that is trusted, only what
// the user's own file alone may say. s are the settings without that file, user are the values of the user's.
func (s Settings) hold(folder, user map[string]any, isTrusted bool) (rest map[string]any, held []Held) {
	rest = clone(folder)
	hats, _ := folder["hats"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(hats)) {
		own := at(user, "hats", name)
		if isTrusted || own == nil || text(own) == text(hats[name]) {
			continue
		}
		var lines []string
		for _, l := range leaves(at(folder, "hats", name).(map[string]any), "hats", name) {
			lines = append(lines, l.line())
		}
		held = append(held, Held{Line: strings.Join(lines, ", ")})
		delete(rest["hats"].(map[string]any), name)
	}
	for _, l := range leaves(rest) {
		key := strings.Join(l.path, ".")
		now, isSet := s.sources[key]
		if isSet && (!isTrusted || l.key.Yields == settings.Users) && l.yields(now.value, at(user, l.path...) != nil) {
			held = append(held, Held{l.line(), text(now.value), l.key.Yields == settings.Users})
			delete(at(rest, l.path[:len(l.path)-1]...).(map[string]any), l.path[len(l.path)-1])
		}
	}
	return rest, held
}

// yields says whether a folder's value yields to another one, which may be the user's own.
func (l leaf) yields(now any, isUsers bool) bool {
	if text(now) == text(l.value) {
		return false
	}
	switch l.key.Yields {
	case settings.ToStricter:
		return isLooser(l.key, l.value, now)
	case settings.ToUsers:
		return isUsers
	}
	return l.key.Yields == settings.Always || l.key.Yields == settings.Users
}

// lines are what is held and would count if the file were trusted, as it stands there.
func lines(held []Held) (out []string) {
	for _, h := range held {
		if !h.Users {
			out = append(out, h.Line)
		}
	}
	return out
}

// isLooser says whether a setting, or a choice of Values, is looser with a than with b.
func isLooser(key Key, a, b any) bool {
	if setting, ok := settings.ByKey(strings.Join(key.Path, ".")); ok {
		var x, y settings.Values
		return setting.Set(&x, fmt.Sprint(a)) == nil && setting.Set(&y, fmt.Sprint(b)) == nil && setting.IsLooser(x, y)
	}
	return slices.Index(key.Values, a.(string)) < slices.Index(key.Values, b.(string))
}

// HeldText tells in one line what of a folder's file doesn't count, and how it would.
func (s Settings) HeldText() string {
	if len(s.Held) == 0 {
		return ""
	}
	var untrusted, users []string
	for _, h := range s.Held {
		part := h.Line + " is not taken"
		if h.Counts != "" {
			part += " (" + h.Counts + " counts)"
		}
		if h.Users {
			users = append(users, part)
		} else {
			untrusted = append(untrusted, part)
		}
	}
	var all []string
	if len(untrusted) > 0 {
		all = append(all, fmt.Sprintf("the folder's %s isn't trusted: %s; to accept it, run ralph-lsp trust", Name,
			strings.Join(untrusted, ", ")))
	}
	if len(users) > 0 {
		all = append(all, fmt.Sprintf("the folder's %s can't say this for you: %s; write it into your own %s", Name,
			strings.Join(users, ", "), UserName))
	}
	return strings.Join(all, "; ")
}

// at is the value at a path of a decoded file, nil when there is none.
func at(values map[string]any, path ...string) any {
	var v any = values
	for _, name := range path {
		table, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = table[name]
	}
	return v
}

// clone copies the tables of a decoded file.
func clone(values map[string]any) map[string]any {
	out := maps.Clone(values)
	for name, v := range out {
		if table, ok := v.(map[string]any); ok {
			out[name] = clone(table)
		}
	}
	return out
}
