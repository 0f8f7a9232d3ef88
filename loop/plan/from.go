package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

var (
	taskHead   = lazy.Regexp(`^#{2,3}[ \t]+((?:Task|Iteration)(?:[ \t]+\d\S*|\b[^:]*:.*)?)$`)
	otherHead  = lazy.Regexp(`^#{1,3}[ \t]`)
	checkLine  = lazy.Regexp("^[-*+][ \t]+`([^`]+)`")
	startedBox = lazy.Regexp(`(?m)^([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[/\]`)
	ownWords   = lazy.Regexp(`(?i)\((verify|agent|after):`)
)

// draft is a task of another program.
type draft struct {
	text     string
	isDone   bool
	priority int      // the lowest first
	after    []string // beginnings of the texts of others
	body     []string
}

// From makes a plan of the tasks of another program: issues of beads (.jsonl), sections of ralphex, boxes of open-ralph.
// A file that is a plan already comes back with the same bytes. The checks are commands that it names for all tasks:
// no plan of ours has those, and nothing runs them.
func From(name string, data []byte) (p Plan, checks []string, err error) {
	var tasks []draft
	switch isBeads := strings.HasSuffix(strings.ToLower(name), ".jsonl"); {
	case len(data) > MaxBytes: // Parse says what is wrong
	case isPRD(name):
		checks = readCommands(data)
	case isBeads:
		tasks, err = readBeads(name, data)
	default:
		tasks, checks = readSections(data)
	}
	if err != nil || tasks == nil {
		if err == nil {
			p, err = Parse(name, startedBox().ReplaceAll(data, []byte("$1[ ]")))
		}
		return p, checks, err
	}
	plain := func(text string) string { // says nothing to us
		return strings.ReplaceAll(ownWords().ReplaceAllString(text, "( $1:"), "<!--", "<! --")
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Plan\n\nThe tasks of %s, which may say more.\n\n## Tasks\n\n", plain(path.Base(name)))
	for _, task := range tasks[:min(len(tasks), MaxItems+1)] { // Parse refuses more
		fmt.Fprintf(&out, "- [%s] %s", map[bool]string{true: "x", false: " "}[task.isDone], plain(strings.Join(strings.Fields(task.text), " ")))
		for _, other := range task.after {
			fmt.Fprintf(&out, " (after: %s)", other)
		}
		for _, line := range task.body {
			fmt.Fprintf(&out, "\n  > %s", plain(line)) // quoted, so that its boxes are no tasks
		}
		fmt.Fprintln(&out)
	}
	p, err = Parse("PLAN.md", out.Bytes())
	if err == nil && len(p.Problems) > 0 {
		err = fmt.Errorf("%s: %s", name, p.Problems[0].Text)
	}
	return p, checks, err
}

// readSections reads the sections of a plan as ralphex has them, each a task with boxes; none is nil.
func readSections(data []byte) (tasks []draft, checks []string) {
	in, isFenced, boxes := "", false, 0 // in a task, or what else the heading says; boxes of the task so far
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, " \t\r\n")
		isFenced = isFenced != (fenceOf(strings.TrimSpace(line)) != "")
		box, check := boxLine().FindStringSubmatch(line), checkLine().FindStringSubmatch(line)
		if head := taskHead().FindStringSubmatch(line); head != nil && !isFenced {
			in, boxes, tasks = "task", 0, append(tasks, draft{text: head[1]})
		} else if !isFenced && otherHead().MatchString(line) {
			in = strings.ToLower(strings.Trim(line, "# \t"))
		} else if in == "validation commands" && check != nil {
			checks = append(checks, check[1])
		} else if in == "task" && line != "" {
			task := &tasks[len(tasks)-1]
			task.body = append(task.body, line)
			if box != nil {
				task.isDone = (boxes == 0 || task.isDone) && box[2] != " "
				boxes++
			}
		}
	}
	return tasks, checks
}

// bead is what a line of beads' issues.jsonl says.
type bead struct {
	ID, Title, Description, Status string
	Priority                       int
	Dependencies                   []struct {
		On   string `json:"depends_on_id"`
		Type string
	}
}

// readBeads reads the issues of beads, the lowest priority first. An epic comes after its children.
func readBeads(name string, data []byte) (tasks []draft, err error) {
	var beads []bead
	at := map[string]int{} // by their ids, from 1; -1: deleted
	n := 0
	for line := range bytes.Lines(data) {
		var b bead
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := json.Unmarshal(line, &b); err != nil || b.ID == "" || b.Title == "" {
			return nil, fmt.Errorf("%s:%d: this is no issue of beads, an object with id and title in a line of its own", name, n)
		}
		if at[b.ID] != 0 {
			return nil, fmt.Errorf("%s:%d: the issue %s is there twice; bd export writes each once", name, n, b.ID)
		}
		if at[b.ID] = -1; b.Status != "tombstone" {
			beads = append(beads, b)
			at[b.ID] = len(beads)
		}
	}
	if len(beads) == 0 {
		return nil, fmt.Errorf("%s has no issue; bd export writes them", name)
	}
	tasks = make([]draft, len(beads))
	for i, b := range beads {
		tasks[i].text, tasks[i].isDone, tasks[i].priority = b.ID+": "+b.Title, b.Status == "closed", b.Priority
		if b.Description != "" {
			tasks[i].body = strings.Split(strings.TrimSpace(b.Description), "\n")
		}
		for _, d := range b.Dependencies {
			switch other := at[d.On]; {
			case d.Type == "blocks" && other == 0 && !tasks[i].isDone:
				return nil, fmt.Errorf("%s: %s waits for %s, which isn't there; bd export writes all issues", name, b.ID, d.On)
			case d.Type == "blocks" && other > 0:
				tasks[i].after = append(tasks[i].after, d.On+":")
			case d.Type == "parent-child" && other > 0:
				tasks[other-1].after = append(tasks[other-1].after, b.ID+":")
			}
		}
	}
	slices.SortStableFunc(tasks, func(a, b draft) int { return a.priority - b.priority })
	return tasks, nil
}
