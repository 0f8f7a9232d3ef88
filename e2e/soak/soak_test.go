//go:build soak && linux

package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// An iteration costs at the end of a night what it costs at the beginning. Processes, files and bytes are counted, so
// they may be held closely; processor time and memory have room for a busy machine, and the clock isn't held at all.
func TestANight(t *testing.T) {
	for _, kind := range []struct {
		name    string
		isInGit bool
		does    string
		gits    float64
	}{
		{"one file changes, in a repository", true, doesChange, 4},
		{"one file changes, in no repository", false, doesChange, 4},
		{"nothing changes", true, doesNothing, 0},
	} {
		t.Run(kind.name, func(t *testing.T) {
			n := nightOf(t, kind.isInGit, kind.does)
			all := parts(length())
			n.sampleIn(slices.Concat(asSlices(all)...)...)
			if said := n.run(n.loop("run", length(), "x")); !strings.Contains(said, "iteration limit reached") {
				t.Errorf("the loop says %s", said)
			}
			costs := n.costs(all)
			t.Logf("%s\n%s", kind.name, table(costs))
			early := costs[min(2, len(costs)-1)] // the list of snapshots is as long as it gets
			for _, c := range costs {
				held := func(what string, is, most float64) {
					if is > most {
						t.Errorf("iterations %d to %d: %s %.2f, more than %.2f", c.from, c.to, what, is, most)
					}
				}
				gits := kind.gits + 0.05
				if c.from == 1 { // git is asked at each look while the folder is hardly older than .pi, for 50 ms (workspace/changes/stamp)
					gits += 0.2
				}
				held("gits", c.gits, gits)
				held("files", c.files, early.files+0.05)
				held("kB of snapshots", c.snapshots, 1.75*early.snapshots) // lists become one now and then
				held("kB of the story", c.story, 1.1*early.story)
				held("MB of memory", c.mB, 1.5*early.mB)
				held("ms of processors", c.processor, 3*early.processor)
			}
			if kind.does == doesChange {
				n.isUndone()
			}
		})
	}
}

func asSlices(all [][2]int) (found [][]int) {
	for _, p := range all {
		found = append(found, p[:])
	}
	return found
}

// A loop is killed again and again, at any moment of an iteration, every other time its gits with it, and goes on each
// time. All of it can be undone, and nothing half done is left.
func TestANightOfKills(t *testing.T) {
	n := nightOf(t, true, doesChange)
	kills := max(length()/100, 6)
	n.run(n.loop("run", 3, "x"))
	gits := 0
	for i := range kills {
		before := n.runs()
		cmd := n.loop("resume", 10*kills)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		n.must(cmd.Start())
		var ended []ran
		proctest.Until(t, "two runs more", func() bool {
			ended = n.runs()
			return len(ended) > len(before)+1
		})
		keeper := ended[len(ended)-1].keeper
		size := func() int64 {
			info, err := os.Stat(n.path(gitsName))
			n.must(err)
			return info.Size()
		}
		// Any moment: what gits have said by then tells where in a snapshot it is.
		for till := size() + int64(rand.IntN(1500)); size() < till && syscall.Kill(keeper, 0) == nil; {
			runtime.Gosched()
		}
		var children []int
		if i%2 == 0 {
			children = proctest.Children(keeper)
		}
		n.must(syscall.Kill(keeper, syscall.SIGKILL))
		for _, pid := range children {
			if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(name) == "git\n" && syscall.Kill(pid, syscall.SIGKILL) == nil {
				gits++
			}
		}
		_ = cmd.Wait() // it says that the loop was killed
		if !strings.Contains(said.String(), "ralph-lsp resume") {
			t.Errorf("after a kill it says %s", said.String())
		}
	}
	n.run(n.loop("resume", 10*kills))
	t.Logf("%d kills, with %d gits", kills, gits)
	ran := map[int]bool{}
	for _, r := range n.runs() {
		ran[r.iteration] = true
	}
	if lost := 10*kills - len(ran); lost > kills {
		t.Errorf("%d iterations didn't end: a kill costs the one that it cut off", lost)
	}
	n.mayBeLeft = kills
	n.isUndone()
	n.git("diff", "--exit-code", "HEAD", "refs/ralph/"+n.loopID()+"/files:0") // how it was before the loop
	for _, dir := range []string{n.work(), n.path(homeName)} {
		_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
			if name := filepath.Base(path); strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp_") || strings.HasSuffix(name, ".new") {
				t.Errorf("left behind: %s", path)
			}
			return nil
		})
	}
}

// A thousand texts are steered, each is told to one run, and none is dearer than the first.
func TestManySteers(t *testing.T) {
	n := nightOf(t, true, doesChange)
	steers := max(length()/10, 60)
	cmd := n.loop("run", 0, "x")
	n.must(cmd.Start())
	for i := range steers {
		proctest.Until(t, "the loop takes a word", func() bool {
			return n.command(n.program, "steer", "--once", fmt.Sprintf("steered-%d", i)).Run() == nil
		})
	}
	last := fmt.Sprintf("steered-%d\n", steers-1)
	heard := func() string {
		data, err := os.ReadFile(n.path(heardName))
		n.must(err)
		return string(data)
	}
	proctest.Until(t, "the last text is told", func() bool { return strings.Contains(heard(), last) })
	runs := len(n.runs())
	n.sampleIn(runs+10, runs+109)
	proctest.Until(t, "a hundred runs more", func() bool { return len(n.runs()) > runs+110 })
	n.run(n.command(n.program, "cancel"))
	_ = cmd.Wait() // it was cancelled
	told := strings.Fields(heard())
	if once := slices.Compact(slices.Sorted(slices.Values(told))); len(told) != steers || len(once) != steers {
		t.Errorf("%d texts were told, %d different ones, of %d", len(told), len(once), steers)
	}
	t.Logf("behind %d steers\n%s", steers, table(n.costs([][2]int{{runs + 10, runs + 109}})))
}

