package terminal

import "strings"

// maxBlock bounds the text that waits for its block to end, in bytes.
const maxBlock = 64 << 10

// blockBuffer cuts streamed markdown into blocks that can be rendered by
// themselves: a block ends with a blank line outside a code fence. byLine: with each line.
type blockBuffer struct {
	byLine bool
	text   strings.Builder // of the block so far, whole lines
	line   strings.Builder // the line so far
	fence  string          // the run of ` or ~ that opened a code fence, or ""
}

// add takes a piece of text and returns the blocks that it completes.
func (b *blockBuffer) add(delta string) []string {
	var done []string
	for {
		piece, rest, newline := strings.Cut(delta, "\n")
		b.line.WriteString(piece)
		if !newline {
			break
		}
		if block := b.endLine(); block != "" || b.byLine {
			done = append(done, block)
		}
		delta = rest
	}
	if b.text.Len()+b.line.Len() > maxBlock {
		done = append(done, b.flush())
	}
	return done
}

// endLine closes the line and returns the block if that ends one.
func (b *blockBuffer) endLine() string {
	line := b.line.String()
	b.line.Reset()
	if b.byLine {
		return line
	}
	blank := strings.TrimSpace(line) == ""
	b.text.WriteString(line)
	b.text.WriteByte('\n')
	b.trackFence(line)
	if !blank || b.fence != "" {
		return ""
	}
	return b.flush()
}

// trackFence follows code fences: one is closed by at least as many of the
// characters that opened it, alone on their line.
func (b *blockBuffer) trackFence(line string) {
	line = strings.TrimSpace(line)
	run := line[:len(line)-len(strings.TrimLeft(line, "`~"))]
	switch {
	case b.fence == "" && len(run) >= 3:
		b.fence = run
	case b.fence != "" && run == line && strings.HasPrefix(run, b.fence):
		b.fence = ""
	}
}

// flush returns what there is as a block, or "" when that is blank.
func (b *blockBuffer) flush() string {
	b.text.WriteString(b.line.String())
	block := b.text.String()
	*b = blockBuffer{byLine: b.byLine}
	if strings.TrimSpace(block) == "" {
		return ""
	}
	return strings.TrimRight(block, " \t\n")
}
