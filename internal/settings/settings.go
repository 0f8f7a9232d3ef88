// Package settings has what can be said of a loop in one value: one table with the name of
// each setting in every place that knows it, what it may be, who may say it, whether a loop that
// goes on still has it, and its words. Flags, ralph.toml, the state file, the arguments of an
// editor's start, a dry run, an editor's help and the documents are derived from it. The limits
// of internal/limits are rows of it.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
)

// Values are the settings that a start, an editor, a file or a loop that goes on gives. An empty one is left to the next
// source. Its JSON is that of a start's argument.
type Values struct {
	limits.Given
	Plan        string           `json:"plan,omitempty"`         // a file of tasks, from the folder on
	Task        string           `json:"task,omitempty"`         // one of the plan's, by its text or number
	Workers     int              `json:"workers,omitempty"`      // how many of its tasks are done side by side, 1 to 8
	Live        string           `json:"live,omitempty"`         // auto, on or off
	Permissions string           `json:"permissions,omitempty"`  // ask or agent
	AskTimeout  *limits.Duration `json:"askTimeoutMs,omitempty"` // after which nobody's answer is a no; 0: never
	Sandbox     string           `json:"sandbox,omitempty"`      // workspace or off
	Notes       string           `json:"notes,omitempty"`        // a file in the folder, which runs add to and are told
	OnClose     string           `json:"onClose,omitempty"`      // what becomes of the loop without its window: keep or end
	Instruct    *bool            `json:"instruct,omitempty"`     // the agent is told of the loop and its rules
}

// Values of settings.
const (
	Auto = "auto"
	On   = "on"
	Off  = "off"

	PermissionsAgent = "agent" // its own settings say what it may do
	PermissionsAsk   = "ask"   // its user does

	SandboxWorkspace = "workspace"

	OnCloseKeep = "keep" // it goes on alone
	OnCloseEnd  = "end"  // it is interrupted
)

// Setting describes one of them.
type Setting struct {
	Key     string   // in ralph.toml: "sandbox.mode"
	Wire    string   // in a start's argument, and where its values' sources are told
	Flags   []Flag   // of a start
	Group   string   // of its flags; "" is AboutMay
	Label   string   // of its row in a dry run; "": another row tells it
	Values  []string // all that it may be, the loosest first; nil: more than a few words
	Default string   // as a flag has it; "" is none
	Samples []string // values to suggest, as a flag has them; a text without Values and Default has one
	Doc     string   // one sentence or two, Markdown
	Zero    string   // what 0 means
	Yields  Yield    // when a folder's file may not have it
	Editor  []string // what an editor's settings may say for all starts; nil: nothing
	Stored  Stored   // when the loop goes on
	NoFleet string   // why a loop of a fleet can't have it; "": it can
	Seldom  bool     // the first help doesn't show its flags
	Bounds  bool     // it bounds the loop: it can be changed while that runs, and an editor may say it as it likes
	field
}

// Groups of flags that settings are in.
const (
	AboutAgent = "What runs"
	AboutEnd   = "When it is done"
	AboutLimit = "Limits (0 is none)"
	AboutMay   = "What the agent may do"
	AboutShown = "How it is shown"
)

// Stored says whether a loop that goes on in another process still has a setting: by a key of its
// state file, which anybody may have written.
type Stored struct {
	Key   string // "": it isn't kept
	Not   string // why not
	Doc   string // of the key
	Means string // the value that "KEY: true" stands for; "": the key has the value
	With  string // the key in ralph.toml of the setting without which this one is about nothing; "" is none
}

// Flag is a flag of a start.
type Flag struct {
	Name, Usage string
	Means       string // the value that the flag stands for; "": it takes one
}

// Yield says when a key doesn't count in a folder's file, for most of them one that isn't trusted.
type Yield int

// The rules. What only yields keeps no loop from starting: the user's value
// counts, and the user is told.
const (
	Never      Yield = iota + 1 // a stranger may say it
	Demands                     // always, and no loop starts before the file is trusted: it says what runs
	ToStricter                  // when the user's value, or the built-in one, is stricter; Values name the loosest first
	ToUsers                     // when the user's file says something else
	Always
	Users // always, even in a file that is trusted: it is about the user's machine, not about the folder
)

