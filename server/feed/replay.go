package feed

import (
	"encoding/json"
	"sync"

	"ralph-lsp/wire"
)

const (
	maxReplay     = 4 << 20 // bytes of a loop's updates that are kept
	MaxReplayPage = 1 << 20 // bytes that one answer has at most
)

// replay keeps a loop's last updates, whoever got them.
type replay struct {
	mu   sync.Mutex
	kept []replayBatch // without holes
	size int
	last int64 // number of the last update
}

type replayBatch struct {
	updates []json.RawMessage
	last    int64 // number of the last of them
	size    int
}

// add keeps updates and forgets older ones. It returns the number of the last.
func (r *replay) add(updates []json.RawMessage) int64 {
	const perUpdate, perBatch = 24, 128 // bytes of bookkeeping
	size := perBatch
	for _, u := range updates {
		size += perUpdate + len(u)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last += int64(len(updates))
	r.kept = append(r.kept, replayBatch{updates, r.last, size})
	r.size += size
	for r.size > maxReplay {
		r.size -= r.kept[0].size
		r.kept[0] = replayBatch{}
		r.kept = r.kept[1:]
	}
	return r.last
}

// after returns the updates that follow the number seq: at most limit, if that
// is positive, and at most maxReplayPage bytes, but one at least.
func (r *replay) after(seq int64, limit int) wire.OutputResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	seq = min(max(seq, 0), r.last)
	result := wire.OutputResult{Updates: []json.RawMessage{}, NextSeq: seq, Complete: true}
	size := 0
	for _, b := range r.kept {
		if b.last <= seq {
			continue
		}
		number := b.last - int64(len(b.updates))
		for _, u := range b.updates {
			if number++; number <= seq {
				continue
			}
			if len(result.Updates) == 0 {
				result.Complete = number == seq+1
			} else if len(result.Updates) == limit || size+len(u) > MaxReplayPage {
				return result
			}
			result.Updates, result.NextSeq = append(result.Updates, u), number
			size += len(u)
		}
	}
	return result
}
