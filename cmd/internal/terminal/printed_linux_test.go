package terminal

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Programs that read what is printed are found, and so are those that read theirs: what they write is
// nobody's work.
func TestFilesBehindPipes(t *testing.T) {
	dir := t.TempDir()
	out, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	between, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	tee, last := exec.Command("cat"), exec.Command("cat")
	tee.Stdin, tee.Stdout, last.Stdin, last.Stdout = out, theirs, between, log
	for _, cmd := range []*exec.Cmd{tee, last} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []*os.File{out, theirs, between, log} {
		f.Close()
	}

	wants, err := os.Stat(log.Name())
	if err != nil {
		t.Fatal(err)
	}
	printed := PrintedTo(ours)
	isFound := func() bool {
		return slices.ContainsFunc(printed(), func(found os.FileInfo) bool { return os.SameFile(found, wants) })
	}
	for !isFound() { // they have begun, and may not be what they are to be
	}
	ours.Close() // they end
	if err := errors.Join(tee.Wait(), last.Wait()); err != nil || isFound() {
		t.Errorf("it is found when nobody writes any more: %v", err)
	}
}

func BenchmarkFilesBehindAPipe(b *testing.B) {
	out, ours, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	defer ours.Close()
	for printed := PrintedTo(ours); b.Loop(); {
		printed()
	}
}
