package start

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
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

// Group is what flags are about: the heading that help gives them.
type Group string

// The groups.
const (
	AboutAgent Group = settings.AboutAgent
	AboutEnd   Group = settings.AboutEnd
	AboutLimit Group = settings.AboutLimit
	AboutMay   Group = settings.AboutMay
	AboutPlace Group = "Where"
	AboutShown Group = settings.AboutShown
)

// Groups are all of them, in the order of the help. Programs may have more.
func Groups() []Group {
	return []Group{AboutAgent, AboutEnd, AboutLimit, AboutMay, AboutPlace, AboutShown}
}

// The annotation of a flag: its group, and whether it is given seldom.
const inGroup = "ralph-group"

// In puts flags of a set into a group of its command's help. The first help doesn't show those
// that are given seldom.
func (g Group) In(f *pflag.FlagSet, seldom bool, names ...string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, inGroup, []string{string(g), strconv.FormatBool(seldom)}); err != nil {
			panic(err) // of a flag that the caller has added
		}
	}
}

// GroupOf is the group of a flag, "" for none, and whether it is one that is given seldom.
func GroupOf(f *pflag.Flag) (group Group, seldom bool) {
	if a := f.Annotations[inGroup]; a != nil {
		return Group(a[0]), a[1] == "true"
	}
	return "", false
}

// Flag is one flag of a start.
type Flag struct {
	Name, Usage string // help shows the usage up to a semicolon first
	Group       Group
	Uses        Use
	NotSubmit   string   // why a loop of a fleet can't have it; "" where it can
	Words       []string // that its value may be; nil: any
	Seldom      bool     // not for the first help
	Alone       bool     // where one of its group that is alone is said, none of those below counts

	// at is where its value is in Options: a *string, *bool, *[]string, *[]config.Step or *treeFlag.
	at func(*Options) any
	// setting is the one that the flag is of, where at is nil.
	setting settings.Setting
	means   string // the value that the flag stands for; "": it takes one
}

// ownFlags are those that are in no other table.
var ownFlags = []Flag{
	{Name: "backend", Group: AboutAgent, Uses: toRun | ToTalk | toName, at: func(o *Options) any { return &o.Agent.Name },
		Usage: "the `AGENT` (default: the first installed); " + strings.Join(backends.Detected(), ", ") +
			", acp:NAME, one of ralph.toml, or a path to a program"},
	{Name: "model", Group: AboutAgent, Uses: toRun, at: func(o *Options) any { return &o.Agent.Model },
		Usage: "the agent's `MODEL`; its name in the agent's own words"},
	{Name: "hat", Group: AboutAgent, Uses: toRun | ToTalk, at: func(o *Options) any { return &o.Agent.Hat },
		Usage: "a `HAT` of ralph.toml: the agent's role"},
	{Name: "backend-arg", Group: AboutAgent, Uses: toRun | ToTalk, at: func(o *Options) any { return &o.Agent.Args },
		Usage: "an `ARGUMENT` for the agent; may be repeated"},
	{Name: "backend-output", Group: AboutAgent, Uses: toRun, Seldom: true, Words: formats(),
		at:    func(o *Options) any { return &o.Agent.Output },
		Usage: "the `FORMAT` that a program of your own prints: " + strings.Join(formats(), ", ") + " (default text)"},
	{Name: "backend-prompt", Group: AboutAgent, Uses: toRun, Seldom: true, Words: prompts(),
		at:    func(o *Options) any { return &o.Agent.Prompt },
		Usage: "how a program of your own gets the prompt (default stdin)"},

	{Name: "agent", Group: AboutAgent, Uses: toRun | toName, Alone: true, at: func(o *Options) any { return &o.Steps },
		Usage: "the `NAME` of an agent in a markdown file; see ralph-lsp agents"},
	{Name: "chain", Group: AboutAgent, Uses: toRun | toName, Alone: true, at: func(o *Options) any { return &o.Steps },
		Usage: "the `NAMES` of agents, one after the other; as in scout,planner,worker"},
	{Name: "parallel", Group: AboutAgent, Uses: toRun | toName, Alone: true, Seldom: true, at: func(o *Options) any { return &o.Steps },
		Usage: "the `NAMES` of agents, side by side; they only read"},

	{Name: "verify", Group: AboutEnd, Uses: toRun, Alone: true, at: func(o *Options) any { return &o.Check.Verify },
		Usage: "the promise counts when `CMD` passes; the shell runs it in the folder"},
	{Name: "until", Group: AboutEnd, Uses: toRun, Alone: true, at: func(o *Options) any { return &o.Check.Until },
		Usage: "the loop ends when `CMD` passes; no promise is needed, and it is run before the first iteration too"},
	{Name: "no-verify", Group: AboutEnd, Uses: toRun, Seldom: true, Alone: true, at: func(o *Options) any { return &o.Check.Off },
		Usage: "believe the promise, whatever ralph.toml says"},

	{Name: "worktree", Group: AboutPlace, Uses: ToStart | ToSubmit, NotSubmit: OwnCheckout, Alone: true,
		at:    func(o *Options) any { return (*treeFlag)(&o.Tree) },
		Usage: "work in a git worktree; beside the repository, on a branch of its own or on `BRANCH`"},
	{Name: "with-changes", Group: AboutPlace, Uses: ToStart | ToSubmit, NotSubmit: OwnCheckout, Seldom: true, Alone: true,
		at:    func(o *Options) any { return &o.Tree.WithChanges },
		Usage: "begin the worktree with the files as they are; else with the last commit"},
	{Name: "commit", Group: AboutPlace, Uses: ToStart | ToSubmit, NotSubmit: OwnCheckout, Alone: true,
		at:    func(o *Options) any { return &o.Tree.Commit },
		Usage: "commit each iteration on the worktree's branch"},
}

