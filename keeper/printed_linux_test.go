package keeper

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Programs that read what is printed are found, and so are those that read theirs: what they write is
// nobody's work. Those that are known are found again without a look at all processes.
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
	defer last.Wait()
	defer tee.Wait()
	defer ours.Close()

	wants, err := os.Stat(log.Name())
	if err != nil {
		t.Fatal(err)
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", ours.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	r := readers{window: os.Getpid()}
	isFound := func() bool {
		files := r.behind([]string{link})
		return slices.ContainsFunc(files, func(found os.FileInfo) bool { return os.SameFile(found, wants) })
	}
	for !isFound() { // they have begun, and may not be what they are to be
	}
	// Others may read what these have inherited, and end meanwhile.
	looks := func(after time.Duration) (all int) {
		for range 10 {
			before := time.Now().Add(-after)
			if r.at = before; !isFound() {
				t.Errorf("who reads isn't found %s after the last look", after)
			}
			if r.at != before {
				all++
			}
		}
		return all
	}
	if n := looks(-time.Hour); n != 0 { // as if the last look were still to come: no wait on a busy machine counts
		t.Errorf("%d of 10 times all processes are looked at at once again", n)
	}
	if n := looks(readersStay / 2); n == 10 {
		t.Errorf("who is known isn't found without a look at all processes")
	}
	if n := looks(readersStay); n != 10 {
		t.Errorf("%d of 10 times it is looked who has begun later", n)
	}
}
