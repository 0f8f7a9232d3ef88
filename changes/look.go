package changes

import (
	"encoding/binary"
	"hash/maphash"
)

// trace is what a file's entry says of its content.
type trace struct {
	mode     uint32
	isDir    bool
	size     int64
	modified int64 // nanoseconds since 1970, as are the others
	changed  int64
	file     uint64 // which file it is
}

var seed = maphash.MakeSeed()

// sum stands for what was added to it, in its order.
type sum uint64

func (s *sum) add(path string, t trace) {
	var hash maphash.Hash
	hash.SetSeed(seed)
	hash.WriteString(path)
	var numbers [40]byte
	for i, n := range []uint64{uint64(t.mode), uint64(t.size), uint64(t.modified), uint64(t.changed), t.file} {
		binary.LittleEndian.PutUint64(numbers[8*i:], n)
	}
	hash.Write(numbers[:])
	*s = *s*31 + sum(hash.Sum64())
}