// OwnCheckout is why a loop of a fleet can't be told where it works.
const OwnCheckout = "each loop works in a checkout of its own; say what it begins with by --repo and --commit"

// formats are the ways in which a program of the user's own may speak.
func formats() (names []string) {
	for _, format := range decode.Formats() {
		names = append(names, string(format))
	}
	return names
}

// prompts are the ways in which such a program may get the prompt.
func prompts() []string {
	return []string{string(backends.PromptStdin), string(backends.PromptArg), string(backends.PromptFile)}
}

// Flags are all flags of a start but those that bound the loop.
func Flags() []Flag { return append(slices.Clone(ownFlags), settingFlags(false)...) }

// settingFlags are the flags of settings: of those that bound the loop, or of the others.
func settingFlags(bounds bool) (flags []Flag) {
	for _, s := range settings.All() {
		for _, f := range s.Flags {
			own := Flag{Name: f.Name, Usage: f.Usage, Group: Group(cmp.Or(s.Group, settings.AboutMay)), Uses: toRun,
				NotSubmit: s.NoFleet, Seldom: s.Seldom, setting: s, means: f.Means}
			if f.Means == "" {
				own.Words = s.Values
			}
			if s.Bounds == bounds {
				flags = append(flags, own)
			}
		}
	}
	return flags
}

// AddFlags adds the flags of a use to a set, those of limits among them.
func AddFlags(f *pflag.FlagSet, o *Options, use Use) {
	if use&toRun != 0 {
		AddLimits(f, o)
	}
	for _, flag := range Flags() {
		if flag.Uses&use == 0 || use == ToSubmit && flag.NotSubmit != "" {
			continue
		}
		flag.add(f, o)
		flag.Group.In(f, flag.Seldom, flag.Name)
	}
}

func (flag Flag) add(f *pflag.FlagSet, o *Options) {
	if flag.at == nil {
		flag.addSetting(f, &o.Values, nil)
		return
	}
	switch at := flag.at(o).(type) {
	case *string:
		if flag.Words != nil {
			f.Var(&Choice{To: at, Of: flag.Words}, flag.Name, flag.Usage)
		} else {
			f.StringVar(at, flag.Name, "", flag.Usage)
		}
	case *bool:
		f.BoolVar(at, flag.Name, false, flag.Usage)
	case *[]string:
		f.StringArrayVar(at, flag.Name, nil, flag.Usage)
	case *[]config.Step:
		f.Var(&agentFlag{to: at, flag: flag.Name}, flag.Name, flag.Usage)
	case pflag.Value:
		f.Var(at, flag.Name, flag.Usage)
		if _, isTree := at.(*treeFlag); isTree {
			f.Lookup(flag.Name).NoOptDefVal = anyBranch
		}
	}
}

func (flag Flag) addSetting(f *pflag.FlagSet, to *settings.Values, now *limits.Limits) {
	if flag.means == "" {
		f.Var(&settingFlag{flag.setting, to, now}, flag.Name, flag.Usage)
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
func (flag Flag) isIn(o Options) bool { return !reflect.ValueOf(flag.at(&o)).Elem().IsZero() }

// copy sets the flag in to from another start, unless to has it. Values of a flag that adds up are joined.
func (flag Flag) copy(to *Options, from Options) {
	if own, adds := flag.at(to).(*[]string); adds {
		*own = slices.Concat(*flag.at(&from).(*[]string), *own)
	} else if !flag.isIn(*to) {
		reflect.ValueOf(flag.at(to)).Elem().Set(reflect.ValueOf(flag.at(&from)).Elem())
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
		if !flag.Alone || !slices.ContainsFunc(ownFlags, func(f Flag) bool { return f.Alone && f.Group == flag.Group && f.isIn(o) }) {
			flag.copy(&out, below)
		}
	}
	out.Values = o.Values.Or(below.Values)
	return out
}

// settingFlag is the flag of a setting that takes its value.
type settingFlag struct {
	settings.Setting
	to  *settings.Values
	now *limits.Limits // to which "+10" adds; nil: nothing is added to
}

// flagTypes are what the values of flags are called in a command's help.
var flagTypes = map[string]string{string(limits.Count): "N", string(limits.USD): "USD", string(limits.Span): "TIME"}

func (f *settingFlag) Type() string {
	if f.Values != nil {
		return strings.Join(f.Values, "|")
	}
	return cmp.Or(flagTypes[f.Kind()], f.Kind())
}

func (f *settingFlag) String() string {
	if l, ok := limits.ByWire(f.Wire); ok { // with the default of a new loop
		return l.Text(f.to.Over(limits.Default()))
	}
	return f.Text(*f.to)
}

func (f *settingFlag) Set(text string) error {
	if l, ok := limits.ByWire(f.Wire); ok && f.now != nil {
		return l.SetFrom(*f.now, &f.to.Given, text)
	}
	err := f.Setting.Set(f.to, text)
	if err == nil && !f.IsIn(*f.to) {
		return badValue("an empty value says nothing; write one, or leave the flag out: a loop that goes on keeps what it has")
	}
	return err
}
