// Package inbox is where a goroutine hears what happens elsewhere, and the only place where it waits.
//
// Others send it messages, which it handles one after the other, in Serve, or wake it to look at what they have
// changed. Slow work is done elsewhere, and its end is a message. The package knows no loop.
package inbox

import "time"

// capacity is how many messages may wait. More would only keep a later one waiting for longer.
const capacity = 2

// Inbox has the messages of one goroutine. All methods but Serve may be called from any.
type Inbox struct {
	// Moment is called each time before the goroutine waits; nil but in tests.
	Moment func()

	messages  chan func()
	wake      chan struct{} // 1-buffered
	closed    chan struct{}
	timer     *time.Timer
	at        time.Time // when timer is due; the zero time: it is off
	isServing bool
}

// Open opens it.
func (in *Inbox) Open() {
	in.messages, in.wake, in.closed = make(chan func(), capacity), make(chan struct{}, 1), make(chan struct{})
	in.timer = time.NewTimer(time.Hour)
	in.timer.Stop()
}

// Close says that the goroutine is gone.
func (in *Inbox) Close() { close(in.closed) }

// Tell has the goroutine do something, and waits until that is in the inbox. It is false when the goroutine is gone.
func (in *Inbox) Tell(message func()) bool {
	select {
	case <-in.closed:
		return false
	default:
	}
	select {
	case in.messages <- message:
		return true
	case <-in.closed:
		return false
	}
}

// Do has the goroutine do something, and returns when that is done, or the goroutine is gone.
func (in *Inbox) Do(message func()) {
	done := make(chan struct{})
	if in.Tell(func() { message(); close(done) }) {
		select {
		case <-done:
		case <-in.closed:
		}
	}
}

// Wake has the goroutine look at what was changed. It waits for nothing.
func (in *Inbox) Wake() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// Serve handles messages until something is so. until is asked first and behind each message, each Wake, which woken
// says, and at the time that it returned last; the zero time is never.
func (in *Inbox) Serve(until func(woken bool) (isSo bool, due time.Time)) {
	if in.isServing {
		panic("a message waits for another one")
	}
	in.isServing = true
	defer func() { in.isServing = false }()
	for woken := false; ; {
		isSo, due := until(woken)
		if isSo {
			return
		}
		in.set(due)
		if woken = false; in.Moment != nil {
			in.Moment()
		}
		select {
		case message := <-in.messages:
			message()
		case <-in.wake:
			woken = true
		case <-in.timer.C:
			in.at = time.Time{}
		}
	}
}

// Elsewhere has something done that takes long, such as git's work, and serves meanwhile. It must use nothing that messages
// change, but by Do. A Wake that comes meanwhile is heard by who serves next.
func (in *Inbox) Elsewhere(do func()) {
	isDone := false
	go func() {
		do()
		in.Tell(func() { isDone = true })
	}()
	in.await(func() bool { return isDone })
}

// Found is what is found out elsewhere.
func Found[T any](in *Inbox, look func() T) (it T) {
	in.Elsewhere(func() { it = look() })
	return it
}

// await serves until a message makes something so.
func (in *Inbox) await(isSo func() bool) {
	isWoken := false
	in.Serve(func(woken bool) (bool, time.Time) {
		isWoken = isWoken || woken
		return isSo(), time.Time{}
	})
	if isWoken {
		in.Wake()
	}
}

// set has the timer go off in time. One that goes off too early only has until asked.
func (in *Inbox) set(due time.Time) {
	switch {
	case due.IsZero() && !in.at.IsZero():
		in.timer.Stop()
		in.at = due
	case !due.IsZero() && (in.at.IsZero() || due.Before(in.at)):
		in.timer.Reset(time.Until(due))
		in.at = due
	}
}

// Later has the goroutine do something after a time, unless stop, which only it may call, is called before.
func (in *Inbox) Later(after time.Duration, do func()) (stop func()) {
	isStopped := false
	timer := time.AfterFunc(after, func() {
		in.Tell(func() {
			if !isStopped {
				do()
			}
		})
	})
	return func() {
		isStopped = true
		timer.Stop()
	}
}
