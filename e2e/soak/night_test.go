//go:build soak && linux

package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// night is a loop of many iterations, in a folder of its own that has its home, too.
type night struct {
	*testing.T
	folder  string
	program string
	does    string // what the agent does in each run
	isInGit bool   // the loop's folder is in a repository

	mayBeLeft int // files, by an undo: what a run that was cut off changed, nobody can tell from what its user did since
}

const planName = "PLAN.md"

func nightOf(t *testing.T, isInGit bool, does string) *night {
	t.Helper()
	n := &night{T: t, folder: testhome.Short(t), does: does, isInGit: isInGit}
	var err error
	n.program, err = built()
	n.must(err)
	self, err := os.Executable()
	n.must(err)
	n.must(os.MkdirAll(n.work(), 0o700))
	n.must(os.MkdirAll(n.path(homeName, "ralph-lsp"), 0o700))
	n.must(testhome.Offered(n.path(homeName)))
	n.write(n.path(homeName, "ralph-lsp", "config.toml"), fmt.Sprintf("[backends.mine]\ncommand = %q\noutput = \"pi-stream-json\"\n[notify]\nkeep_awake = false\n", self))
	n.write(n.path(homeName, ".gitconfig"), fmt.Sprintf("[trace2]\n\tnormalTarget = %s\n\tnormalBrief = true\n[user]\n\tname = a\n\temail = a@b\n", n.path(gitsName)))
	for i := range files {
		n.write(filepath.Join(n.work(), fileName(i)), before)
	}
	if isInGit {
		for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "x"}} {
			n.git(args...)
		}
	}
	for _, name := range []string{dueName, gitsName, logName, heardName} {
		n.write(n.path(name), "")
	}
	return n
}

// before is what each file has before the loop.
const before = "before the loop\n"

func (n *night) path(names ...string) string {
	return filepath.Join(append([]string{n.folder}, names...)...)
}
func (n *night) work() string { return n.path(workName) }

func (n *night) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// command is this program's, or git's, in the folder of the loop.
func (n *night) command(program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(n.Context()), program, args...)
	cmd.Dir = n.work()
	home := n.path(homeName)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "PI_CODING_AGENT_DIR="+home,
		roleVar+"=agent", folderVar+"="+n.folder, doesVar+"="+n.does)
	return cmd
}

