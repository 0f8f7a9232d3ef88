package start

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Landing is how a loop's worktree lands, as a user says it.
type Landing struct {
	Name                                  string // of the loop; "": there is only one
	Message                               string
	Squash, Rebase, Keep, Discard, DryRun bool
}

// AddFlags adds its flags to a set.
func (l *Landing) AddFlags(f *pflag.FlagSet) {
	l.AddHow(f)
	f.BoolVar(&l.Keep, "keep", false, "keep the worktree and its branch")
	f.BoolVar(&l.Discard, "discard", false, "don't land it: remove the worktree and its branch, after a question")
	f.BoolVar(&l.DryRun, "dry-run", false, "only say what would land, or what would be discarded")
}

// AddHow adds the flags that say what commits it lands as.
func (l *Landing) AddHow(f *pflag.FlagSet) {
	f.BoolVar(&l.Squash, "squash", false, "land all of it as one commit")
	f.BoolVar(&l.Rebase, "rebase", false, "land a copy of each commit, without a merge")
	f.StringVarP(&l.Message, "message", "m", "", "the `TEXT` of the commit that landing makes")
}

// How is how it lands. The error says what doesn't go together.
func (l *Landing) How() (worktree.How, error) {
	switch {
	case l.Squash && l.Rebase:
		return "", errors.New("--squash makes one commit and --rebase keeps them all; leave one of them out")
	case l.Discard && (l.Squash || l.Rebase || l.Keep || l.Message != ""):
		return "", errors.New("--discard lands nothing; leave the other flags out")
	case l.Squash:
		return worktree.HowSquash, nil
	case l.Rebase:
		return worktree.HowRebase, nil
	}
	return worktree.HowMerge, nil
}

// ParseLanding reads the text of an editor's command: "fix-it --squash -m 'Fix it'".
func ParseLanding(text string) (l Landing, err error) {
	flags := newFlagSet()
	l.AddFlags(flags)
	words, err := shellWords(text)
	if err == nil {
		err = flags.Parse(words)
	}
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return l, errors.New("--help isn't a flag of a landing; docs/WORKTREES.md has all")
	case err != nil:
		return l, FlagError(flags, err, "docs/WORKTREES.md has all", "")
	case flags.NArg() > 1:
		return l, fmt.Errorf("a landing takes one loop, not %d (%s); a message stands behind -m, in quotes", flags.NArg(),
			strings.Join(flags.Args(), ", "))
	}
	l.Name = flags.Arg(0)
	return l, nil
}
