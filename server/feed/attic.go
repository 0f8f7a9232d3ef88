package feed

import (
	"bytes"
	"compress/flate"
	"io"

	"ralph-lsp/wire"
)

// atticBlock is how many bytes of JSON are deflated together.
const atticBlock = 256 << 10

// attic keeps what a backlog may not drop while an editor doesn't read for a
// long time: many thousand tool calls, as deflated JSON. They take a tenth of
// the memory there, and can't be merged any more.
type attic struct {
	blocks  []stowed
	size    int // bytes in blocks
	encoder *wire.Encoder
	deflate *flate.Writer
}

// stowed are updates of one iteration: deflated JSON, one to a line.
type stowed struct {
	data      []byte
	iteration int
}

// stow takes updates in.
func (a *attic) stow(updates []pending) {
	if a.deflate == nil {
		a.encoder = wire.NewEncoder()
		a.deflate, _ = flate.NewWriter(nil, flate.BestSpeed) // it knows that level
	}
	var lines bytes.Buffer
	for i := range updates {
		p := &updates[i]
		if p.gone() || p.sign != noSign {
			// the log has a gap until the next place
		} else if u, err := encode(a.encoder, *p); err == nil { // without a tool's input there is nothing that can't be encoded
			lines.Write(u.JSON)
			lines.WriteByte('\n')
		}
		if lines.Len() >= atticBlock || i == len(updates)-1 || updates[i+1].iteration != p.iteration {
			a.seal(lines.Bytes(), p.iteration)
			lines.Reset()
		}
	}
}

func (a *attic) seal(lines []byte, iteration int) {
	if len(lines) == 0 {
		return
	}
	var deflated bytes.Buffer
	a.deflate.Reset(&deflated)
	a.deflate.Write(lines) // into memory: can't fail
	a.deflate.Close()
	block := stowed{bytes.Clone(deflated.Bytes()), iteration}
	a.blocks = append(a.blocks, block)
	a.size += len(block.data)
}

// take appends the updates of the oldest block to into.
func (a *attic) take(into []pending) []pending {
	block := a.blocks[0]
	a.blocks[0] = stowed{}
	a.blocks = a.blocks[1:]
	a.size -= len(block.data)
	into = append(into, pending{sign: signGap, iteration: block.iteration})
	lines, err := io.ReadAll(flate.NewReader(bytes.NewReader(block.data)))
	if err != nil {
		panic(err) // we wrote it ourselves
	}
	for line := range bytes.Lines(lines) {
		into = append(into, pending{update: wire.Raw(line), iteration: block.iteration})
	}
	if len(a.blocks) == 0 {
		*a = attic{} // the deflater is large
	}
	return into
}
