package lines

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// readLines returns the lines of r, the last one marked with "|" if it was cut.
func readLines(r io.Reader, limit int) (lines []string, skipped int, err error) {
	in := NewReader(r, limit)
	for {
		line, isCut, err := in.Next()
		if err == io.EOF {
			return lines, in.Skipped, nil
		} else if err != nil {
			return lines, in.Skipped, err
		}
		s := string(line)
		if isCut {
			s += "|"
		}
		lines = append(lines, s)
	}
}

// chunks reads at most a random number of bytes at once.
type chunks struct {
	r   io.Reader
	rng *rand.Rand
	max int
}

func (c chunks) Read(p []byte) (int, error) {
	return c.r.Read(p[:min(len(p), 1+c.rng.IntN(c.max))])
}

// waysToRead are the ways in which the same bytes may arrive.
var waysToRead = map[string]func(data []byte) io.Reader{
	"in memory":        func(data []byte) io.Reader { return bytes.NewReader(data) },
	"in one read":      func(data []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(data)} },
	"byte by byte":     func(data []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(data)) },
	"with EOF":         func(data []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(data)) },
	"in small pieces":  func(data []byte) io.Reader { return chunks{bytes.NewReader(data), rand.New(rand.NewPCG(1, 1)), 7} },
	"in larger pieces": func(data []byte) io.Reader { return chunks{bytes.NewReader(data), rand.New(rand.NewPCG(2, 2)), 9000} },
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	tests := []struct {
		name    string
		in      string
		max     int
		want    []string
		skipped int
	}{
		{"nothing", "", 10, nil, 0},
		{"one", "a\n", 10, []string{"a"}, 0},
		{"cut off", "a\nb", 10, []string{"a", "b|"}, 0},
		{"empty lines", "\n\na\n\n", 10, []string{"", "", "a", ""}, 0},
		{"CRLF", "a\r\nb\r\r\n\r\n", 10, []string{"a", "b\r", ""}, 0},
		{"CR alone ends no line", "a\rb\n", 10, []string{"a\rb"}, 0},
		{"U+2028 ends no line", "a\u2028b\u0085c\n", 20, []string{"a\u2028b\u0085c"}, 0},
		{"invalid UTF-8 is kept", "a\xffb\n", 10, []string{"a\xffb"}, 0},
		{"as long as allowed", "0123456789\n0123456789\r\n", 10, []string{"0123456789", "0123456789"}, 0},
		{"too long", "0123456789a\nb\n", 10, []string{"b"}, 1},
		{"too long and cut off", "b\n0123456789a", 10, []string{"b"}, 1},
		{"far too long", "a\n" + long + "\nb\n" + long + long + "\nc", 10, []string{"a", "b", "c|"}, 2},
		{"longer than any buffer", long + "\n" + long + long + "\na\n", 1 << 20, []string{long, long + long, "a"}, 0},
	}
	for _, tt := range tests {
		for way, reader := range waysToRead {
			t.Run(tt.name+"/"+way, func(t *testing.T) {
				lines, skipped, err := readLines(reader([]byte(tt.in)), tt.max)
				if err != nil || skipped != tt.skipped || !slices.Equal(lines, tt.want) {
					t.Errorf("got %.80q, %d skipped, error %v; want %.80q, %d skipped", lines, skipped, err, tt.want, tt.skipped)
				}
			})
		}
	}
}

func TestLinesAfterAReadError(t *testing.T) {
	broken := errors.New("broken")
	lines, _, err := readLines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 10)
	if !errors.Is(err, broken) || !slices.Equal(lines, []string{"a", "b|"}) {
		t.Errorf("got %q and error %v, want the lines before the error and the error", lines, err)
	}
}

// idleReader never returns anything.
type idleReader struct{}

func (idleReader) Read([]byte) (int, error) { return 0, nil }

func TestLinesGiveUpOnAnIdleReader(t *testing.T) {
	if _, _, err := readLines(idleReader{}, 10); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v, want io.ErrNoProgress", err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\nbc\n\nd"), 3, uint64(1))
	f.Add([]byte("0123456789\n"), 4, uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, limit int, seed uint64) {
		limit = max(0, min(limit, 1<<20))
		want, wantSkipped := splitNaively(string(data), limit)
		for way, r := range map[string]io.Reader{
			"in memory": bytes.NewReader(data),
			"in pieces": chunks{bytes.NewReader(data), rand.New(rand.NewPCG(seed, 0)), 5},
		} {
			lines, skipped, err := readLines(r, limit)
			if err != nil || skipped != wantSkipped || !slices.Equal(lines, want) {
				t.Errorf("%s: got %q, %d skipped, error %v; want %q, %d skipped", way, lines, skipped, err, want, wantSkipped)
			}
		}
	})
}

func splitNaively(data string, limit int) (lines []string, skipped int) {
	parts := strings.Split(data, "\n")
	for i, line := range parts {
		last := i == len(parts)-1
		if last && line == "" {
			break
		}
		line = strings.TrimSuffix(line, "\r")
		switch {
		case len(line) > limit:
			skipped++
		case last:
			lines = append(lines, line+"|")
		default:
			lines = append(lines, line)
		}
	}
	return lines, skipped
}

// What was torn off is cut away, or read again when the rest has come.
func TestWhereLinesAre(t *testing.T) {
	in := NewReader(strings.NewReader("ab\r\n"+strings.Repeat("x", 20)+"\nc\ntorn"), 10)
	for _, want := range []struct {
		line         string
		start, whole int64
		isCut        bool
	}{{"ab", 0, 4, false}, {"c", 25, 27, false}, {"torn", 27, 27, true}} {
		line, isCut, err := in.Next()
		if string(line) != want.line || in.Start != want.start || in.Whole != want.whole || isCut != want.isCut || err != nil {
			t.Errorf("%q at %d, whole up to %d, cut %v, error %v; want %+v", line, in.Start, in.Whole, isCut, err, want)
		}
	}
	if _, _, err := in.Next(); err != io.EOF || in.Whole != 27 {
		t.Errorf("at the end: %v, whole up to %d", err, in.Whole)
	}
}
