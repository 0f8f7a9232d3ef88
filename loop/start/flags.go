package start

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ralph-lsp/backends"
	"ralph-lsp/internal/settings"
	"ralph-lsp/stream"
)

// A start's flags stand once: those of settings and limits in the tables there, and here those of what is chosen together.

// Use is what a flag may be given to.
type Use int

// The uses.
const (
	ToStart  Use = 1 << iota // a loop that begins: run, and the text of an editor's start
	ToResume                 // one that goes on
	ToSubmit                 // one of a fleet
	ToTalk                   // an agent's own interface
	toName                   // what a state file says of the agents of files that do the work
)

const toRun = ToStart | ToResume | ToSubmit // whatever runs a loop

// Group is what flags are about, as help has them.
type Group string

// The groups.
const (
	AboutAgent Group = "Agent"
	AboutTeam  Group = "Several agents"
	AboutEnd   Group = "When it is done"
	AboutLimit Group = "Limits"
	AboutMay   Group = "What it may do"
	AboutPlace Group = "Where it works"
)

// Flag is one flag of a start.
type Flag struct {
	Name, Usage string
	Group       Group
	Uses        Use
	NotSubmit   string   // why a loop of a fleet can't have it; "" where it can
	Words       []string // that its value may be; nil: any
	Seldom      bool     // not for the first help
	Alone       bool     // where one of its group is said, none of those below counts

	// at is where its value is in Options: a *string, *bool, *[]string, *nameList or *treeFlag.
	at func(*Options) any
	// setting is the one that the flag is of, where at is nil.
	setting settings.Setting
	means   string // the value that the flag stands for; "": it takes one
}

// ownFlags are those that are in no other table.
var ownFlags = []Flag{
	{Name: "backend", Group: AboutAgent, Uses: toRun | ToTalk | toName, at: func(o *Options) any { return &o.Agent.Name },
		Usage: "the `AGENT`: " + strings.Join(backends.Names(), ", ") + ", one of ralph.toml, or a path to a program (default: the first that is installed)"},
	{Name: "model", Group: AboutAgent, Uses: toRun, at: func(o *Options) any { return &o.Agent.Model },
		Usage: "the `NAME` of the model, in the agent's own words"},
	{Name: "hat", Group: AboutAgent, Uses: toRun | ToTalk, at: func(o *Options) any { return &o.Agent.Hat },
		Usage: "the `NAME` of the role, one of ralph.toml's [hats]"},
	{Name: "backend-arg", Group: AboutAgent, Uses: toRun | ToTalk, at: func(o *Options) any { return &o.Agent.Args },
		Usage: "an `ARGUMENT` for the agent; may be repeated"},
	{Name: "backend-output", Group: AboutAgent, Uses: toRun, Seldom: true, Words: formats(), at: func(o *Options) any { return &o.Agent.Output },
		Usage: "the `FORMAT` that a program of your own prints: " + strings.Join(formats(), ", ") + " (default text)"},
	{Name: "backend-prompt", Group: AboutAgent, Uses: toRun, Seldom: true, Words: prompts(), at: func(o *Options) any { return &o.Agent.Prompt },
		Usage: "how a program of your own gets the prompt (default stdin)"},

	{Name: "agent", Group: AboutTeam, Uses: toRun | toName, Alone: true, at: func(o *Options) any { return &o.Team.Agent },
		Usage: "the `NAME` of the agent that does the work, as its markdown file says it"},
	{Name: "chain", Group: AboutTeam, Uses: toRun | toName, Alone: true, at: func(o *Options) any { return (*nameList)(&o.Team.Chain) },
		Usage: "the `NAMES` of agents that work one after the other, as in scout,planner,worker"},
	{Name: "parallel", Group: AboutTeam, Uses: toRun | toName, Alone: true, at: func(o *Options) any { return (*nameList)(&o.Team.Parallel) },
		Usage: "the `NAMES` of agents that work side by side; they only read"},

	{Name: "verify", Group: AboutEnd, Uses: toRun, Alone: true, at: func(o *Options) any { return &o.Check.Verify },
		Usage: "the promise counts when `CMD` passes; the shell runs it in the folder"},
	{Name: "until", Group: AboutEnd, Uses: toRun, Alone: true, at: func(o *Options) any { return &o.Check.Until },
		Usage: "the loop ends when `CMD` passes, without any promise; it is run before the first iteration too"},
	{Name: "no-verify", Group: AboutEnd, Uses: toRun, Alone: true, at: func(o *Options) any { return &o.Check.Off },
		Usage: "believe the promise, whatever ralph.toml says"},

	{Name: "worktree", Group: AboutPlace, Uses: ToStart | ToSubmit, NotSubmit: OwnCheckout, Alone: true, at: func(o *Options) any { return (*treeFlag)(&o.Tree) },
		Usage: "work in a git worktree beside the repository, on a branch of its own, or on `BRANCH`"},
	{Name: "with-changes", Group: AboutPlace, Uses: ToStart | ToSubmit, NotSubmit: OwnCheckout, Alone: true, at: func(o *Options) any { return &o.Tree.WithChanges },
		Usage: "let the worktree begin with the files as they are, not with the last commit"},
	{Name: "commit", Group: AboutPlace, Uses: ToStart | ToSubmit, NotSubmit: OwnCheckout, Alone: true, at: func(o *Options) any { return &o.Tree.Commit },
		Usage: "commit each iteration on the worktree's branch"},
}

// OwnCheckout is why a loop of a fleet can't be told where it works.
const OwnCheckout = "each loop works in a checkout of its own; say what it begins with by --repo and --commit"

