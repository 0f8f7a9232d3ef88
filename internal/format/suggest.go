// Package format has what is said to people in the same way in every room.
package format

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate that name is probably a misspelling of: equal
// but for case, or at most one letter and a third of them away; "" when there is none.
func Nearest(name string, candidates []string) string {
	if len(name) > longestName {
		return ""
	}
	nearest, best := "", 2+len(name)/3
	for _, candidate := range candidates {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), candidate); d < best {
			nearest, best = candidate, d
		}
	}
	return nearest
}

const (
	longestName  = 100 // bytes; a longer word is no typo of anything
	minBeginning = 3   // letters that tell which name is meant
	maxSuggested = 6   // names; more help nobody
)

// DidYouMean asks for the names that word may stand for, as in "did you mean --max-cost or --max-time?"; "" when
// there are none. prefix is put before each.
func DidYouMean(word, prefix string, names []string) string {
	found := suggest(word, names)
	if len(found) == 0 {
		return ""
	}
	last := len(found) - 1
	said := prefix + found[last]
	if last > 0 {
		said = prefix + strings.Join(found[:last], ", "+prefix) + " or " + said
	}
	return "did you mean " + said + "?"
}

// Known lists the names that there are, behind those that word may stand for: "did
// you mean codex? known are claude, codex".
func Known(word string, names []string) string {
	return strings.TrimPrefix(DidYouMean(word, "", names)+" known are "+strings.Join(names, ", "), " ")
}

// suggest returns the names that word may stand for. A typing error counts most, then the beginning of a name, then
// parts of it between dashes, then parts that are like the word's, and last a similar spelling.
func suggest(word string, names []string) []string {
	word = strings.ToLower(strings.ReplaceAll(word, "_", "-"))
	for _, means := range []func(name string) bool{
		func(name string) bool { return levenshtein.ComputeDistance(word, name) <= 1 },
		func(name string) bool { return begins(word, name) },
		func(name string) bool { return wordsAt(word, name, func(a, b string) bool { return a == b }) >= 0 },
		func(name string) bool { return wordsAt(word, name, resembles) == 0 },
		func(name string) bool { return wordsAt(word, name, resembles) > 0 },
	} {
		var found []string
		for _, name := range names {
			if means(name) {
				found = append(found, name)
			}
		}
		if len(found) > 0 && len(found) <= maxSuggested {
			return found
		}
	}
	if near := Nearest(word, names); near != "" {
		return []string{near}
	}
	return nil
}

func begins(word, name string) bool {
	return len(word) >= minBeginning && strings.HasPrefix(name, word)
}

// resembles takes a typing error, and a beginning with one letter more: "iters"
// is like "iterations".
func resembles(word, name string) bool {
	switch {
	case len(word) < minBeginning:
		return word == name
	case len(word) > minBeginning && strings.HasPrefix(name, word[:len(word)-1]):
		return true
	}
	return begins(word, name) || levenshtein.ComputeDistance(word, name) <= 1
}

// wordsAt returns which word of name the first of word is like, if the others
// come behind it, else -1.
func wordsAt(word, name string, alike func(word, name string) bool) int {
	first, wanted := -1, strings.Split(word, "-")
	for i, part := range strings.Split(name, "-") {
		if len(wanted) == 0 || !alike(wanted[0], part) {
			continue
		}
		if wanted = wanted[1:]; first < 0 {
			first = i
		}
	}
	if len(wanted) > 0 {
		return -1
	}
	return first
}
