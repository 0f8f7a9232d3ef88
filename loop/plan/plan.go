// Package plan reads a plan: a file of tasks with boxes that a loop works through. It takes bytes, returns tasks and
// edited bytes, and touches no file.
//
// Two formats are read: Markdown with task lists (markdown.go), and a prd.json of user stories (prd.go). An edit
// leaves all other bytes as they are. Annotations stand in parentheses behind a task: (verify: COMMAND), (agent:
// NAME), (after: TASK).
package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a plan.
const (
	MaxBytes = 1 << 20
	MaxItems = 500
	maxText  = 2 << 10 // of the lines below an item, as they are told
	maxLine  = 300     // of its own, in characters
	maxValue = 500     // of what is in parentheses, in bytes
)

// Item is a box with what it says.
type Item struct {
	ID      string // the same as long as its text is
	N       int    // its number in the file, from 1
	Line    int    // the same, from 1
	Heading string // that it is below
	Text    string // of its line, without what is in parentheses for us
	More    string // the lines that belong to it
	Verify  string // the command that tells whether it is done; "" is none
	Agent   string // who is to do it; "" is the loop's own
	After   []string

	checked  bool
	group    bool  // it is done when those below it are: there is nothing else to do
	children []int // indexes in Items, as the next ones
	parent   int   // -1: none
	waits    []int
	rank     int      // lower ones come first
	box      [2]int   // where the box is; of a story without one, where it goes
	wrong    []string // the parts that can't be read
}

// Problem is what keeps a task from its turn, or can't be understood.
type Problem struct {
	Line int
	Text string
}

// Plan is a file of tasks as it was read.
type Plan struct {
	Name     string
	Data     []byte
	Items    []Item
	Problems []Problem

	isPRD bool
	only  []bool // of the items, which of them a loop does; nil: all
}

// Parse reads a plan. The name says which format it has. The error says what to do about it.
func Parse(name string, data []byte) (Plan, error) {
	p := Plan{Name: name, Data: data}
	switch {
	case len(data) > MaxBytes:
		return p, fmt.Errorf("%s has more than %d MiB, too much for a plan", name, MaxBytes>>20)
	case bytes.HasPrefix(data, []byte("\xFF\xFE")), bytes.HasPrefix(data, []byte("\xFE\xFF")), bytes.IndexByte(data, 0) >= 0:
		return p, fmt.Errorf("%s is no text in UTF-8; save it as such", name)
	}
	advice := `write each as a line "- [ ] what is to be done"`
	if p.isPRD = isPRD(name); p.isPRD {
		advice = "write them into its userStories, as objects with title and passes"
		if err := p.readStories(); err != nil {
			return p, err
		}
	} else {
		p.readMarkdown()
	}
	switch {
	case len(p.Items) == 0:
		return p, fmt.Errorf("%s has no task; %s", name, advice)
	case len(p.Items) > MaxItems:
		return p, fmt.Errorf("%s has more than %d tasks; leave some for another plan", name, MaxItems)
	}
	p.link()
	return p, nil
}

// link gives the items their ids, and finds out which waits for which.
func (p *Plan) link() {
	seen := map[string]int{}
	for i := range p.Items {
		it := &p.Items[i]
		it.N = i + 1
		key := keyOf(it.Text)
		seen[key]++
		sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(seen[key])))
		it.ID = hex.EncodeToString(sum[:6])
		if it.parent >= 0 {
			p.Items[it.parent].children = append(p.Items[it.parent].children, i)
		}
	}
	for i := range p.Items {
		it := &p.Items[i]
		it.group = len(it.children) > 0 && it.Verify == ""
		for _, name := range it.After {
			if found, err := p.named(name); err != nil {
				it.wrong = append(it.wrong, "after: "+err.Error())
			} else {
				it.waits = append(it.waits, found...)
			}
		}
		for _, why := range it.wrong {
			p.Problems = append(p.Problems, Problem{it.Line, why})
		}
	}
	able := p.reachable()
	for i, it := range p.Items {
		if !able[i] && len(it.wrong) == 0 && !it.group {
			p.Problems = append(p.Problems, Problem{it.Line,
				fmt.Sprintf("%q never has its turn: what it waits for can't be done before it", it.Text)})
		}
	}
	slices.SortStableFunc(p.Problems, func(a, b Problem) int { return a.Line - b.Line })
}

// short cuts a text to the length that is shown.
func short(text string) string {
	if runes := []rune(text); len(runes) > maxLine {
		return string(runes[:maxLine-1]) + "…"
	}
	return text
}

