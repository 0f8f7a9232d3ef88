package fakemodel

import (
	"math/rand"
	"unicode/utf8"
)

// split cuts s into pieces of chunk[0] to chunk[1] runes; the same seed gives
// the same pieces. Without a chunk, or with a zero one, it is a single piece.
func split(s string, chunk []int, seed int64) []string {
	if len(chunk) != 2 || chunk[0] <= 0 {
		return []string{s}
	}
	rng := rand.New(rand.NewSource(seed))
	var pieces []string
	for len(s) > 0 {
		end := 0
		for n := chunk[0] + rng.Intn(chunk[1]-chunk[0]+1); n > 0 && end < len(s); n-- {
			_, width := utf8.DecodeRuneInString(s[end:])
			end += width
		}
		pieces = append(pieces, s[:end])
		s = s[end:]
	}
	return pieces
}
