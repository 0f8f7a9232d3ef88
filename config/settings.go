package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Source is where a value comes from.
type Source string

// The sources; each wins over those behind it.
const (
	FromStart   Source = "start"   // the arguments of a start
	FromEditor  Source = "editor"  // the editor's settings
	FromFolder  Source = "folder"  // the folder's file
	FromUser    Source = "user"    // the user's file
	FromPrompt  Source = "prompt"  // the prompt, which may name its promise
	FromDefault Source = "default" // built in
)

// History says how loops are kept.
type History struct {
	Enabled bool
	Folder  string // absolute or below ~ where a folder is known; "" is pi's own
	Keep    time.Duration
	MaxGB   int64
}

// Changes says how snapshots of the folder are made.
type Changes struct {
	Keep      time.Duration // 0: none are made
	MaxFileMB int64
	MaxMB     int64 // of one loop
}

// Worktree says how worktrees of loops are made.
type Worktree struct {
	Place string   // the folder they are in, see worktree.Options
	Setup []string // commands that the shell runs in a new one
	Copy  []string // files and folders that the commit doesn't have, by their paths in the repository
	Link  []string // the same
}

// BackendSettings are what the files say about one backend. Empty fields are
// as the backend has them, or for a custom one as the key's default.
type BackendSettings struct {
	Command         string // a name, or an absolute path
	Args            []string
	Prompt          string
	Output          string
	InteractiveArgs []string
	Settings        string // SettingsLoop or SettingsUser; "" is the first
	Env             []string

	// Of an agent of the Agent Client Protocol:
	Protocol      string // ProtocolACP, or ""
	Mode, AskMode string
	Cost          bool // it tells what a run costs
}

// ProtocolACP is how an agent of the user's own is spoken to by the Agent Client Protocol.
const ProtocolACP = "acp"

// Which of an agent's own settings count in a loop.
const (
	SettingsLoop = "loop" // all but hooks
	SettingsUser = "user"
)

// Hat is a role: a backend by its name, or a program of its own, and when its turn comes.
type Hat struct {
	Backend          string // "" when there is a Command, or it is the loop's own
	Command          string // a name, or an absolute path
	Args             []string
	InstructionsFile string // absolute; "" is none
	hats.Hat
}

// Step is a part of an iteration: the agents that work side by side, or one alone.
type Step []StepAgent

// StepAgent is what an agent does in a step.
type StepAgent struct {
	Agent string
	Task  string // "" leaves it to the place
	Write bool   // beside others, it may change files
}

// Fallback is an agent that works while the loop's own is limited.
type Fallback struct {
	Backend string   // a name
	Model   string   // "" leaves the choice to the agent
	On      []string // of settings.Reliefs; nil: any
}

// Settings are what the files and the built-in values say together.
type Settings struct {
	Backend    string // a name, or Auto
	PromptFile string // as it is written; see PromptPath
	Loop       settings.Values
	History    History
	Changes    Changes
	Worktree   Worktree
	Land       []string     // runs behind a landing: a program with its arguments
	Verify     verify.Check // the checks of a promise
	Sandbox    sandbox.Spec // the walls around agents; its paths are absolute
	Notify     settings.Notify
	Budget     budget.Limits // of all the user's loops together
	Backends   map[string]BackendSettings
	Hats       map[string]Hat
	Required   []string // topics that have to be published before a promise counts
	Steps      []Step   // the steps of an iteration; nil: one run
	AtOnce     int      // how many agents of a step work at the same time
	Fallbacks  []Fallback
	Files      Files // where they were read

	// Held is what the folder's file says and isn't trusted to say; it counts
	// for nothing. Trust is that file, nil when nothing is held.
	Held  []Held
	Trust *UntrustedError

	sources  map[string]setting
	hatOrder []string // the names of hats, in the order of the files
}

// setting is a key that is set, with its value as in a file.
type setting struct {
	value  any
	source Source
}

// put is how a key's decoded value, which was checked, goes into settings; name is what stands for Any.
type put func(s *Settings, name string, v any)

// to puts a value where a pointer leads.
func to(at func(*Settings) any) put {
	return func(s *Settings, _ string, v any) { assign(at(s), v) }
}

func toBackend(at func(*BackendSettings) any) put {
	return func(s *Settings, name string, v any) {
		b := s.Backends[name]
		assign(at(&b), v)
		s.Backends[name] = b
	}
}

func toHat(at func(*Hat) any) put {
	return func(s *Settings, name string, v any) {
		h := s.Hats[name]
		h.Name = name
		assign(at(&h), v)
		s.Hats[name] = h
	}
}

// assign gives a decoded value the type of its place.
func assign(place, v any) {
	switch to := place.(type) {
	case *time.Duration:
		*to, _ = limits.ParseSpan(v.(string))
	case *[]string:
		*to = texts(v)
	case **bool:
		*to = new(v.(bool))
	case *bool:
		*to = v == true || v == "on"
	default:
		reflect.ValueOf(to).Elem().Set(reflect.ValueOf(v).Convert(reflect.TypeOf(to).Elem()))
	}
}

func setHistoryFolder(s *Settings, _ string, v any) { s.History.Folder = s.Files.ofUser(v.(string)) }

// setEngine leaves the choice to the walls where the user leaves it to us.
func setEngine(s *Settings, _ string, v any) {
	if s.Sandbox.Engine = v.(string); v == Auto {
		s.Sandbox.Engine = ""
	}
}

// setCommand takes the place of another command, and leaves how it is run.
func setCommand(s *Settings, _ string, v any) {
	command := commandOf(v)
	s.Verify.Command, s.Verify.Shell = command.Command, command.Shell
}

