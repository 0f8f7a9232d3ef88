package stream

import (
	"regexp"
	"sync"
)

// lazyRegexp is a regular expression that is compiled when it is first used:
// an editor waits for the start of the program, and most are for rare errors.
type lazyRegexp func() *regexp.Regexp

func lazy(expr string) lazyRegexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
