package history

import "github.com/ralph-lsp/ralph-lsp/stream"

// CostOfLoop is what a loop has cost so far by its session, including runs that were cut off: its
// process may have been killed before it wrote that elsewhere.
func CostOfLoop(path, loopID string) (stream.Cost, error) {
	r, err := NewReader(path)
	if err != nil {
		return stream.Cost{}, err
	}
	defer r.Close()
	b := bill{loopID: loopID}
	for r.Next(&b) {
	}
	b.endRun(stream.Cost{})
	return b.total, r.Err()
}

// bill adds up what a loop has cost.
type bill struct {
	loopID string
	isIts  bool        // what comes is the loop's
	run    stream.Cost // of the iteration so far
	total  stream.Cost
}

func (b *bill) Handle(e stream.Event) {
	if u, ok := e.(stream.Usage); ok && u.Cost.Known && u.Cost.USD > b.run.USD {
		b.run = u.Cost
	}
}

func (b *bill) HandleRecord(r Record) {
	switch r := r.(type) {
	case LoopStart:
		b.endRun(stream.Cost{})
		b.isIts = r.LoopID == b.loopID
	case IterationStart: // a reviewer may have worked before it
		b.endRun(stream.Cost{})
	case IterationEnd:
		b.endRun(r.Cost)
	}
}

// endRun adds what a run has cost: as its end says, or as far as it came.
func (b *bill) endRun(cost stream.Cost) {
	if cost.Known {
		b.run = cost
	}
	if b.isIts {
		b.total = b.total.Plus(b.run)
	}
	b.run = stream.Cost{}
}