// keyOf is what of a text counts where texts are compared.
func keyOf(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// named are the items that somebody means: numbers, a text, or the only one that begins so.
func (p *Plan) named(name string) (found []int, err error) {
	numbers := strings.FieldsFunc(name, func(r rune) bool { return r == ',' || r == ' ' })
	for _, word := range numbers {
		n, err := strconv.Atoi(strings.TrimPrefix(word, "#"))
		if err != nil {
			found = nil
			break
		}
		if n < 1 || n > len(p.Items) {
			return nil, fmt.Errorf("there is no task %d, only %d", n, len(p.Items))
		}
		found = append(found, n-1)
	}
	if len(found) > 0 {
		return found, nil
	}
	key := keyOf(name)
	for i, it := range p.Items {
		text := keyOf(it.Text)
		if text == key {
			return []int{i}, nil
		}
		if key != "" && strings.HasPrefix(text, key) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 1:
		return found, nil
	case 0:
		return nil, fmt.Errorf("there is no task %q; name one by its text or its number", name)
	}
	return nil, fmt.Errorf("%d tasks begin with %q; name one of them by its number", len(found), name)
}

// reachable says which items are done, or can be when their turn comes.
func (p *Plan) reachable() []bool {
	able := make([]bool, len(p.Items))
	for again := true; again; {
		again = false
		for i, it := range p.Items {
			isAble := !able[i] && (p.done(i) || len(it.wrong) == 0 && all(able, p.before(i)) && all(able, it.children))
			able[i] = able[i] || isAble
			again = again || isAble
		}
	}
	return able
}

func all(able []bool, of []int) bool {
	return !slices.ContainsFunc(of, func(i int) bool { return !able[i] })
}

// before are the items that one waits for, itself or one that it is below.
func (p *Plan) before(i int) (waits []int) {
	for ; i >= 0; i = p.Items[i].parent {
		waits = append(waits, p.Items[i].waits...)
	}
	return waits
}

func (p *Plan) done(i int) bool {
	it := p.Items[i]
	for _, child := range it.children {
		if !p.done(child) {
			return false
		}
	}
	return it.checked || it.group
}

// IsDone says whether an item is done.
func (p Plan) IsDone(it Item) bool { return p.done(it.N - 1) }

// Only returns the plan of a loop that does one task, by its text or its number, with the items below it. Tasks
// before that one aren't waited for. "" is the whole plan.
func (p Plan) Only(name string) (Plan, error) {
	if name == "" {
		return p, nil
	}
	found, err := p.named(name)
	if err != nil {
		return p, fmt.Errorf("%s: %w", p.Name, err)
	}
	p.only = make([]bool, len(p.Items))
	for i := range p.Items {
		for up := i; up >= 0 && !p.only[i]; up = p.Items[up].parent {
			p.only[i] = slices.Contains(found, up)
		}
	}
	return p, nil
}

// Chosen are the items that Only was told of; nil for the whole plan.
func (p Plan) Chosen() (chosen []Item) {
	for i, it := range p.Items {
		if p.only != nil && p.only[i] && !(it.parent >= 0 && p.only[it.parent]) {
			chosen = append(chosen, it)
		}
	}
	return chosen
}

// NameOf is what Only and an after take for an item: its text, or its number where others have that text, too.
func (p Plan) NameOf(it Item) string {
	if found, err := p.named(it.Text); err == nil && len(found) == 1 && found[0] == it.N-1 {
		return it.Text
	}
	return strconv.Itoa(it.N)
}

// IsGroup says whether there is nothing to do of an item but what is below it.
func (it Item) IsGroup() bool { return it.group }

// does says whether an item is one that the loop does.
func (p Plan) does(it Item) bool { return p.only == nil || p.only[it.N-1] }

// All are the items that are more than the sum of those below them, in the order of their turns.
func (p Plan) All() (tasks []Item) {
	for _, it := range p.Items {
		if !it.group {
			tasks = append(tasks, it)
		}
	}
	slices.SortStableFunc(tasks, func(a, b Item) int { return a.rank - b.rank })
	return tasks
}

// Tasks returns the items that the loop does.
func (p Plan) Tasks() []Item {
	return slices.DeleteFunc(p.All(), func(it Item) bool { return !p.does(it) })
}

// Open returns the tasks that aren't done.
func (p Plan) Open() []Item { return slices.DeleteFunc(p.Tasks(), p.IsDone) }

// Next is the first open task whose turn it may be.
func (p Plan) Next() (Item, bool) { return Book{}.NextOf(p) }

func (p Plan) isReady(it Item) bool {
	isOpen := func(i int) bool { return !p.done(i) }
	return len(it.wrong) == 0 && !slices.ContainsFunc(it.children, isOpen) && !slices.ContainsFunc(p.Waits(it), p.does)
}

// Waits are the open items that come before one.
func (p Plan) Waits(it Item) (open []Item) {
	for _, i := range p.before(it.N - 1) {
		if !p.done(i) {
			open = append(open, p.Items[i])
		}
	}
	return open
}

// Find is the item with an id.
func (p Plan) Find(id string) (Item, bool) {
	i := slices.IndexFunc(p.Items, func(it Item) bool { return it.ID == id })
	if i < 0 {
		return Item{}, false
	}
	return p.Items[i], true
}

// Commands are those that tell whether the loop's tasks are done, each once.
func (p Plan) Commands() (commands []string) {
	for _, it := range p.Items {
		if it.Verify != "" && p.does(it) && !slices.Contains(commands, it.Verify) {
			commands = append(commands, it.Verify)
		}
	}
	return commands
}

// Agents are the loop's items that name who is to do them, one for each name.
func (p Plan) Agents() (items []Item) {
	for _, it := range p.Items {
		if it.Agent != "" && p.does(it) && !slices.ContainsFunc(items, func(other Item) bool { return other.Agent == it.Agent }) {
			items = append(items, it)
		}
	}
	return items
}

// Faults are the problems of what the loop still has to do.
func (p Plan) Faults() (faults []error) {
	for _, problem := range p.Problems {
		if slices.ContainsFunc(p.Items, func(it Item) bool { return it.Line == problem.Line && p.does(it) && !p.IsDone(it) }) {
			faults = append(faults, fmt.Errorf("%s:%d: %s", p.Name, problem.Line, problem.Text))
		}
	}
	return faults
}

// Why says why none of the open tasks can be next.
func (p Plan) Why() error {
	if faults := p.Faults(); len(faults) > 0 {
		return faults[0]
	}
	if p.only != nil {
		return errors.New("the task is done already in " + p.Name + "; open its box first")
	}
	return errors.New(p.Name + " has no open task")
}
