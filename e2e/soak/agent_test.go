//go:build soak && linux

package soak

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What the test and its agent tell each other: the agent is the test's own program, in a folder of the night.
const (
	roleVar   = "RALPH_SOAK_ROLE"
	folderVar = "RALPH_SOAK_FOLDER" // has the names below
	doesVar   = "RALPH_SOAK_DOES"   // one of what it can do

	logName     = "log"     // a line per run: iteration, begin and end in nanoseconds, the loop's process
	dueName     = "due"     // the iterations in which a sample is taken, a line each
	samplesName = "samples" // a sample per line
	gitsName    = "gits"    // what git says of itself, each time it is started
	heardName   = "heard"   // what was steered, a line each
	homeName    = "home"
	workName    = "work"
)

// What an agent can do in a run.
const (
	doesNothing = "nothing"
	doesChange  = "change" // a file
	doesTask    = "task"   // of the plan
	doesCalls   = "calls"  // of tools, many of them in the second iteration
	doesFiles   = "files"  // makes many of them in the second iteration
)

const (
	files     = 20 // that are written by turns
	manyCalls = 100_000
	manyFiles = 50_000
)

// uses is a tool's call: runs that use none would be paced.
const uses = `{"type":"tool_execution_start","toolCallId":"t%[1]d","toolName":"bash","args":{}}
{"type":"tool_execution_end","toolCallId":"t%[1]d","toolName":"bash","result":{"content":[]},"isError":false}
`

// ends is the end of a run that says something.
const ends = `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":%q}],"stopReason":"stop"}}
{"type":"agent_settled"}
`

func fileName(n int) string { return fmt.Sprintf("file-%02d", n%files) }

// agent does what an agent of the night does in a run, and notes when it began and ended.
func agent() {
	begun := time.Now()
	folder := os.Getenv(folderVar)
	n, err := strconv.Atoi(os.Getenv("RALPH_ITERATION"))
	insist(err)
	prompt, err := io.ReadAll(os.Stdin)
	insist(err)
	for _, word := range strings.Fields(string(prompt)) {
		if strings.HasPrefix(word, "steered-") {
			insist(add(filepath.Join(folder, heardName), []byte(word+"\n")))
		}
	}
	calls := 1
	switch does := os.Getenv(doesVar); {
	case does == doesChange:
		change(n)
		if _, err := os.Stat(".git"); err == nil && n%5000 == 450 { // between what is measured
			insist(exec.Command("git", "gc", "--quiet", "--prune=now").Run())
		}
	case does == doesTask:
		plan, err := os.ReadFile(planName)
		insist(err)
		change(n)
		insist(os.WriteFile(planName, []byte(strings.Replace(string(plan), "[ ]", "[x]", 1)), 0o600))
	case does == doesCalls && n == 2:
		calls = manyCalls
	case does == doesFiles && n == 2:
		for i := range manyFiles {
			insist(os.MkdirAll(strconv.Itoa(i/1000), 0o700))
			insist(os.WriteFile(filepath.Join(strconv.Itoa(i/1000), strconv.Itoa(i)), fmt.Appendln(nil, "file", i), 0o600))
		}
	}
	due, err := os.ReadFile(filepath.Join(folder, dueName))
	insist(err)
	if slices.Contains(strings.Fields(string(due)), strconv.Itoa(n)) {
		line, err := json.Marshal(sampleOf(folder, n))
		insist(err)
		insist(add(filepath.Join(folder, samplesName), append(line, '\n')))
	}
	out := bufio.NewWriter(os.Stdout)
	for i := range calls {
		fmt.Fprintf(out, uses, i)
	}
	fmt.Fprintf(out, ends, "done with "+strconv.Itoa(n))
	insist(out.Flush())
	line := fmt.Appendln(nil, n, begun.UnixNano(), time.Now().UnixNano(), statOf(os.Getppid()).parent)
	insist(add(filepath.Join(folder, logName), line))
}

func change(n int) {
	insist(os.WriteFile(fileName(n), fmt.Appendln(nil, "written in iteration", n), 0o600))
}

// sample is what a night has cost until an iteration.
type sample struct {
	Iteration int
	Processor float64 // milliseconds: of the loop, its window, its reaper, and the gits that have ended
	Memory    int     // bytes that are the loop's, its window's and its reaper's alone
	Gits      int     // that were started
	Snapshots amount  // in .git, and of ours in the state folder
	Story     amount  // all else that is kept
}

// amount is how much is in folders.
type amount struct{ Files, Bytes int }

// sampleOf is called by the agent, so nothing else happens meanwhile: its reaper is its parent, the loop that of the
// reaper, and the window that of the loop.
func sampleOf(folder string, n int) sample {
	reaper := os.Getppid()
	keeper := statOf(reaper).parent
	window := statOf(keeper).parent
	s := sample{Iteration: n}
	s.Processor = statOf(reaper).own + statOf(window).own + statOf(keeper).own + statOf(keeper).children
	for _, pid := range []int{reaper, keeper, window} {
		s.Memory += ownMemory(pid)
	}
	said, err := os.ReadFile(filepath.Join(folder, gitsName))
	insist(err)
	s.Gits = strings.Count("\n"+string(said), "\nversion ")
	home, work := filepath.Join(folder, homeName), filepath.Join(folder, workName)
	changes := filepath.Join(home, "ralph-lsp", "changes")
	s.Snapshots = sum(filepath.Join(work, ".git"), "").plus(sum(changes, ""))
	s.Story = sum(home, changes).plus(sum(filepath.Join(work, ".pi"), ""))
	return s
}

func (a amount) plus(b amount) amount { return amount{a.Files + b.Files, a.Bytes + b.Bytes} }

// sum is what a folder has, but for what is below another one.
func sum(dir, but string) (a amount) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // there is none, or it is gone
		case path == but:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		if info, err := entry.Info(); err == nil {
			a = a.plus(amount{1, int(info.Size())})
		}
		return nil
	})
	return a
}

// stat is what /proc says of a process, times in milliseconds.
type stat struct {
	parent        int
	own, children float64
}

func statOf(pid int) (s stat) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	insist(err)
	_, rest, _ := strings.Cut(string(data), ") ")
	words := strings.Fields(rest) // from the state on, the third
	number := func(which int) int {
		n, err := strconv.Atoi(words[which-3])
		insist(err)
		return n
	}
	const tick = 10 // milliseconds, on all machines
	s.parent = number(4)
	s.own, s.children = tick*float64(number(14)+number(15)), tick*float64(number(16)+number(17))
	return s
}

// ownMemory is what a process has in memory of no file, in bytes.
func ownMemory(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	insist(err)
	_, rest, _ := strings.Cut(string(data), "RssAnon:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	insist(err)
	return n << 10
}

func add(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.Write(data); err != nil {
		return err
	}
	return file.Close()
}

func insist(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(4)
	}
}
