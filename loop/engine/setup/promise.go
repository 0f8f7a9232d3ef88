package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// PromiseSource is where the loop's promise comes from.
func (c Config) PromiseSource() string {
	if c.Continue && c.Change.Promise == nil {
		return loop.FromState
	}
	return c.PromiseFrom
}

// maxOffers is how many promises are offered or named.
const maxOffers = 3

// StrayPromises says in a sentence that a prompt speaks of other promises than
// the loop's, and which; "" when it doesn't.
func StrayPromises(prompt, promise string) (why string, others []string) {
	said := PromisesIn(prompt)
	if len(said) == 0 || slices.Contains(said, promises.Normal(promise)) || slices.Equal(said, []string{promises.DefaultWord}) {
		return "", nil
	}
	tags := make([]string, 0, maxOffers)
	for _, other := range said[:min(len(said), maxOffers)] {
		tags = append(tags, loop.OneLine(promises.Tag(other)))
	}
	named := strings.Join(tags, ", ")
	if more := len(said) - len(tags); more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case promise != "":
		why = fmt.Sprintf("the prompt speaks of %s, but this loop waits for %s", named, loop.OneLine(promises.Tag(promise)))
	case len(said) > 1:
		why = fmt.Sprintf("the prompt has several promises (%s), so none of them ends this loop", named)
	default:
		why = fmt.Sprintf("the prompt speaks of %s, but this loop has no promise, so that doesn't end it", named)
	}
	return why, said[:len(tags)]
}

// PromisesIn returns the promises in a prompt that a loop can have, each once.
func PromisesIn(prompt string) []string {
	return slices.DeleteFunc(promises.Promises(prompt), func(p string) bool { return CheckPromise(p) != nil })
}