func (n *night) git(args ...string) string {
	n.Helper()
	out, err := n.command("git", args...).CombinedOutput()
	if err != nil {
		n.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// loop is a command that runs the loop, or goes on with it: so many iterations.
func (n *night) loop(verb string, iterations int, more ...string) *exec.Cmd {
	args := append([]string{verb, "--max-iterations", strconv.Itoa(iterations), "--max-time", "0", "--max-unchanged-iterations", "0", "--output", "quiet"}, more...)
	if verb == "run" {
		args = append(args, "--backend", "mine")
	}
	return n.command(n.program, args...)
}

// run has the loop run to its end.
func (n *night) run(cmd *exec.Cmd) (said string) {
	n.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) { // a loop that ends at its limit fails
		n.Fatal(err)
	}
	return string(out)
}

// sampleIn has a sample taken in these iterations.
func (n *night) sampleIn(due ...int) {
	n.Helper()
	n.write(n.path(dueName), strings.Trim(fmt.Sprint(due), "[]"))
}

func (n *night) write(path, text string) {
	n.Helper()
	n.must(os.WriteFile(path, []byte(text), 0o600))
}

// runs are those that have ended, in their order.
func (n *night) runs() (all []ran) {
	n.Helper()
	data, err := os.ReadFile(n.path(logName))
	n.must(err)
	for line := range strings.Lines(string(data)) {
		var r ran
		_, err := fmt.Sscan(line, &r.iteration, &r.begun, &r.ended, &r.keeper)
		n.must(err)
		all = append(all, r)
	}
	return all
}

// ran is a run that has ended.
type ran struct {
	iteration    int
	begun, ended int64 // nanoseconds since 1970
	keeper       int   // the loop's process
}

// isUndone holds that all that the loop changed can be undone, behind a git gc, but for mayBeLeft files. It returns what
// undo says.
func (n *night) isUndone() (said string) {
	n.Helper()
	if n.isInGit {
		n.git("gc", "--quiet", "--prune=now")
		if out := n.git("fsck", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
			n.Error(out)
		}
	}
	out, err := n.command(n.program, "undo", "--since", "1").CombinedOutput()
	if said = string(out); err != nil && !strings.Contains(said, "left as it is: ") {
		n.Fatalf("undo: %v\n%s", err, said)
	}
	var left []string
	for i := range files {
		if data, err := os.ReadFile(filepath.Join(n.work(), fileName(i))); err != nil || string(data) != before {
			left = append(left, fmt.Sprintf("%s has %q (%v)", fileName(i), data, err))
		}
	}
	if len(left) > n.mayBeLeft {
		n.Errorf("after an undo of all, where %d may be left: %q\n%s", n.mayBeLeft, left, said)
	}
	return said
}

// loopID is the id of the only loop.
func (n *night) loopID() string {
	n.Helper()
	names, err := filepath.Glob(filepath.Join(n.path(homeName, "ralph-lsp", "changes"), "*"))
	n.must(err)
	id := filepath.Base(strings.Join(names, " ")) // "ralph-ID-FOLDER"
	return id[:strings.LastIndexByte(id, '-')]
}

// samples are those that were taken, by their iterations.
func (n *night) samples() map[int]sample {
	n.Helper()
	data, err := os.ReadFile(n.path(samplesName))
	n.must(err)
	found := map[int]sample{}
	for line := range strings.Lines(string(data)) {
		var s sample
		n.must(json.Unmarshal([]byte(line), &s))
		found[s.Iteration] = s
	}
	return found
}

// gaps are the milliseconds before each iteration, from the end of the one before.
func (n *night) gaps() map[int]float64 {
	n.Helper()
	found := map[int]float64{}
	var last ran
	for _, r := range n.runs() {
		if r.iteration == last.iteration+1 && last.iteration > 0 {
			found[r.iteration] = float64(r.begun-last.ended) / 1e6
		}
		last = r
	}
	return found
}

// cost is what an iteration costs in a part of the night.
type cost struct {
	from, to                    int
	gap, processor, gits        float64 // milliseconds, the median; milliseconds; processes
	files, snapshots, story, mB float64 // files; kilobytes; megabytes at the end
}

// costs are those of parts of the night.
func (n *night) costs(parts [][2]int) (all []cost) {
	n.Helper()
	samples, gaps := n.samples(), n.gaps()
	for _, p := range parts {
		a, b := samples[p[0]], samples[p[1]]
		if a.Iteration == 0 || b.Iteration == 0 {
			n.Fatalf("no samples of the iterations %d and %d", p[0], p[1])
		}
		per := func(after, before int) float64 { return float64(after-before) / float64(p[1]-p[0]) }
		var between []float64
		for at := p[0] + 1; at <= p[1]; at++ {
			between = append(between, gaps[at])
		}
		slices.Sort(between)
		all = append(all, cost{
			from: p[0], to: p[1], gap: between[len(between)/2], gits: per(b.Gits, a.Gits),
			processor: (b.Processor - a.Processor) / float64(p[1]-p[0]),
			files:     per(b.Snapshots.Files+b.Story.Files, a.Snapshots.Files+a.Story.Files),
			snapshots: per(b.Snapshots.Bytes, a.Snapshots.Bytes) / 1000, story: per(b.Story.Bytes, a.Story.Bytes) / 1000,
			mB: float64(b.Memory) / 1e6,
		})
	}
	return all
}

// table prints them, and next to each what it is in times of the first.
func table(all []cost) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| iterations | gap, ms | processor, ms | gits | files | snapshots, kB | story, kB | memory, MB |\n|---|---|---|---|---|---|---|---|")
	first := all[0]
	for _, c := range all {
		fmt.Fprintf(&b, "| %d to %d | %.1f%s | %.1f%s | %.2f | %.2f | %.1f%s | %.2f%s | %.1f |\n", c.from, c.to,
			c.gap, times(c.gap, first.gap), c.processor, times(c.processor, first.processor), c.gits, c.files,
			c.snapshots, times(c.snapshots, first.snapshots), c.story, times(c.story, first.story), c.mB)
	}
	return b.String()
}

// times says how many times as much as the first something is; nothing where that was nothing.
func times(now, first float64) string {
	if first == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.2f)", now/first)
}

// length is how many iterations a night has.
func length() int {
	if n, err := strconv.Atoi(os.Getenv("RALPH_SOAK_ITERATIONS")); err == nil {
		return n
	}
	return 600
}

// parts are a hundred iterations each: the first, those after the hundredth, each thousandth, and the last.
func parts(iterations int) (all [][2]int) {
	from := []int{1, 100, 300}
	for at := 1000; at < iterations; at += 1000 {
		from = append(from, at)
	}
	for _, at := range append(from, iterations-99) {
		if n := len(all); n > 0 && at < all[n-1][1] {
			continue
		}
		all = append(all, [2]int{at, at + 99})
	}
	return all
}