// commandOf is the check that a decoded text or list names.
func commandOf(v any) verify.Check {
	if text, ok := v.(string); ok {
		return verify.Check{Shell: text}
	}
	return verify.Check{Command: texts(v)}
}

func texts(v any) []string {
	list := []string{}
	for _, item := range v.([]any) {
		list = append(list, item.(string))
	}
	return list
}

// Default returns the built-in settings.
func Default() Settings {
	s := Settings{Backends: map[string]BackendSettings{}, Hats: map[string]Hat{}, sources: map[string]setting{}}
	var file strings.Builder
	for _, key := range keys() {
		if key.Default != "" && !slices.Contains(key.Path, Any) && !InList(key.Path...) {
			fmt.Fprintf(&file, "%s = %s\n", strings.Join(key.Path, "."), key.Default)
		}
	}
	values := map[string]any{}
	if _, err := toml.Decode(file.String(), &values); err != nil {
		panic("a default: " + err.Error())
	}
	s.apply(values, FromDefault, "")
	return s
}

// leaf is a key with its value in a file.
type leaf struct {
	key   Key
	path  []string
	value any
}

// leaves lists the values of a decoded and checked file, in the order of their paths.
func leaves(values map[string]any, above ...string) []leaf {
	var found []leaf
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path := append(slices.Clone(above), name)
		key, _ := Lookup(path...)
		if table, ok := values[name].(map[string]any); ok {
			found = append(found, leaves(table, path...)...)
		} else {
			found = append(found, leaf{key, path, values[name]})
		}
	}
	return found
}

// apply lets a file's values win over those that are there. dir is where a
// relative path of a program starts.
func (s *Settings) apply(values map[string]any, from Source, dir string) {
	if hats, ok := values["hats"].(map[string]any); ok {
		for name := range hats { // parts of two hats make none
			s.forgetHat(name)
		}
	}
	for _, l := range leaves(values) {
		value := l.value
		if l.key.Name() == "command" && l.key.Type == Text {
			value = programPath(dir, value.(string))
		}
		if file, ok := value.(string); ok && l.key.Name() == "instructions_file" && !filepath.IsAbs(file) {
			value = filepath.Join(dir, file)
		}
		name := ""
		if i := slices.Index(l.key.Path, Any); i >= 0 {
			name = l.path[i]
		}
		if l.key.Adds {
			value = s.adding(l)
		}
		key := strings.Join(l.key.Path, ".")
		if setting, ok := settings.ByKey(key); ok {
			_ = setting.Set(&s.Loop, fmt.Sprint(value)) // which was checked
			s.Sandbox.Mode = s.Loop.Sandbox
		} else {
			l.key.put(s, name, value)
		}
		s.sources[strings.Join(l.path, ".")] = setting{value, from}
	}
}

func (s *Settings) forgetHat(name string) {
	delete(s.Hats, name)
	prefix := "hats." + name + "."
	maps.DeleteFunc(s.sources, func(key string, _ setting) bool { return strings.HasPrefix(key, prefix) })
}

// programPath makes a program's path absolute; a name stays one.
func programPath(dir, command string) string {
	if !strings.ContainsAny(command, `/\`) || filepath.IsAbs(command) {
		return command
	}
	return filepath.Join(dir, command)
}

// Limits are those that count where nobody says others.
func (s Settings) Limits() limits.Limits { return s.Loop.Over(limits.Limits{}) }

// Source tells where the value of a key such as "limits.max_iterations" comes
// from; "" when it has none.
func (s Settings) Source(key string) Source { return s.sources[key].source }

// Value is a key with its value in effect.
type Value struct {
	Key    string
	Text   string // as it would stand in a file
	Source Source
}

// Values lists what is set, the fixed keys in the order of the table, then
// backends and hats by name.
func (s Settings) Values() []Value {
	rank := func(key string) int { // those that aren't in the table come last
		if i := slices.IndexFunc(keys(), func(k Key) bool { return strings.Join(k.Path, ".") == key }); i >= 0 {
			return i
		}
		return len(keys())
	}
	names := slices.SortedFunc(maps.Keys(s.sources), func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
	values := make([]Value, len(names))
	for i, name := range names {
		values[i] = Value{name, text(shown(name, s.sources[name].value)), s.sources[name].source}
	}
	return values
}

// HatNames lists the hats by name.
func (s Settings) HatNames() []string { return slices.Sorted(maps.Keys(s.Hats)) }

// HatSet is all hats, in the order of their files.
func (s Settings) HatSet() hats.Set {
	var ring hats.Set
	for _, name := range s.HatNames() {
		ring = append(ring, s.Hats[name].Hat)
	}
	slices.SortStableFunc(ring, func(a, b hats.Hat) int {
		return slices.Index(s.hatOrder, a.Name) - slices.Index(s.hatOrder, b.Name)
	})
	return ring
}

// orderHats takes down in which order a file has its hats.
func (s *Settings) orderHats(data []byte) {
	for _, name := range Parse(data).hatNames() {
		if !slices.Contains(s.hatOrder, name) {
			s.hatOrder = append(s.hatOrder, name)
		}
	}
}

// hatNames are the names of a document's hats in their order.
func (d *Document) hatNames() []string {
	var names []string
	for _, e := range d.entries {
		if len(e.path) > 1 && e.path[0] == "hats" && !slices.Contains(names, e.path[1]) {
			names = append(names, e.path[1])
		}
	}
	return names
}

// text writes a value as it would stand in a file.
func text(v any) string {
	if line, ok := inline(v); ok {
		return line
	}
	var b strings.Builder
	if err := toml.NewEncoder(&b).Encode(map[string]any{"v": v}); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(strings.TrimPrefix(b.String(), "v = "))
}
