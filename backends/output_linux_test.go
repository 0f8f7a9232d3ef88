package backends

import (
	"io"
	"os"
	"strings"
	"testing"
)

// openOutput returns an output, and what an agent writes to it with.
func openOutput(t *testing.T) (output, *os.File) {
	t.Helper()
	ours, theirs, err := Backend{}.openOutput()
	if err != nil {
		t.Fatal(err)
	}
	out, err := patient(ours)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out.Close()
		theirs.Close()
	})
	return out, theirs
}

func TestOutputOfAPipe(t *testing.T) {
	out, agent := openOutput(t)
	if _, ok := out.(*patientPipe); !ok {
		t.Fatalf("it is a %T", out)
	}
	read := make(chan string)
	go func() {
		var b [100]byte
		for {
			n, err := out.Read(b[:])
			if err != nil {
				read <- err.Error()
				return
			}
			read <- string(b[:n])
		}
	}()
	for _, line := range []string{"first", "second", strings.Repeat("x", 100), "last"} {
		agent.WriteString(line)
		if got := <-read; got != line {
			t.Errorf("read %q, want %q", got, line)
		}
	}
	agent.Close()
	if got := <-read; got != io.EOF.Error() {
		t.Errorf("at the end there is %q", got)
	}
}

func TestReadingAPipeCanBeGivenUp(t *testing.T) {
	out, agent := openOutput(t)
	giveUpReading(t, out)
	out.Close()
	if _, err := agent.WriteString("x"); err == nil {
		t.Error("the pipe is still open")
	}
	if _, err := out.Read(make([]byte, 1)); err == nil {
		t.Error("it can be read after its end")
	}
}

// An agent writes much in pieces of many sizes; nothing is lost, however it is read.
func TestOutputIsWhole(t *testing.T) {
	out, agent := openOutput(t)
	const size = 3 << 20
	go func() {
		defer agent.Close()
		for i := 0; i < size; {
			n := min(1+i%4000, size-i)
			agent.Write(make([]byte, n))
			i += n
		}
	}()
	n, err := io.Copy(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out})
	if n != size || err != nil {
		t.Errorf("%d bytes, %v, want %d", n, err, size)
	}
}

func TestOutputOfATerminal(t *testing.T) {
	ours, theirs, err := openPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	defer ours.Close()
	if out, err := patient(ours); err != nil || out != output(ours) {
		t.Errorf("it is a %T, %v", out, err)
	}
}
