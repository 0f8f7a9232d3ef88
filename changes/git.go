package changes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// git runs the git program on one repository, with nothing that the user's own
// git status and git add wouldn't run: no hook, no monitor of files, no signing,
// no cleaning up, no network, no question.
type git struct {
	program  string
	dir      string   // where it works
	settings []string // beside those of always
	env      []string // beside the cleaned environment
	lock     *os.File // held by what it starts, too
	most     int      // bytes that it may print; 0: any number
}

// always are settings that win over those of the user and of the repository.
var always = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.splitIndex=false",
	"core.logAllRefUpdates=false",
	"core.safecrlf=false",
	"core.filesRefLockTimeout=1000", // milliseconds
	"reftable.lockTimeout=1000",
	"gc.auto=0",
	"maintenance.auto=false",
	"protocol.allow=never",
	"i18n.commitEncoding=UTF-8",
}

// ours is the environment of each git, instead of the caller's GIT_*.
var ours = []string{
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=none", // for a git that doesn't know the last one
	"GIT_NO_REPLACE_OBJECTS=1",
	"GIT_AUTHOR_NAME=ralph-lsp", "GIT_AUTHOR_EMAIL=ralph-lsp@localhost",
	"GIT_COMMITTER_NAME=ralph-lsp", "GIT_COMMITTER_EMAIL=ralph-lsp@localhost",
	"LC_ALL=C",
}

func findGit() (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", ErrNoGit
	}
	return filepath.Abs(program)
}

func newGit(program, home string, b book) git {
	return git{program: program, dir: b.Top, env: []string{
		"GIT_LITERAL_PATHSPECS=1", "GIT_DIR=" + b.GitDir, "GIT_WORK_TREE=" + b.Top, "GIT_INDEX_FILE=" + filepath.Join(home, indexName),
	}}
}

// withLock is g with a lock that what it starts holds too.
func (g git) withLock(lock *os.File) git {
	g.lock = lock
	return g
}

// withIndex is g with another index.
func (g git) withIndex(path string) git {
	g.env = append(g.env[:len(g.env):len(g.env)], "GIT_INDEX_FILE="+path)
	return g
}

// patience bounds one git whose context has no deadline.
const patience = time.Minute

// upTo is g that may print so many bytes.
func (g git) upTo(most int) git {
	g.most = most
	return g
}

// runSome is run, and says whether that was all: git is ended when it prints more
// than it may.
func (g git) runSome(ctx context.Context, args ...string) (out []byte, all bool, err error) {
	out, err = g.run(ctx, nil, args...)
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

// run returns what git prints. An error says what it complained of.
func (g git) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	line := make([]string, 0, 2*len(always)+len(args))
	for _, setting := range slices.Concat(always, g.settings) {
		line = append(line, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, g.program, append(line, args...)...)
	cmd.Dir, cmd.Stdin = g.dir, bytes.NewReader(stdin)
	cmd.WaitDelay = time.Second // for a git that is deaf, and for filters that keep the pipes
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(strings.ToUpper(kv), "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(append(cmd.Env, ours...), g.env...)
	keepApart(cmd, g.lock)
	out, complaint := bounded{most: g.most}, bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if err == nil {
		return out.kept.Bytes(), nil
	}
	if out.full {
		err = errTooMuch
	} else if ctx.Err() != nil {
		err = ctx.Err()
	} else if why := mainLine(complaint.String()); why != "" {
		err = fmt.Errorf("%s: %w", why, err)
	}
	return out.kept.Bytes(), fmt.Errorf("git %s: %w", args[0], err)
}

// text is what git prints in one line.
func (g git) text(ctx context.Context, stdin []byte, args ...string) (string, error) {
	out, err := g.run(ctx, stdin, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// packsObjects says whether update-index of a git puts files over a size into one
// pack. Before 2.37 it made a pack for each.
func packsObjects(version string) bool {
	var major, minor int
	_, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor)
	return err == nil && (major > 2 || major == 2 && minor >= 37)
}

// exitCode is that of the git which an error of run's is about; -1 for none.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// mainLine is what git gave up for. What is behind that line is advice.
func mainLine(complaint string) string {
	lines := strings.Split(strings.TrimSpace(complaint), "\n")
	for _, line := range lines {
		if why, ok := strings.CutPrefix(line, "fatal: "); ok {
			return why
		}
	}
	return lines[len(lines)-1]
}

// fields splits what git prints with -z.
func fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
