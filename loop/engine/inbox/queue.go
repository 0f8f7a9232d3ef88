package inbox

// Queue has things done elsewhere that take long, one after the other. Only the goroutine of its inbox uses it.
type Queue struct {
	inbox *Inbox
	jobs  []job // the first is under way
}

// job is done elsewhere, and then here.
type job struct{ do, then func() }

// NewQueue makes one.
func (in *Inbox) NewQueue() Queue { return Queue{inbox: in} }

// Add has something done elsewhere when its turn comes, and then something here, before the next one's turn.
func (q *Queue) Add(do, then func()) {
	if q.jobs = append(q.jobs, job{do, then}); len(q.jobs) == 1 {
		q.begin()
	}
}

// begin begins the first.
func (q *Queue) begin() {
	it := q.jobs[0]
	go func() {
		it.do()
		q.inbox.Tell(func() {
			it.then()
			if q.jobs = q.jobs[1:]; len(q.jobs) > 0 {
				q.begin()
			}
		})
	}()
}

// Do is Add for who waits for it, and serves meanwhile.
func (q *Queue) Do(do, then func()) {
	isDone := false
	q.Add(do, func() { then(); isDone = true })
	q.inbox.await(func() bool { return isDone })
}

// Rest serves until nothing is left to do, and no message waits that may bring more.
func (q *Queue) Rest() {
	q.inbox.await(func() bool { return len(q.jobs) == 0 && len(q.inbox.messages) == 0 })
}