// The last tasks of a long plan cost what its first ones do.
func TestALongPlan(t *testing.T) {
	n := nightOf(t, true, doesTask)
	tasks := max(length()/20, 120)
	var plan strings.Builder
	for i := range tasks {
		fmt.Fprintf(&plan, "- [ ] Do the thing with the number %d\n", i)
	}
	n.write(filepath.Join(n.work(), planName), plan.String())
	n.git("add", ".")
	n.git("commit", "-qm", "plan")
	parts := [][2]int{{1, 50}, {tasks - 50, tasks - 1}}
	n.sampleIn(1, 50, tasks-50, tasks-1)
	said := n.run(n.loop("run", tasks+10, "--plan", planName))
	if left, err := os.ReadFile(filepath.Join(n.work(), planName)); err != nil || strings.Contains(string(left), "[ ]") {
		t.Errorf("tasks are left (%v), and the loop says %s", err, said)
	}
	costs := n.costs(parts)
	t.Logf("%d tasks\n%s", tasks, table(costs))
	if costs[1].gits > costs[0].gits+0.1 || costs[1].story > 1.2*costs[0].story {
		t.Error("the last tasks cost more than the first")
	}
}

// Nothing of a run with 100,000 calls of tools stays in memory.
func TestARunWithManyCalls(t *testing.T) {
	n := nightOf(t, true, doesCalls)
	n.sampleIn(1, 2, 3, 20)
	n.run(n.loop("run", 20, "x"))
	all := n.samples()
	per := float64(all[3].Story.Bytes-all[2].Story.Bytes) / manyCalls
	t.Logf("%d calls: %.1f µs of processors and %.0f bytes each; memory %.1f MB before, %.1f behind, %.1f in the 20th iteration",
		manyCalls, 1000*(all[3].Processor-all[2].Processor)/manyCalls, per, mb(all[2]), mb(all[3]), mb(all[20]))
	if all[20].Memory > all[2].Memory+30e6 {
		t.Error("memory stays")
	}
}

func mb(s sample) float64 { return float64(s.Memory) / 1e6 }

// A run with 50,000 new files costs as much as they are, and the next one what the one before did.
func TestARunWithManyFiles(t *testing.T) {
	n := nightOf(t, true, doesFiles)
	n.sampleIn(1, 2, 3, 10, 20)
	n.run(n.loop("run", 20, "x"))
	all, gaps := n.samples(), n.gaps()
	t.Logf("%d files: %.1f s until the next run, %.1f s of processors, %d files and %.1f MB of snapshots; then %.0f ms of processors for a run (0 files before: %.0f), memory %.1f MB before, %.1f behind",
		manyFiles, gaps[3]/1000, (all[3].Processor-all[2].Processor)/1000, all[3].Snapshots.Files-all[2].Snapshots.Files, float64(all[3].Snapshots.Bytes-all[2].Snapshots.Bytes)/1e6,
		(all[20].Processor-all[10].Processor)/10, all[2].Processor-all[1].Processor, mb(all[2]), mb(all[20]))
	said := n.isUndone()
	if left, _ := filepath.Glob(filepath.Join(n.work(), "[0-9]*", "*")); len(left) > 0 {
		lines := slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool { return strings.HasPrefix(line, "undone: ") })
		t.Errorf("%d files are left after an undo: %.300q, which says %.2000q", len(left), left, lines)
	}
}

// 3,000 loops that have ended don't slow a list of all, or the next loop.
func TestManyEndedLoops(t *testing.T) {
	n := nightOf(t, true, doesChange)
	began := func() float64 {
		start := time.Now()
		n.run(n.loop("run", 1, "x"))
		runs := n.runs()
		return float64(runs[len(runs)-1].begun-start.UnixNano()) / 1e6
	}
	list := func() (took, processor float64) {
		start := time.Now()
		cmd := n.command(n.program, "status", "--all")
		out, err := cmd.Output()
		n.must(err)
		if len(out) == 0 {
			t.Error("it lists none")
		}
		return ms(time.Since(start)), ms(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	}
	first := began()
	one, oneProcessor := list()
	const kept = "loop.json"
	entries, err := filepath.Glob(n.path(homeName, "ralph-lsp", "loops", "*", kept))
	n.must(err)
	data, err := os.ReadFile(entries[0])
	n.must(err)
	const loops, folders = 3000, 20
	for i := range loops {
		var entry map[string]any
		n.must(json.Unmarshal(data, &entry))
		id, folder := "ralph-other"+strconv.Itoa(i), n.path("others", strconv.Itoa(i%folders))
		n.must(os.MkdirAll(folder, 0o700))
		entry["loopId"], entry["folder"] = id, folder
		line, err := json.Marshal(entry)
		n.must(err)
		dir := n.path(homeName, "ralph-lsp", "loops", paths.LoopName(folder, id))
		n.must(os.MkdirAll(dir, 0o700))
		n.write(filepath.Join(dir, kept), string(line))
	}
	all, allProcessor := list()
	next := began()
	t.Logf("with one loop: %.0f ms to list it (%.0f of processors), %.0f ms until an agent begins; with %d in %d folders: %.0f ms (%.0f), %.0f ms",
		one, oneProcessor, first, loops, folders, all, allProcessor, next)
	if allProcessor > 2000 {
		t.Error("it takes too long")
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
