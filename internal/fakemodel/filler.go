package fakemodel

import (
	"math/rand"
	"strings"
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

// vocabulary has what trips naive readers: quotes, markup, multi-byte runes.
var vocabulary = strings.Fields(`the loop reads each file then runs tests and writes a patch, checks "quoted" output
 & <tags>, keeps état naïve façade → done; otherwise retries with backoff while tokens flow`)

const fillerWidth = 76 // columns after which a line of filler breaks

func (g TextGen) generate() string {
	rng := rand.New(rand.NewSource(g.Seed))
	var b strings.Builder
	for column := 0; b.Len() < g.Bytes; {
		word := vocabulary[rng.Intn(len(vocabulary))]
		b.WriteString(word)
		if column += len(word) + 1; column > fillerWidth {
			b.WriteByte('\n')
			column = 0
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String() + g.Tail
}