var table = []Setting{
	{
		Key: "plan", Wire: "plan", Label: "Plan", Samples: []string{"PLAN.md"},
		Flags: []Flag{{Name: "plan", Usage: "do the tasks in `FILE`, one each iteration; - [ ] in Markdown, or a prd.json (see docs/PLANS.md)"}},
		Doc: "A file of tasks that the loop works through, one each iteration, until none is open: Markdown with `- [ ]` " +
			"lines, or a `prd.json`. Its path is one in the folder.",
		Group: AboutAgent, Yields: Demands,
		Stored: Stored{Key: "plan", Doc: "The file of tasks that the loop works through."},
		field:  word(func(s *Values) *string { return &s.Plan }),
	}, {
		Key: "task", Wire: "task", Label: "Task", Samples: []string{"1"}, Seldom: true,
		Flags: []Flag{{Name: "task", Usage: "do only this `TASK` of the plan, by its text or its number, with those below it; " +
			"what comes before it isn't waited for"}},
		Doc: "The task of the plan that the loop does, by its text or its number, with those below it. What comes before " +
			"that isn't waited for.",
		Group: AboutAgent, Yields: Always, NoFleet: "a loop of a fleet does the whole plan",
		Stored: Stored{Key: "task", With: "plan", Doc: "The task of the plan that the loop does; without it, all of them."},
		field:  word(func(s *Values) *string { return &s.Task }),
	}, {
		Key: "workers", Wire: "workers", Label: "Workers", Default: "1", Seldom: true,
		Flags: []Flag{{Name: "workers", Usage: "do up to so many tasks of a plan side by side, each in a checkout of its own; 1 to 8"}},
		Doc: "How many tasks of a plan that don't wait for each other are done side by side, 1 to 8: each by an agent of its " +
			"own, in a checkout of its own.",
		Group: AboutAgent, Yields: Always,
		Stored: Stored{Key: "workers", With: "plan", Doc: "How many tasks of the plan are done side by side."},
		field:  fieldOf[int]{string(limits.Count), func(s *Values) *int { return &s.Workers }, limits.ParseFew, strconv.Itoa},
	}, {
		Key: "live", Wire: "live", Values: []string{Auto, On, Off}, Default: Auto,
		Flags: []Flag{
			{"live", "let the agent be told something while it works, even if nobody is at the terminal (pi, claude)", On},
			{"no-live", "tell it only with the next run", Off},
		},
		Doc: "Whether pi and claude can be told something while they work. `auto`: where somebody is there to do so, in an " +
			"editor or at a terminal.",
		Yields: Never, NoFleet: "workers tell an agent with its next run", Seldom: true,
		Group: AboutAgent, Stored: Stored{Not: "it is about who looks at the loop now"},
		field: word(func(s *Values) *string { return &s.Live }),
	}, {
		Key: "permissions", Wire: "permissions", Values: []string{PermissionsAgent, PermissionsAsk}, Default: PermissionsAgent,
		Flags: []Flag{{Name: "permissions", Usage: "its settings decide, or you each time; only pi and claude can ask"}},
		Doc: "Who says what pi and claude may do. `agent`: their own settings, and nobody is asked. `ask`: you, in the " +
			"editor or the terminal, before a tool runs that these don't allow.",
		Yields: ToStricter, Editor: []string{PermissionsAsk}, // so it only asks for more
		Stored: Stored{Key: "permissions", Doc: "`ask` has the agents ask you for what they may do."},
		field:  word(func(s *Values) *string { return &s.Permissions }),
	}, {
		Key: "ask_timeout", Wire: "askTimeoutMs", Label: "Ask timeout", Samples: []string{"10m"}, Zero: "no limit", Seldom: true,
		Flags: []Flag{{Name: "ask-timeout", Usage: "deny a question that has no answer after this `TIME`; 0 is never. Without " +
			"it, an unwatched loop ends after 30m"}},
		Doc: "How long an agent waits for your answer; then it is denied. Without this key, a loop that nobody looks at (no " +
			"terminal, no editor) ends after 30 minutes of waiting for you, and can be resumed.",
		Yields: Never, Stored: Stored{Key: "ask_timeout", With: "permissions", Doc: "How long such a question waits for an answer " +
			"before it is denied; without it, it waits for you, in a loop that nobody looks at for 30 minutes."},
		field: span(func(s *Values) **limits.Duration { return &s.AskTimeout }),
	}, {
		Key: "completion.instruct", Wire: "instruct", Default: "true", Seldom: true,
		Flags: []Flag{{"no-instruct", "don't tell the agent about the loop and its promise", "false"}},
		Doc:   "Whether each run is told its iteration, the limit and how to finish.",
		Group: AboutAgent, Yields: Never, Stored: Stored{Key: "quiet", Means: "false", Doc: "`true` keeps the loop's rules from the agent."},
		field: yesNo(func(s *Values) **bool { return &s.Instruct }),
	}, {
		Key: "notes", Wire: "notes", Label: "Notes", Samples: []string{"notes.md"}, Seldom: true,
		Flags: []Flag{{Name: "notes", Usage: "let runs leave word for later ones in `FILE`, by ralph-lsp note; it is in the folder"}},
		Doc:   "A file in the folder in which runs leave word for later ones, by `ralph-lsp note`. Each run is told its newest lines.",
		Group: AboutAgent, Yields: Always, NoFleet: "a worker's checkout keeps no notes",
		Stored: Stored{Key: "notes", Doc: "The file in which runs leave word for later ones."},
		field:  word(func(s *Values) *string { return &s.Notes }),
	}, {
		Key: "sandbox.mode", Wire: "sandbox", Values: []string{Off, SandboxWorkspace}, Default: Off,
		Flags: []Flag{{Name: "sandbox", Usage: "walls, so that it writes only the folder; workspace lets it write the folder " +
			"and little else, off what you may (see docs/SANDBOX.md)"}},
		Doc: "What the agents of a loop may write. `workspace`: the folder and a temporary folder; of your home they see " +
			"what programs need. `off`: whatever you may.",
		Yields: ToStricter,
		Stored: Stored{Key: "sandbox", Doc: "The walls around the agents; a loop that is continued has them again. `ralph-lsp " +
			"resume --sandbox off` takes them away."},
		field: word(func(s *Values) *string { return &s.Sandbox }),
	}, {
		Key: "loop.on_close", Wire: "onClose", Label: "On close", Values: []string{OnCloseKeep, OnCloseEnd}, Default: OnCloseEnd,
		Flags: []Flag{{Name: "on-close", Usage: "what becomes of the loop without its window; end: it ends and can be " +
			"resumed, keep: it goes on alone"}},
		Doc: "What becomes of a loop when its editor or terminal is closed. `end`: it is interrupted, and can be resumed. " +
			"`keep`: it goes on alone, with the limits that it has.",
		Yields: Users, Editor: []string{OnCloseKeep, OnCloseEnd}, NoFleet: "a loop of a fleet belongs to no window", Seldom: true,
		Group: AboutShown, Stored: Stored{Not: "it is about the window that the loop has now"},
		field: word(func(s *Values) *string { return &s.OnClose }),
	},
}

