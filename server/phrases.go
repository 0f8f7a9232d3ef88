package server

import (
	"fmt"
	"strings"
)

// These write what the editors and the terminal say in the same words.

// OfMax writes "3/50", or "3" where there is no limit.
func OfMax(n, limit int) string {
	if limit == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, limit)
}

// Counted writes "1 iteration", "7 iterations".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// JoinFacts puts the facts that aren't empty between dots.
func JoinFacts(facts ...string) string {
	var said []string
	for _, fact := range facts {
		if fact != "" {
			said = append(said, fact)
		}
	}
	return strings.Join(said, " · ")
}
