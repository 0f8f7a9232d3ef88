// Package git runs the git program with nothing that the user's own git status and
// git add wouldn't run: no hook, no monitor of files, no signing, no cleaning up, no
// network, no question, and no program that only the repository's configuration names.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Git is the program, and where and how it works.
type Git struct {
	Program  string
	Dir      string        // where it works
	Settings []string      // besides the permanent ones
	Env      []string      // beside the cleaned environment
	Lock     *os.File      // held by what it starts, too; nil: none
	Most     int           // bytes that it may print; 0: any number
	Patience time.Duration // how long one may take; 0: a minute

	NoFilters bool // nobody's filters run
	AsUser    bool // it obeys what the user's environment tells git about keys, certificates, settings and names
}

// ErrMissing says that there is no git program.
var ErrMissing = errors.New("git is not installed")

// always has settings that win over the user's and the repository's.
var always = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.splitIndex=false",
	"core.safecrlf=false",
	"core.filesRefLockTimeout=1000", // milliseconds
	"reftable.lockTimeout=1000",
	"gc.auto=0",
	"maintenance.auto=false",
	"protocol.allow=never",
	anyoneMakes,
}

// anyoneMakes keeps git from taking files of a folder for a repository: nobody has to be asked to check them out.
const anyoneMakes = "safe.bareRepository=explicit"

// ours is the environment of each git, instead of the caller's GIT_*.
var ours = []string{
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=none", // for a git that doesn't know the last one
	"GIT_NO_REPLACE_OBJECTS=1",
	"LC_ALL=C",
}

// theirs are the variables of the caller that say where the user's configuration is.
var theirs = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}

// Find finds the program. The error is ErrMissing.
func Find() (program string, err error) {
	if program, err = outside.LookPath("git"); err != nil {
		return "", ErrMissing
	}
	return program, nil
}

// In is g in another folder.
func (g Git) In(dir string) Git {
	g.Dir = dir
	return g
}

// With is g with more in its environment.
func (g Git) With(env ...string) Git {
	g.Env = slices.Concat(g.Env, env)
	return g
}

// UpTo is g that may print so many bytes.
func (g Git) UpTo(most int) Git {
	g.Most = most
	return g
}

// Afresh is g that makes the files of a new folder with as many processes as there are cores. A git
// that is killed leaves more of them half written, so it is for no folder that has files.
func (g Git) Afresh() Git {
	g.Settings = append(slices.Clone(g.Settings), "checkout.workers=0")
	return g
}

// RunSome is Run, and says whether that was all: git is ended when it prints more
// than it may.
func (g Git) RunSome(ctx context.Context, args ...string) (out []byte, all bool, err error) {
	out, err = g.Run(ctx, nil, args...)
	if errors.Is(err, errTooMuch) {
		return out, false, nil
	}
	return out, err == nil, err
}

var errTooMuch = errors.New("it prints too much")

// bounded keeps what is written into it, up to most bytes; 0: all.
type bounded struct {
	kept bytes.Buffer
	most int
	full bool
}

func (b *bounded) Write(data []byte) (int, error) {
	if room := b.most - b.kept.Len(); b.most > 0 && len(data) > room {
		b.kept.Write(data[:room])
		b.full = true
		return room, errTooMuch // which closes the pipe
	}
	return b.kept.Write(data)
}

// pipePatience is how long a git that has ended may be waited for.
const pipePatience = 10 * time.Second

// deafPatience is how long a git may take to end that is asked to.
const deafPatience = time.Second

// Run returns what git prints. An error says what it complained of.
func (g Git) Run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	u, err := g.unheeded(ctx)
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	out, err := g.With(u.env...).run(ctx, stdin, slices.Concat(always, g.Settings), args)
	if len(u.keys) > 0 && err != nil && ExitCode(err) != 1 { // 1 is an answer
		err = fmt.Errorf("%w (what only the repository's configuration names doesn't run: %s; git config --global names it for "+
			"you)", err, strings.Join(u.keys[:min(3, len(u.keys))], ", "))
	}
	return out, err
}

// Config is git config as the user would run it. It runs nothing.
func (g Git) Config(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return g.UpTo(maxConfig).run(ctx, stdin, slices.Concat([]string{anyoneMakes}, g.Settings), append([]string{"config"}, args...))
}

// Layout says whether the folder is in a work tree, where that begins, and where its repository is: a line each. It
// runs nothing, so nobody has to have read the configuration.
func (g Git) Layout(ctx context.Context) ([]string, error) {
	out, err := g.run(ctx, nil, slices.Concat(always, g.Settings),
		[]string{"rev-parse", "--is-inside-work-tree", "--show-toplevel", "--absolute-git-dir"})
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), err
}

// maxConfig bounds a configuration, in bytes.
const maxConfig = 1 << 20

// underWay is how many gits of this process run.
var underWay atomic.Int64

// IsUnderWay says whether a git of this process runs. Each has a bound of its own.
func IsUnderWay() bool { return underWay.Load() > 0 }

