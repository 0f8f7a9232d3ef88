package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Submission is what a user asks for: a loop, or one for each task.
type Submission struct {
	Repo   string // a URL, or a folder of the user's
	Commit string // that the loops begin with; "" is HEAD
	Prompt string // {task.field} stands for a field of the task
	Name   string // the same; "" is the task's name, or the prompt's first words
	Plan   string // a file that the commit of a folder has to have; "" is none
	Tasks  []map[string]any
	Task   Task // the rest, for all of them
}

// Submitted is what became of one loop.
type Submitted struct {
	Record
	IsNew bool `json:"new"`
}

// entering is how many loops are put on the bus at the same time.
const entering = 16

// Entrance lets loops in.
type Entrance interface {
	// KeepFile and PutFile are those of a Bus, for repositories.
	KeepFile(ctx context.Context, name string) error
	PutFile(ctx context.Context, name string, r io.Reader) error
	// Enter creates a loop and lets workers take it. One that is there already stays as it is.
	Enter(ctx context.Context, t Task, prompt string) (r Record, isNew bool, err error)
}

// Refused is why an entrance doesn't let a loop in.
type Refused string

func (r Refused) Error() string { return string(r) }

// Submit puts loops on the bus. What is there already stays as it is. tell hears of each, in the order of the tasks.
func Submit(ctx context.Context, to Entrance, s Submission, tell func(Submitted)) error {
	if err := s.resolve(ctx, to); err != nil {
		return err
	}
	all, err := s.drafts()
	if err != nil {
		return err
	}
	type entered struct {
		Submitted
		err error
	}
	for some := range slices.Chunk(all, entering) {
		done := make([]entered, len(some))
		var busy sync.WaitGroup
		for i, t := range some {
			t.At = time.Now().UTC() // so they are listed in their order
			busy.Go(func() {
				one := &done[i]
				_, prompt, err := s.taskOf(t.fields)
				if one.err = cmp.Or(err, ctx.Err()); one.err == nil {
					one.Record, one.IsNew, one.err = to.Enter(ctx, t.Task, prompt)
				}
			})
		}
		busy.Wait()
		for i, one := range done {
			if refused := Refused(""); errors.As(one.err, &refused) {
				return fmt.Errorf("%s: %w", some[i].Name, refused)
			} else if one.err != nil {
				return fmt.Errorf("%s: %w; submit the same again, what is there already stays", some[i].Name, one.err)
			}
			tell(one.Submitted)
		}
	}
	return nil
}

// draft is a loop to be. Its prompt is made anew when it is needed: all of them at once may be too much.
type draft struct {
	Task
	fields map[string]any
}

// drafts says what the loops are, each once. Its error names the first task that can't be one.
func (s Submission) drafts() (all []draft, err error) {
	tasks := s.Tasks
	if tasks == nil {
		tasks = []map[string]any{{}}
	}
	names, same := map[string]int{}, map[string]bool{}
	for i, fields := range tasks {
		t, prompt, err := s.taskOf(fields)
		if err != nil {
			return nil, fmt.Errorf("task %d: %w", i+1, err)
		}
		if t.Identify(prompt); same[t.ID] {
			continue // said twice
		}
		same[t.ID] = true
		for base := t.Name; names[t.Name] > 0; {
			names[base]++
			t.Name = fmt.Sprintf("%s-%d", base, names[base])
		}
		names[t.Name] = 1
		t.Identify(prompt)
		if err := t.Check(); err != nil {
			return nil, fmt.Errorf("task %d: %w", i+1, err)
		}
		all = append(all, draft{t, fields})
	}
	return all, nil
}

// maxTask bounds what a task's record has, in bytes. The prompt is a file, and can be longer.
const maxTask = 64 << 10

// taskOf fills in what a task says.
func (s Submission) taskOf(fields map[string]any) (t Task, prompt string, err error) {
	t = s.Task
	if prompt, err = Fill(s.Prompt, fields); err != nil {
		return t, "", fmt.Errorf("the prompt: %w", err)
	}
	if strings.TrimSpace(prompt) == "" {
		return t, "", errors.New("the prompt is empty: say what the agent should do")
	}
	name, _ := fields["name"].(string)
	if name, err = Fill(cmp.Or(s.Name, name, prompt), fields); err != nil {
		return t, "", fmt.Errorf("the name: %w", err)
	}
	t.Name = cmp.Or(Slug(name), "loop")
	return t, prompt, t.Fits()
}

// MaxReserve bounds what a loop may reserve for an iteration, in dollars: what nobody knows counts as that much.
const MaxReserve = 100

// Fits says whether a record has room for the task, and all loops' budget for what it reserves.
func (t Task) Fits() error {
	if !(t.Reserve >= 0 && t.Reserve <= MaxReserve) { // nor is it NaN
		return fmt.Errorf("--reserve %g: an iteration reserves between 0 and %d dollars", t.Reserve, MaxReserve)
	}
	if size := sizeOf(t); size > maxTask {
		return fmt.Errorf("its flags, setup and labels have %d KiB, and at most %d are possible: put long texts into the "+
			"prompt, or into a file of the repository", size>>10, maxTask>>10)
	}
	return nil
}

// Door is the entrance of a bus.
type Door struct{ Bus }

// Enter implements Entrance. Each step may be done again.
func (d Door) Enter(ctx context.Context, t Task, prompt string) (r Record, isNew bool, err error) {
	if r, _, err = d.Get(ctx, t.ID); errors.Is(err, ErrNotFound) {
		r, err = d.create(ctx, t, prompt)
		if isNew = err == nil; errors.Is(err, ErrExists) {
			r, _, err = d.Get(ctx, t.ID)
		}
	}
	if err == nil && r.Phase == Queued {
		err = d.Enqueue(ctx, r)
	}
	return r, isNew, err
}

