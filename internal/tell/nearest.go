// Package tell has what is said to people in the same way in every room.
package tell

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// longestName bounds the work for names that are no typo of anything.
const longestName = 100

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