// formats are the ways in which a program of the user's own may speak.
func formats() (names []string) {
	for _, format := range stream.Formats() {
		names = append(names, string(format))
	}
	return names
}

// prompts are the ways in which such a program may get the prompt.
func prompts() []string {
	return []string{string(backends.PromptStdin), string(backends.PromptArg), string(backends.PromptFile)}
}

// settingGroups are what settings are about; all others, what the agent may do.
var settingGroups = map[string]Group{"completion.instruct": AboutAgent, "live": AboutAgent}

// Flags are all flags of a start but those of limits.
func Flags() []Flag {
	flags := slices.Clone(ownFlags)
	for _, s := range settings.All() {
		for _, f := range s.Flags {
			own := Flag{Name: f.Name, Usage: f.Usage, Group: AboutMay, Uses: toRun, NotSubmit: s.NoFleet, setting: s, means: f.Means}
			if group, ok := settingGroups[s.Key]; ok {
				own.Group = group
			}
			if f.Means == "" {
				own.Words = s.Values
			}
			flags = append(flags, own)
		}
	}
	return flags
}

// AddFlags adds the flags of a use to a set, those of limits among them.
func AddFlags(f *pflag.FlagSet, o *Options, use Use) {
	for _, flag := range Flags() {
		if flag.Uses&use == 0 || use == ToSubmit && flag.NotSubmit != "" {
			continue
		}
		flag.add(f, o)
	}
	if use&toRun != 0 {
		AddLimits(f, &o.Limits)
	}
}

func (flag Flag) add(f *pflag.FlagSet, o *Options) {
	if flag.at == nil {
		flag.addSetting(f, &o.Said)
		return
	}
	switch at := flag.at(o).(type) {
	case *string:
		if flag.Words != nil {
			f.Var(&choice{flag.Words, at}, flag.Name, flag.Usage)
		} else {
			f.StringVar(at, flag.Name, "", flag.Usage)
		}
	case *bool:
		f.BoolVar(at, flag.Name, false, flag.Usage)
	case *[]string:
		f.StringArrayVar(at, flag.Name, nil, flag.Usage)
	case pflag.Value:
		f.Var(at, flag.Name, flag.Usage)
		if _, isTree := at.(*treeFlag); isTree {
			f.Lookup(flag.Name).NoOptDefVal = anyBranch
		}
	}
}

func (flag Flag) addSetting(f *pflag.FlagSet, to *settings.Said) {
	if flag.means == "" {
		f.Var(&settingFlag{flag.setting, to}, flag.Name, flag.Usage)
		return
	}
	f.BoolFunc(flag.Name, flag.Usage, func(text string) error {
		if text != "true" {
			return errors.New("it takes no value")
		}
		return flag.setting.Set(to, flag.means)
	})
}

// isIn says whether a start says what the flag does.
func (flag Flag) isIn(o Options) bool {
	switch at := flag.at(&o).(type) {
	case *string:
		return *at != ""
	case *bool:
		return *at
	case *[]string:
		return len(*at) > 0
	case *nameList:
		return len(*at) > 0
	case *treeFlag:
		return at.Wanted
	}
	return false
}

// copy takes what another start says, and of what adds up both.
func (flag Flag) copy(to *Options, from Options) {
	switch at := flag.at(to).(type) {
	case *string:
		*at = cmp.Or(*at, *flag.at(&from).(*string))
	case *bool:
		*at = *at || *flag.at(&from).(*bool)
	case *[]string:
		*at = slices.Concat(*flag.at(&from).(*[]string), *at)
	case *nameList:
		*at = *flag.at(&from).(*nameList)
	case *treeFlag:
		*at = *flag.at(&from).(*treeFlag)
	}
}

// FlagList is Markdown that lists what the text of a start may have, a line for each.
func FlagList() string {
	var o Options
	var b strings.Builder
	flags := newFlagSet()
	AddFlags(flags, &o, ToStart)
	flags.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&b, "- `%s`: %s\n", strings.TrimSpace("--"+f.Name+" "+name), strings.ReplaceAll(usage, "<", `\<`))
	})
	return b.String()
}

// Over is o where it says something, else below; arguments of both count.
func (o Options) Over(below Options) Options {
	out := o
	for _, flag := range ownFlags {
		if !flag.Alone || !slices.ContainsFunc(ownFlags, func(f Flag) bool { return f.Group == flag.Group && f.isIn(o) }) {
			flag.copy(&out, below)
		}
	}
	out.Said = o.Said.Or(below.Said)
	out.Limits = o.Limits.Or(below.Limits)
	return out
}

// choice is a flag that writes one of a few words where it counts.
type choice struct {
	of []string
	to *string
}

func (c *choice) String() string { return *c.to }
func (c *choice) Type() string   { return strings.Join(c.of, "|") }
func (c *choice) Set(text string) error {
	known := Choice{Of: c.of}
	err := known.Set(text)
	*c.to = known.Value
	return err
}

// settingFlag is the flag of a setting that takes its value.
type settingFlag struct {
	settings.Setting
	to *settings.Said
}

func (f *settingFlag) String() string { return f.Text(*f.to) }

func (f *settingFlag) Type() string {
	if f.Values != nil {
		return strings.Join(f.Values, "|")
	}
	return f.Kind()
}

func (f *settingFlag) Set(text string) error {
	if err := f.Setting.Set(f.to, text); f.Values == nil || err == nil {
		return err
	}
	return (&Choice{Of: f.Values}).Set(text) // which says what may be meant
}
