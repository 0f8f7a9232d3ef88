package memtest

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

func TestGrowthIsWhatIsKept(t *testing.T) {
	const lines = 10_050
	var kept []string
	keep := func(r io.Reader) {
		for in := bufio.NewScanner(r); in.Scan(); {
			kept = append(kept, in.Text())
		}
	}
	stream := Streams["text lines"]
	if got := Growth(lines, stream, keep); got < lines/2*200 || got > lines*300 || len(kept) != lines {
		t.Errorf("keeping %d lines takes %d bytes", len(kept), got)
	}
	if !strings.HasSuffix(kept[7], " 0000000007.") || strings.Contains(kept[lines-1], "#") {
		t.Errorf("the lines are %q and %q", kept[7], kept[lines-1])
	}
	kept = nil
	drop := func(r io.Reader) { io.Copy(io.Discard, r) }
	if got := Growth(lines, stream, drop); got > 50_000 {
		t.Errorf("keeping nothing takes %d bytes", got)
	}
}
