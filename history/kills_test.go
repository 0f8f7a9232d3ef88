//go:build !race

package history

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// TestCutAnywhere cuts a session at each byte of its last two entries: all
// entries before can be read, and the loop can go on.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	w, o, cwd := newTestWriter(t)
	begin(w, 1)
	w.HandleRecord(Input{Kind: InputAgent, Text: "Grüße, 世界"})
	w.HandleRecord(ends(1, "ok", stream.Cost{}))
	whole := read(t, closed(t, w))
	lines := strings.SplitAfter(whole, "\n")
	kept := len(lines) - 1 - 2 // what follows the last newline is no line
	firstCut := len(strings.Join(lines[:kept], ""))
	path := filepath.Join(o.Folder, "cut.jsonl")
	for cut := firstCut; cut <= len(whole); cut++ {
		must.OK(t, os.WriteFile(path, []byte(whole[:cut]), 0o600))
		whole := strings.Count(whole[:cut], "\n")
		w, err := ContinueWriter(o, cwd, path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		w.HandleRecord(LoopEnd{StopReason: "promise"})
		after := read(t, closed(t, w))
		if n := strings.Count(after, "\n"); n < whole+1 || n > whole+2 { // only the end of the last line was cut off, maybe
			t.Fatalf("cut at %d: there are %d lines\n%s", cut, n, after)
		}
		if found := faults(t, path); found != nil {
			t.Fatalf("cut at %d: %q", cut, found)
		}
	}
}

// TestKilledWhileWriting kills processes 100 times while they write, each one
// that goes on with the session of the one before.
func TestKilledWhileWriting(t *testing.T) {
	const chains, kills = 4, 25
	for chain := range chains {
		t.Run(fmt.Sprint(chain), func(t *testing.T) {
			t.Parallel()
			killAgainAndAgain(t, kills)
		})
	}
}

func killAgainAndAgain(t *testing.T, kills int) {
	folder := paths.Real(t.TempDir())
	path := ""
	total := 0
	for kill := range kills {
		if _, err := os.Stat(path); err != nil {
			path = "" // killed before the first entry
		}
		var acknowledged int
		path, acknowledged = writeAndKill(t, folder, path, kill%7)
		total += acknowledged
	}
	if n := strings.Count(read(t, path), InputType); n < total || total == 0 {
		t.Errorf("%d entries were written, %d are there", total, n)
	}
	w, err := ContinueWriter(Options{Folder: folder}, folder, path)
	must.OK(t, err)
	if found := faults(t, closed(t, w)); found != nil { // what was cut off is dropped by the one that goes on
		t.Errorf("%q", found)
	}
}

// writeAndKill lets a process write until it has acknowledged a number of
// entries, and kills it in the middle of the next ones.
func writeAndKill(t *testing.T, folder, file string, entries int) (path string, acknowledged int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envCrashFolder+"="+folder, envCrashFile+"="+file)
	out, err := cmd.StdoutPipe()
	must.OK(t, err)
	cmd.Stderr = os.Stderr
	must.OK(t, cmd.Start())
	lines := bufio.NewScanner(out)
	if lines.Scan() {
		path = lines.Text()
	}
	for acknowledged < entries && lines.Scan() {
		acknowledged++
	}
	err = cmd.Process.Kill()
	for lines.Scan() {
		acknowledged++
	}
	if exit := (*exec.ExitError)(nil); err != nil || !errors.As(cmd.Wait(), &exit) || exit.Exited() {
		t.Fatalf("the writer ended by itself: %v %v", err, exit)
	}
	return path, acknowledged
}
