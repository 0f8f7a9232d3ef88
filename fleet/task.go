package fleet

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Priority says which loops come first.
type Priority string

// The priorities.
const (
	High   Priority = "high"
	Normal Priority = "normal"
	Low    Priority = "low"
)

// Priorities has them in the order in which they are served.
var Priorities = []Priority{High, Normal, Low}

// Task is what was submitted. It never changes, but for what it reserves.
type Task struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`              // of its branch and for people
	Repo     string            `json:"repo"`              // a URL, or the path of whoever submitted it
	Bundled  bool              `json:"bundled,omitempty"` // the bus has the repository, as file "repo/"+Base
	Base     string            `json:"base"`              // the commit that it begins with
	Flags    []string          `json:"flags,omitempty"`   // of ralph-lsp run
	Setup    []string          `json:"setup,omitempty"`   // commands for the shell in each fresh checkout
	Trust    bool              `json:"trust,omitempty"`   // what the commit's ralph.toml says counts
	Priority Priority          `json:"priority"`
	Labels   map[string]string `json:"labels,omitempty"`
	On       []string          `json:"on,omitempty"`      // what its workers have to have; see Worker.Has
	Key      string            `json:"key"`               // whose limits it shares: a provider's account
	Queue    string            `json:"queue,omitempty"`   // whose limits it shares, and whose workers; "" is none
	Reserve  float64           `json:"reserve,omitempty"` // dollars that an iteration is expected to cost at most
	At       time.Time         `json:"at"`
}

// LabelSubmitter is the label of whose loop it is: who may only submit sees those with its name, and no others.
const LabelSubmitter = "submitter"

// PromptFile names the file on the bus that has the task's prompt.
func (t Task) PromptFile() string { return "prompt/" + t.ID }

// RepoFile names the file on the bus that has the task's repository, a git bundle.
func (t Task) RepoFile() string { return "repo/" + t.Base }

// Identify gives the task its id, which says what it is: the same task submitted twice
// is one loop.
func (t *Task) Identify(prompt string) {
	sum := sha256.New()
	parts := slices.Concat([]string{t.Repo, t.Base, t.Name, t.Key, prompt, strconv.Itoa(len(t.Flags))}, t.Flags, t.Setup)
	if by := t.Labels[LabelSubmitter]; by != "" {
		parts = append(parts, LabelSubmitter+"="+by)
	}
	if t.Queue != "" {
		parts = append(parts, "queue="+t.Queue)
	}
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	t.ID = "f" + strings.ToLower(base32.StdEncoding.EncodeToString(sum.Sum(nil))[:15])
}

// Join makes a task one of its queue: it needs what the queue's loops need.
func Join(t *Task, q ledger.Queue) error {
	for _, limit := range []float64{q.MaxUSD, q.PerDay} {
		if limit > 0 && t.Reserve > limit {
			return fmt.Errorf("--reserve %.2f is more than the budget of the queue %s, %s: it would never begin",
				t.Reserve, q.Name, format.USD(limit))
		}
	}
	t.Queue = q.Name
	for _, need := range q.Needs {
		if !slices.Contains(t.On, need) {
			t.On = append(slices.Clip(t.On), need)
		}
	}
	return nil
}

// The forms of what a task says: none leads out of a folder, or is an option.
var (
	idForm     = regexp.MustCompile(`^f[a-z0-9]{1,63}$`) // loops of one machine have ids with another letter
	nameForm   = regexp.MustCompile(`^[\pL\pN]+(-[\pL\pN]+)*$`)
	commitForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	repoForm   = regexp.MustCompile(`^[^-\x00-\x1f\x7f][^\x00-\x1f\x7f]*$`)
)

// What a task asks of a worker is bounded by these, as all lanes are one value on the bus: labels, and bytes of each.
const (
	maxOn    = 16
	maxLabel = 100
)

// Check says what is wrong with a task, which may be anybody's who reaches the bus.
func (t Task) Check() error {
	switch {
	case !idForm.MatchString(t.ID):
		return fmt.Errorf("%q is no id of a loop", t.ID)
	case !nameForm.MatchString(t.Name) || len(t.Name) > 200:
		return fmt.Errorf("%q is no name of a loop", t.Name)
	case !commitForm.MatchString(t.Base):
		return fmt.Errorf("%q is no commit", t.Base)
	case !repoForm.MatchString(t.Repo):
		return fmt.Errorf("%q is no repository", t.Repo)
	case len(t.On) > maxOn:
		return fmt.Errorf("it asks for %d labels of a worker, and at most %d are possible", len(t.On), maxOn)
	case slices.ContainsFunc(t.On, func(label string) bool { return len(label) > maxLabel }):
		return fmt.Errorf("a label of a worker has at most %d bytes", maxLabel)
	}
	return nil
}

var notInNames = regexp.MustCompile(`[^\pL\pN]+`)

// Slug is a text as it can stand in the name of a branch.
func Slug(text string) string {
	slug := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if r := []rune(slug); len(r) > 40 {
		slug = strings.Trim(string(r[:40]), "-")
	}
	return slug
}

var field = regexp.MustCompile(`\{task\.([A-Za-z0-9_.-]+)\}`)

// Fill puts a task's fields in the place of {task.field} in a text. The error names
// those that it doesn't have.
func Fill(text string, task map[string]any) (string, error) {
	var missing []string
	filled := field.ReplaceAllStringFunc(text, func(found string) string {
		name := field.FindStringSubmatch(found)[1]
		switch v := task[name].(type) {
		case nil:
			missing = append(missing, found)
			return found
		case string:
			return v
		default:
			data, _ := json.Marshal(v) // it was JSON
			return string(data)
		}
	})
	if missing != nil {
		return "", fmt.Errorf("the task has no %s", strings.Join(missing, ", "))
	}
	return filled, nil
}