// promise is the last row, behind those of the limits.
var promise = Setting{
	Key: "completion.promise", Wire: "completionPromise", Samples: []string{"DONE"}, Bounds: true,
	Flags: []Flag{{Name: "completion-promise", Usage: "done when the agent promises `TEXT`; it does so with " +
		"<promise>TEXT</promise> in its last message"}},
	Doc: "The statement that ends the loop when the agent outputs it as `<promise>...</promise>`. " +
		"The bare word `LOOP_COMPLETE` in its last line always does.",
	Group: AboutEnd, Yields: Never,
	Stored: Stored{Key: "completion_promise"},
	field: fieldOf[*string]{kindText, func(s *Values) **string { return &s.Promise },
		func(text string) (*string, error) { return &text, nil }, func(text *string) string { return *text }},
}

// all are the rows of this table, of the limits, and of the promise.
var all = func() []Setting {
	rows := slices.Clone(table)
	for _, l := range limits.All() {
		rows = append(rows, Setting{
			Key: "limits." + l.Key, Wire: l.Wire, Flags: []Flag{{Name: l.Flag, Usage: l.Usage}}, Group: AboutLimit, Seldom: l.Seldom,
			Default: l.Default, Samples: l.Samples, Doc: l.Doc, Zero: l.Zero, Yields: ToStricter, Bounds: true,
			Stored: Stored{Key: l.Key}, field: limitField{l},
		})
	}
	return append(rows, promise)
}()

// All returns the settings in the order in which people are told of them.
func All() []Setting { return slices.Clone(all) }

// ByKey returns the setting that ralph.toml knows by a key.
func ByKey(key string) (Setting, bool) {
	return find(func(s Setting) bool { return s.Key == key })
}

// ByWire returns the setting that a start's argument knows by a key.
func ByWire(key string) (Setting, bool) {
	return find(func(s Setting) bool { return s.Wire == key })
}

// ByStored returns the setting that the state file knows by a key.
func ByStored(key string) (Setting, bool) {
	return find(func(s Setting) bool { return s.Stored.Key == key && key != "" })
}

func find(is func(Setting) bool) (Setting, bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return Setting{}, false
}

// Set reads a value as a flag has it. Errors complete "NAME ..." and are a *limits.ValueError.
func (s Setting) Set(to *Values, text string) error {
	if s.Values != nil && !slices.Contains(s.Values, text) {
		return noneOf(text, s.Values)
	}
	return s.set(to, text)
}

// Wanted completes "write ..." for a value of another type in a start's argument.
func (s Setting) Wanted() string {
	switch kind := s.Kind(); {
	case s.Values != nil:
		return oneOf(s.Values)
	case kind == string(limits.Span):
		sample := cmp.Or(s.Default, s.Samples[0])
		d, _ := limits.ParseSpan(sample) // the table's tests read them all
		return fmt.Sprintf("milliseconds, as in %d for %s", d.Milliseconds(), sample)
	case kind == kindText:
		return "a text"
	case kind == kindSwitch:
		return kind
	default:
		return limits.Unit(kind).Wanted()
	}
}

