package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// probeTimeout bounds one "--version": a probe may hang. On a busy machine an agent that works
// takes more than five seconds to start.
var probeTimeout = 20 * time.Second

// ErrNoAnswer is a Probe's error when the program didn't say its version in time. It
// may work all the same: the machine may be busy.
var ErrNoAnswer = errors.New("gave no answer")

// Probe is what is known of one backend on this machine.
type Probe struct {
	Backend Backend
	Path    string // "" when it is not installed
	Version string // the first line that "--version" printed
	Err     error  // why it can't be used
}

// Probe looks for the backend and asks for its version. That is a run like any other: its processes and temporary
// files are gone afterwards.
func (b Backend) Probe(ctx context.Context) Probe {
	probe := Probe{Backend: b}
	if probe.Path, probe.Err = b.Find(); probe.Err != nil || len(b.VersionArgs) == 0 {
		return probe
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var stdout tail
	exit, err := b.ask(ctx, probe.Path, &stdout)
	probe.Version = cmp.Or(firstLine(stdout.String()), firstLine(exit.Stderr))
	question := b.Command + " " + strings.Join(b.VersionArgs, " ")
	said := cmp.Or(stream.ReasonIn(exit.Stderr), firstLine(stdout.String()))
	switch {
	case err == errNotAsked:
	case err != nil:
		probe.Err = err
	case exit.Stopped && errors.Is(ctx.Err(), context.DeadlineExceeded):
		probe.Err = fmt.Errorf("%s %w within %v", question, ErrNoAnswer, probeTimeout)
	case exit.Stopped:
		probe.Err = fmt.Errorf("%s: %w", question, ctx.Err())
	case exit.Signal != "":
		probe.Err = fmt.Errorf("%s was ended by a signal: %s: %s", question, exit.Signal, said)
	case exit.Code != 0:
		probe.Err = fmt.Errorf("%s exited with code %d: %s%s", question, exit.Code, said, adviceFor(probe.Path))
	}
	return probe
}

// adviceFor says what helps a program that a version manager runs: it isn't asked in the loop's
// folder, which would say what that is.
func adviceFor(path string) string {
	if filepath.Base(filepath.Dir(path)) != "shims" {
		return ""
	}
	return " (it was asked in " + outside.Dir() + ", as a folder may not say what runs: give its version manager a version " +
		"for your user, not only for the folder)"
}

// asker is who asks for versions: a loop in a folder, with its walls.
type asker struct {
	walls  sandbox.Spec
	folder string
}

type askerKey struct{}

// ForLoop makes Probe, and all that use it, put a loop's walls around the programs that it asks: version managers run
// what they find in the folder, and agents may write that. Of several loops, one counts that may write the program,
// else the first with walls. Where no walls can be made, nothing is run.
func ForLoop(ctx context.Context, walls sandbox.Spec, folder string) context.Context {
	by, _ := ctx.Value(askerKey{}).([]asker)
	return context.WithValue(ctx, askerKey{}, append(slices.Clip(by), asker{walls, folder}))
}

// askerOf is whose walls a program must have, nil if it needs none. isTheirs says that its
// agents may write it.
func (b Backend) askerOf(ctx context.Context, program string) (by *asker, isTheirs bool) {
	all, _ := ctx.Value(askerKey{}).([]asker)
	for i, it := range all {
		switch {
		case it.folder == "" || !it.walls.IsOn():
		case it.walls.Opens(it.folder, program):
			return &all[i], true
		case by == nil:
			by = &all[i]
		}
	}
	return by, false
}

// errNotAsked says that a program wasn't run, which may be all right.
var errNotAsked = errors.New("there are no walls to ask it behind")

// ask runs the program with the arguments that make it print its version, until
// ctx is done at the latest.
func (b Backend) ask(ctx context.Context, path string, stdout *tail) (Exit, error) {
	// Version managers run what their working directory names: without walls they work elsewhere.
	dir, env := outside.Dir(), outside.Environ(nil)
	var walls *sandbox.Sandbox
	if by, isTheirs := b.askerOf(ctx, path); by != nil {
		var err error
		walls, err = sandbox.Raise(ctx, by.walls, by.folder)
		if err != nil && !isTheirs && ctx.Err() == nil {
			err = errNotAsked // the program behind these walls says why
		}
		if err != nil {
			return Exit{}, err
		}
		defer walls.Close()
		dir, env = by.folder, nil
	}
	scope, err := openScope("", 0)
	if err != nil {
		return Exit{}, err
	}
	defer scope.Close()
	scope.Walls = walls
	asked := Custom(path, b.VersionArgs, PromptStdin, decode.FormatText)
	asked.Name, asked.Env, asked.Kept, asked.Inside = b.Name, b.Env, b.Kept, b.Inside
	p, err := Start(Spec{Backend: asked, Dir: dir, Env: env, Scope: scope, Record: stdout})
	if err != nil {
		return Exit{}, err
	}
	attended := context.AfterFunc(ctx, func() { p.Stop(0) })
	defer attended()
	return p.Wait(), nil
}

// ProbeAll probes every known backend at once.
func ProbeAll(ctx context.Context) []Probe {
	probes := each(func(b Backend) Probe { return b.Probe(ctx) })
	for _, p := range probes {
		p.remember()
	}
	return probes
}

// Look is ProbeAll for whoever can do with an earlier answer of a program that works.
func Look(ctx context.Context) []Probe {
	return each(func(b Backend) Probe { return b.knownProbe(ctx) })
}

// each asks for all known backends at once.
func each(ask func(Backend) Probe) []Probe {
	probes := make([]Probe, len(builtin))
	var wg sync.WaitGroup
	for i, b := range builtin {
		wg.Go(func() { probes[i] = ask(b) })
	}
	wg.Wait()
	return probes
}

// Version is the number of a known agent's version, "" if it tells none, or why it
// doesn't work. A program that somebody else has named isn't run for it.
func (b Backend) Version(ctx context.Context) (string, error) {
	if own, err := Lookup(b.Name); err != nil || own.Command != b.Command {
		return "", nil
	}
	probe := b.knownProbe(ctx)
	if probe.Err != nil {
		return "", probe.Err
	}
	return probe.Number(), nil
}

// Number returns the version's number in the agent's answer, "" if there is none.
func (p Probe) Number() string {
	for _, word := range strings.Fields(p.Version) {
		if number := strings.Trim(word, "v.,"); strings.Contains(number, ".") && number[0] >= '0' && number[0] <= '9' {
			return number
		}
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
