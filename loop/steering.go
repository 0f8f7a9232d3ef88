package loop

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Steering is what a user tells the agents of a loop: each run from now on, the one that is under
// way if it listens.
type Steering struct {
	Text   string `json:"text,omitempty"`
	Next   bool   `json:"next,omitempty"`   // the run under way isn't told
	Once   bool   `json:"once,omitempty"`   // one run is told, and no later one
	Forget int    `json:"forget,omitempty"` // that much of what stands is taken back, counted from 1; there is no Text then
}

// The bounds of messages that stand, and of messages that wait.
const (
	maxSteering = 20       // pieces
	maxStanding = 32 << 10 // bytes of all together: each run reads it
	maxQueued   = 4 << 20  // the same, of what is told once
)

// ErrNothingSaid is for steering that says nothing.
var ErrNothingSaid = errors.New("there is nothing to say")

// ParseSteering reads what a person types: flags in front of the text.
func ParseSteering(typed string) (q Steering, err error) {
	for {
		typed = strings.TrimSpace(typed)
		word, rest, _ := strings.Cut(typed, " ")
		switch word {
		case "--next":
			q.Next = true
		case "--once":
			q.Once = true
		case "--forget":
			rest = strings.TrimSpace(rest)
			if q.Forget, err = strconv.Atoi(rest); err != nil || q.Forget < 1 {
				return q, fmt.Errorf("--forget takes the number of the text to take back, not %q", rest)
			}
			return q, nil
		default:
			if q.Text = typed; typed == "" {
				return q, ErrNothingSaid
			}
			return q, nil
		}
		typed = rest
	}
}

// Enter puts them into a state.
func (q Steering) Enter(s *loopstate.State) error {
	switch {
	case q.Forget > len(s.Standing) || q.Forget < 0:
		return fmt.Errorf("nothing stands under %d; there are %d pieces of guidance", q.Forget, len(s.Standing))
	case q.Forget > 0:
		text := s.Standing[q.Forget-1]
		isIt := func(other string) bool { return other == text }
		s.Standing = slices.Delete(slices.Clone(s.Standing), q.Forget-1, q.Forget)
		s.Queued, s.QueuedNext = slices.DeleteFunc(slices.Clone(s.Queued), isIt), slices.DeleteFunc(slices.Clone(s.QueuedNext), isIt)
		return nil
	}
	queue := &s.Queued
	if q.Next {
		queue = &s.QueuedNext
	}
	stands := !q.Once && !slices.Contains(s.Standing, q.Text)
	if stands && !fitsIn(s.Standing, q.Text, maxStanding) {
		return fmt.Errorf("that is too much for each run: at most %d pieces with %d kB together; write it into the prompt, "+
			"take some back, or say --once", maxSteering, maxStanding>>10)
	}
	if !fitsIn(slices.Concat(s.Queued, s.QueuedNext), q.Text, maxQueued) {
		return fmt.Errorf("that is too much to tell at once: %d pieces wait to be told, and at most %d may, with %d MB",
			len(s.Queued)+len(s.QueuedNext), maxSteering, maxQueued>>20)
	}
	if stands {
		s.Standing = append(slices.Clone(s.Standing), q.Text)
	}
	*queue = append(*queue, q.Text)
	return nil
}

func fitsIn(texts []string, text string, most int) bool {
	size := len(text)
	for _, other := range texts {
		size += len(other)
	}
	return len(texts) < maxSteering && size <= most
}

// Answer says what becomes of it. live: the loop's running agent can be talked to.
func (q Steering) Answer(live bool) string {
	said := "the next run is told"
	switch {
	case q.Forget > 0:
		return "no further run is told that"
	case live && !q.Next:
		said = "the running agent is told at its next step"
	}
	if !q.Once {
		said += ", and each one behind it"
	}
	return said
}

// StandingBut are the pieces that stand and that a run isn't told as news.
func StandingBut(texts []string, news []SteeringMessage) (all []SteeringMessage) {
	for _, text := range texts {
		if !slices.ContainsFunc(news, func(g SteeringMessage) bool { return g.Text == text }) {
			all = append(all, SteeringMessage{Text: text})
		}
	}
	return all
}