// withoutNUL returns an error where an argument has a byte with which the system starts no program.
func withoutNUL(args []string) error {
	for _, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("%q has a NUL byte, which no path and no name can have", arg)
		}
	}
	return nil
}

func (g Git) run(ctx context.Context, stdin []byte, settings, args []string) ([]byte, error) {
	if err := cmp.Or(withoutNUL(args), g.check(args[0])); err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	underWay.Add(1)
	defer underWay.Add(-1)
	patience, asked := cmp.Or(g.Patience, time.Minute), ctx
	ctx, cancel := context.WithTimeoutCause(ctx, patience, slowError{patience})
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	line := make([]string, 0, 2*len(settings)+len(args))
	for _, setting := range settings {
		line = append(line, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, g.Program, append(line, args...)...)
	cmd.Dir, cmd.Stdin = g.Dir, bytes.NewReader(stdin)
	cmd.WaitDelay = pipePatience
	cmd.Env = append(append(g.environ(), ours...), g.Env...)
	end := keepApart(cmd, g.Lock)
	out, complaint := bounded{most: g.Most}, bytes.Buffer{}
	begun, finish, err := capture(cmd, &out, &complaint)
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	ended, err := g.await(ctx, cmd, begun, stop)
	if !ended { // its output may still grow
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	finish()
	end()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return out.kept.Bytes(), nil
	}
	why := mainLine(complaint.String())
	switch {
	case out.full:
		err = errTooMuch
	case asked.Err() != nil:
		err = asked.Err()
	case ctx.Err() != nil:
		err = cmp.Or(g.whyStuck(ctx), context.Cause(ctx))
	case why != "":
		err = fmt.Errorf("%s: %w", why, err)
		if strings.Contains(why, "emory") { // "Out of memory, malloc failed", of mmap: "Cannot allocate memory"
			err = cmp.Or(g.unreadable(ctx, false), err)
		}
	case cmd.Process == nil && g.Dir != "": // of a folder that is gone the system says that git's program is
		_, goneErr := os.Stat(g.Dir)
		err = cmp.Or(goneErr, err)
	}
	return out.kept.Bytes(), fmt.Errorf("git %s: %w", args[0], err)
}

// await runs cmd, and says whether it has ended: one that waits for a disk that is gone can't even be killed.
func (g Git) await(ctx context.Context, cmd *exec.Cmd, begun func(), stop func(error)) (ended bool, err error) {
	if err := cmd.Start(); err != nil {
		return true, err
	}
	begun()
	bound(cmd.Process.Pid)
	done, stuck := make(chan error, 1), make(chan error, 1)
	looking, stopLooking := context.WithCancel(ctx)
	go func() { stuck <- g.look(looking, stop) }()
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
		ended = true
	case <-ctx.Done():
		select {
		case err = <-done:
			ended = true
		case <-time.After(deafPatience + pipePatience + time.Second):
			err = context.Cause(ctx)
		}
	}
	stopLooking()
	return ended, cmp.Or(<-stuck, err) // to look whether it waits at a pipe may have let it go on
}

// whyStuck names the file that a git waited for which took too long; nil for one that its caller has ended.
func (g Git) whyStuck(ctx context.Context) error {
	if !errors.As(context.Cause(ctx), &slowError{}) {
		return nil
	}
	return g.unreadable(ctx, false)
}

// usersForm are the variables besides by which CI and containers hand in how repositories are reached, and who commits.
// None says which repository it is: those are of whoever started this, as a hook.
var usersForm = lazy.Regexp(`^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|PROXY_COMMAND|CONFIG_COUNT|CONFIG_(KEY|VALUE)_\d+` +
	`|(PROXY_)?SSL_\w+|HTTP_(PROXY_AUTHMETHOD|USER_AGENT)|(AUTHOR|COMMITTER)_(NAME|EMAIL))$`)

// pathForm matches the variables whose values are paths.
var pathForm = lazy.Regexp(`^GIT_(CONFIG_GLOBAL|CONFIG_SYSTEM|(PROXY_)?SSL_(CAINFO|CAPATH|CERT|KEY))$`)

// programForm are those whose values are programs, with a path or of PATH.
var programForm = lazy.Regexp(`^GIT_(SSH|SSH_COMMAND|ASKPASS|PROXY_COMMAND)$`)