// create puts a loop on the bus, behind what its record speaks of.
func (d Door) create(ctx context.Context, t Task, prompt string) (r Record, err error) {
	if err := d.PutFile(ctx, t.PromptFile(), strings.NewReader(prompt)); err != nil {
		return r, err
	}
	if r = (Record{Task: t, Phase: Queued, UpdatedAt: t.At}); t.Queue != "" {
		r.Needs = []string{needsQueues}
	}
	return r, d.Create(ctx, r)
}

// resolve finds the commit that the loops begin with. A folder's is put on the bus, as
// far as it isn't there.
func (s *Submission) resolve(ctx context.Context, to Entrance) error {
	g, err := Fetcher("")
	if err != nil {
		return err
	}
	if info, err := os.Stat(s.Repo); err == nil && info.IsDir() {
		if s.Repo, err = filepath.Abs(s.Repo); err != nil {
			return err
		}
		return s.bundle(ctx, to, g.In(s.Repo))
	}
	if !strings.Contains(s.Repo, ":") {
		return fmt.Errorf("there is no folder %s, and it is no URL", s.Repo)
	}
	want := cmp.Or(s.Commit, "HEAD")
	if commitForm.MatchString(want) {
		s.Task.Repo, s.Task.Base = s.Repo, want
		return isPushed(ctx, remote(ctx, g), s.Task)
	}
	out, err := remote(ctx, g).Run(ctx, nil, "ls-remote", "--quiet", "--exit-code", "--", s.Repo, want)
	if err != nil {
		return fmt.Errorf("asking %s for %s: %w", s.Repo, want, err)
	}
	s.Task.Repo = s.Repo
	s.Task.Base, _, _ = strings.Cut(string(out), "\t")
	return nil
}

// isPushed says whether a repository elsewhere has a commit: workers would find out later. One
// that doesn't give away commits by name is believed.
func isPushed(ctx context.Context, g git.Git, t Task) (err error) {
	if g.Dir, err = os.MkdirTemp("", "ralph-fleet-*"); err != nil {
		return err
	}
	defer os.RemoveAll(g.Dir)
	if _, err := g.Run(ctx, nil, "init", "--quiet", "--bare"); err != nil {
		return err
	}
	_, err = g.Run(ctx, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--filter=tree:0", "--", t.Repo, t.Base)
	if err != nil && strings.Contains(err.Error(), "Server does not allow request for unadvertised") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("asking %s for the commit %.12s: %w: has it been pushed?", t.Repo, t.Base, err)
	}
	return nil
}

// bundle puts the commit of a folder's repository on the bus.
func (s *Submission) bundle(ctx context.Context, to Entrance, g git.Git) error {
	want := cmp.Or(s.Commit, "HEAD")
	out, err := g.Run(ctx, nil, "rev-parse", "--verify", "--quiet", want+"^{commit}")
	if err != nil {
		return fmt.Errorf("%s has no commit %s: a fleet's loops begin with one", s.Repo, want)
	}
	if _, err := g.Run(ctx, nil, "cat-file", "-e", strings.TrimSpace(string(out))+":"+filepath.ToSlash(s.Plan)); err != nil && s.Plan != "" {
		return fmt.Errorf("the plan %s isn't in the commit %.12s that the loop begins with: name it from the top of the "+
			"repository, and commit it first", s.Plan, out)
	}
	if shallow, err := g.Text(ctx, nil, "rev-parse", "--is-shallow-repository"); err != nil || shallow == "true" {
		return fmt.Errorf("%s has only a part of its history, so it can't be sent along: run git fetch --unshallow there, or "+
			"give its URL", s.Repo)
	}
	s.Task.Repo, s.Task.Base, s.Task.Bundled = s.Repo, strings.TrimSpace(string(out)), true
	if err := to.KeepFile(ctx, s.Task.RepoFile()); !errors.Is(err, ErrNotFound) { // no sweep takes it before a loop speaks of it
		return err
	}
	dir, err := os.MkdirTemp("", "ralph-fleet-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// A bundle is of refs; this one is in a repository of its own, so that the user's has none more.
	if _, err := g.Run(ctx, nil, "clone", "--quiet", "--bare", "--shared", s.Repo, filepath.Join(dir, "repo")); err != nil {
		return err
	}
	own := g.In(filepath.Join(dir, "repo"))
	name := filepath.Join(dir, "bundle")
	for _, args := range [][]string{{"update-ref", bundledRef, s.Task.Base}, {"bundle", "create", "--quiet", name, bundledRef}} {
		if _, err := own.Run(ctx, nil, args...); err != nil {
			return err
		}
	}
	f, err := regular.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return to.PutFile(ctx, s.Task.RepoFile(), f)
}

// CheckBundle says whether a bundle has a commit, as the one that a loop begins with, and all that it is made of.
func CheckBundle(ctx context.Context, bundle, commit string) error {
	dir, err := os.MkdirTemp(filepath.Dir(bundle), "checked-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	g, err := Fetcher(dir)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "--quiet", "--bare", "--template="},
		{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", bundle, "+" + bundledRef + ":" + bundledRef}} {
		if _, err := g.Run(ctx, nil, args...); err != nil {
			return fmt.Errorf("the repository that was sent along can't be read: %w", err)
		}
	}
	if tip, err := g.Text(ctx, nil, "rev-parse", "--verify", "--quiet", bundledRef+"^{commit}"); err != nil || tip != commit {
		return fmt.Errorf("the repository that was sent along hasn't the commit %.12s as the one to begin with", commit)
	}
	return nil
}