// Literal is a value as files have it, which is a text in quotes for all but numbers and switches.
func (s Setting) Literal(text string) string {
	if kind := s.Kind(); text == "" || kind != kindText && kind != string(limits.Span) {
		return text
	}
	return strconv.Quote(text)
}

func oneOf(known []string) string { return "one of " + strings.Join(known, ", ") }

func noneOf(text string, known []string) error {
	meant := format.DidYouMean(text, "", known)
	if text == "" || meant == "" {
		return limits.BadValue(text, oneOf(known))
	}
	return limits.BadValueLike(text, meant, oneOf(known))
}

// IsOwn says whether something is said that isn't what counts anyway.
func (s Setting) IsOwn(said Values) bool {
	text := s.Text(said)
	return s.IsIn(said) && text != s.Default && !(s.Zero != "" && strings.Trim(text, "0s") == "")
}

// Tightening is what of a state file counts over what its user's files say, as anybody may have
// written it: what they say nothing of, and of all that can be strict only what is stricter. What
// bounds the loop isn't in it.
func (s Values) Tightening(users Values) (out Values) {
	for _, setting := range all {
		if setting.isStored(s) && (setting.Yields != ToStricter || setting.IsLooser(users, s)) {
			setting.copy(&out, s)
		}
	}
	return out
}

// Flags are what is said as a command line has it, the value behind a blank or a "=".
func (s Values) Flags(between string) (flags []string) {
	for _, setting := range all {
		for _, flag := range setting.Flags {
			switch text := setting.Text(s); {
			case setting.IsIn(s) && flag.Means == "":
				flags = append(flags, "--"+flag.Name+between+text)
			case setting.IsIn(s) && flag.Means == text:
				flags = append(flags, "--"+flag.Name)
			}
		}
	}
	return flags
}

// Stored is what of a loop stands in its state file, but for what bounds it.
func (s Values) Stored() (out Values) {
	for _, setting := range all {
		if setting.isStored(s) {
			setting.copy(&out, s)
		}
	}
	return out
}

func (s Setting) isStored(said Values) bool {
	return s.Stored.Key != "" && !s.Bounds && s.IsOwn(said) && (s.Stored.Means == "" || s.Stored.Means == s.Text(said)) && s.IsAbout(said)
}

// IsAbout says whether the setting is about anything: what it needs besides is said as well.
func (s Setting) IsAbout(said Values) bool {
	with, hasWith := ByKey(s.Stored.With)
	return !hasWith || with.IsOwn(said)
}

// IsLooser says whether the setting is looser in one than in another, where it can be strict. What isn't said is as built in.
func (s Setting) IsLooser(said, than Values) bool {
	if f, ok := s.field.(limitField); ok {
		return f.Limit.IsLooser(said.Over(limits.Default()), than.Over(limits.Default()))
	}
	at := func(said Values) int { return slices.Index(s.Values, cmp.Or(s.Text(said), s.Default)) }
	return at(said) < at(than)
}

// wrong says what is wrong with a setting, by its name on the wire.
func (s Setting) wrong(err error) error { return &limits.Error{Wire: s.Wire, Name: s.Wire, Err: err} }

func (s Setting) check(said Values) error {
	if f, ok := s.field.(limitField); ok {
		return f.Check(said.Over(limits.Limits{}))
	}
	return s.Set(new(Values), s.Text(said))
}

// Check says what is wrong with what is said. Errors are of type *limits.Error.
func (s Values) Check() error {
	for _, setting := range all {
		if !setting.IsIn(s) {
			continue
		}
		if err := setting.check(s); err != nil {
			return setting.wrong(err)
		}
	}
	return nil
}

// CheckEditor is Check for what an editor says of all its starts.
func (s Values) CheckEditor() error {
	for _, setting := range all {
		switch text := setting.Text(s); {
		case setting.Bounds:
			if err := setting.check(s); err != nil {
				return setting.wrong(err)
			}
		case setting.IsIn(s) && setting.Editor == nil:
			return setting.wrong(errors.New("is for a start, not for all of them"))
		case setting.IsIn(s) && !slices.Contains(setting.Editor, text):
			return setting.wrong(noneOf(text, setting.Editor))
		}
	}
	return nil
}

// Or is what is said, and for the rest what another one says.
func (s Values) Or(other Values) Values {
	for _, setting := range all {
		if !setting.IsIn(s) {
			setting.copy(&s, other)
		}
	}
	return s
}