// obeys says whether a variable of the caller's counts. A path that depends on where git works would be whoever's has
// that folder.
func (g Git) obeys(name, value string) bool {
	program, _, _ := strings.Cut(value, " ")
	switch {
	case !strings.HasPrefix(name, "GIT_"):
		return true
	case !slices.Contains(theirs, name) && !(g.AsUser && usersForm().MatchString(name)):
		return false
	case pathForm().MatchString(name):
		return value == "" || filepath.IsAbs(value)
	case programForm().MatchString(name):
		return !strings.ContainsAny(program, `/\`) || filepath.IsAbs(strings.Trim(program, `"'`))
	}
	return true
}

// environ is the caller's environment as far as it counts.
func (g Git) environ() (env []string) {
	if g.AsUser {
		env = append(env, "GIT_ASKPASS=") // nobody is asked but who stands behind this
	}
	for _, kv := range outside.WithoutRelative(os.Environ()) { // it works in the folder
		if name, value, _ := strings.Cut(kv, "="); g.obeys(strings.ToUpper(name), value) {
			env = append(env, kv)
		}
	}
	return env
}

// Given is what the caller's environment says of a variable, if that counts.
func (g Git) Given(name string) string {
	if value := os.Getenv(name); g.obeys(name, value) {
		return value
	}
	return ""
}

// Text is what git prints in one line.
func (g Git) Text(ctx context.Context, stdin []byte, args ...string) (string, error) {
	out, err := g.Run(ctx, stdin, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Yes says whether git says so by its exit code. Only 1 is a no.
func (g Git) Yes(ctx context.Context, args ...string) (bool, error) {
	_, err := g.Run(ctx, nil, args...)
	if ExitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Stage takes files as they are into the index.
func (g Git) Stage(ctx context.Context, paths []string) error {
	return g.updateIndex(ctx, paths, "--add", "--remove", "--replace")
}

// Unstage takes files out of the index.
func (g Git) Unstage(ctx context.Context, paths []string) error {
	return g.updateIndex(ctx, paths, "--force-remove")
}

func (g Git) updateIndex(ctx context.Context, paths []string, how ...string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := g.Run(ctx, []byte(strings.Join(paths, "\x00")+"\x00"),
		slices.Concat([]string{"update-index", "-z"}, how, []string{"--stdin"})...)
	return err
}

// StageAll takes the files of the work tree into the index as they are, in the folder of its top: the files that the
// index knows, and others that git ls-files lists with more as further arguments, except skipped ones. It returns the
// repositories within, which it doesn't take. (git add runs git in submodules, whose configuration may be anybody's.)
func (g Git) StageAll(ctx context.Context, skips func(path string) bool, more ...string) (within []string, err error) {
	changed, err := g.List(ctx, "diff-files", "-z", "--name-status", "--no-ext-diff", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	others, err := g.List(ctx, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, more...)...)
	if err != nil {
		return nil, err
	}
	if skips == nil {
		skips = func(string) bool { return false }
	}
	var gone, there []string
	for ; len(changed) > 1; changed = changed[2:] {
		switch how, name := changed[0], changed[1]; {
		case skips(name):
		case how == "D": // or only a link leads to it by now
			gone = append(gone, name)
		default:
			there = append(there, name)
		}
	}
	for _, name := range others {
		switch {
		case skips(name):
		case strings.HasSuffix(name, "/"):
			within = append(within, name)
		default:
			there = append(there, name)
		}
	}
	if err := g.Unstage(ctx, gone); err != nil {
		return within, err
	}
	return within, g.Stage(ctx, there)
}

// MaxIndex bounds what is read of an index, in bytes: of some ten million files.
const MaxIndex = 1 << 30

func readIndex(path string) ([]byte, error) {
	file, err := regular.Open(path, os.O_RDONLY|regular.NoFollow, 0) // git would write through a link
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return regular.All(file, MaxIndex)
}

// CopyIndex copies an index, of which git then believes as much as of the original: it reads again what is newer than
// its index. info is the original's, nil where there is none.
func CopyIndex(from, to string) (data []byte, info fs.FileInfo, err error) {
	os.Remove(to) // which may be a link of an agent's
	info, err = os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
	default:
		data, err = readIndex(from)
	}
	if err == nil {
		err = regular.Write(to, data, 0o600)
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("copying the index: %w", err)
	}
	return data, info, nil
}

// The messages, and their remedies, where git doesn't know whose commit it would make.
const (
	Nobody            = "git doesn't know who you are, so it can't make a commit in your name"
	IntroduceYourself = "git config --global user.name NAME && git config --global user.email ADDRESS"
)

// KnowsUser says whether git knows whose commit it would make.
func (g Git) KnowsUser(ctx context.Context) bool {
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		if _, err := g.Run(ctx, nil, "-c", "user.useConfigOnly=true", "var", who); err != nil {
			return false
		}
	}
	return true
}

// ExitCode returns the exit code of the git in an error of Run's; -1 for none.
func ExitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

// mainLine returns the line in which git says why it gave up. Later lines are advice.
func mainLine(complaint string) string {
	lines := strings.Split(strings.TrimSpace(complaint), "\n")
	for i, line := range lines {
		if why, ok := strings.CutPrefix(line, "fatal: "); ok {
			return why + saidBy(why, lines[:i])
		}
	}
	return lines[len(lines)-1]
}

// saidBy is what a filter or its shell has said before git gave up, which doesn't know why.
func saidBy(why string, before []string) string {
	if !strings.Contains(why, " filter ") && !strings.HasPrefix(why, "the remote end hung up") {
		return ""
	}
	for _, line := range before {
		if !strings.HasPrefix(line, "error: ") && !strings.HasPrefix(line, "Preparing worktree") {
			return " (" + line + ")"
		}
	}
	return ""
}
