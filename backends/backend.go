package backends

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// PromptMode is how the prompt reaches the agent.
type PromptMode string

// The ways of a prompt.
const (
	PromptStdin PromptMode = "stdin" // written to standard input, then closed: any length, any first byte
	PromptArg   PromptMode = "arg"   // the last argument: at most MaxArg bytes
	PromptFile  PromptMode = "file"  // the last argument names a file that holds it
	PromptLive  PromptMode = "live"  // a frame on standard input, which stays open for more: see Live and Backend.Talking
)

// MaxArg is the longest prompt, in bytes, that may go in as an argument:
// Linux refuses a single one over 128 KiB.
const MaxArg = 100 << 10

// Backend is one agent as data. Adding an agent adds one file with one of these, and its name to builtin.
// Required are Name, Command, Output, May, Install, and Inside.Own: the folders of its own, without which it
// wouldn't find its login behind walls.
type Backend struct {
	Name    string // what the user calls it: "pi"
	Command string // program name or path
	Args    []string
	// InteractiveArgs start the agent's own terminal interface.
	InteractiveArgs []string
	// InteractivePrompt is how a prompt gets into that interface: Positional,
	// the flag that takes it, or "" where it takes none.
	InteractivePrompt string
	// May says what it may do without asking, behind its name: "asks nothing and may
	// run any command". Nobody is there to be asked, so all else is refused.
	May string
	// Replaceable are arguments behind Args that the user's own arguments may replace.
	Replaceable []Replaceable
	Prompt      PromptMode // PromptStdin unless it says otherwise
	// ArgPrompt is how a prompt as an argument (PromptArg) is told from the
	// options: EndOfOptions in front of it, the flag that takes it, as --FLAG=PROMPT
	// or as -F PROMPT, or "" where the agent knows neither.
	ArgPrompt string
	Output    decode.Format
	PTY       bool  // its output is a pseudo-terminal, see openPTY: where it prints text
	NoCost    bool  // it doesn't tell what a run costs, where others do with this output
	Live      *Live // how it can be talked to while it works; nil: it can't

	Flags
	// Models is a regular expression for the names that the agent takes for models; "": nobody
	// knows. It is asked only for what another agent's file says.
	Models string
	Tools  Tools
	// Hooks of its user's and of plugins' have no place in a loop.
	Hooks  Hooks
	Brings []Brought
	// Commands are arguments of the user's own with which it runs any command without asking,
	// where it runs none by default. Empty: it does, or nobody knows.
	Commands []string
	// ReadOnly are arguments with which the agent can change nothing, where Tools don't say how.
	ReadOnly []string
	Agents   AgentFiles

	// Inside is what it needs behind walls.
	Inside sandbox.Agent

	Env []string // "KEY=value", set unless the user's environment has KEY
	// Kept are folders in TMPDIR that the agent only saves time with. Each loop has
	// a TMPDIR of its own, so they are kept for the next one (keepCaches).
	Kept []string
	// SlashCommands: a prompt whose first byte is "/" would be run as a command
	// of the agent's own; a line break in front of it prevents that.
	SlashCommands bool
	// Interrupt: SIGINT ends it well, and comes before SIGTERM.
	Interrupt bool

	VersionArgs []string // print the version and exit
	Install     string   // the command line that installs it; of a program of the user's own, what to do when it is missing
	Paid        string   // how its runs are paid, where that isn't plain; "": nothing to say
	Needs       string   // what that needs: "node 22.19 or newer"
}

// Flags are those by which an agent takes what a loop has for it; "" where it has none.
type Flags struct {
	ModelFlag        string // takes a model name
	SystemPromptFlag string // takes text that is added to the system prompt
	BudgetFlag       string // takes dollars; the agent stops itself when they are spent
	ModeFlag         string // takes what is done without asking, claude's "permissionMode"
}

// Positional is the InteractivePrompt of agents that take the prompt as an
// argument without a flag.
const Positional = "positional"

// EndOfOptions is the ArgPrompt of agents for which everything behind it is no option.
const EndOfOptions = "--"

// Replaceable are default arguments that give way when the user's own
// arguments contain one of the flags By.
type Replaceable struct {
	Args []string
	By   []string
	May  map[string]string // what the agent may do with a FLAG, or a FLAG=VALUE, of By
}

// builtin has the known agents in the order of automatic detection.
var builtin = known(&claude, &kiro, &gemini, &codex, &amp, &copilot, &opencode, &pi)

// known adds to agents what holds for all of them.
func known(agents ...*Backend) (all []Backend) {
	for _, b := range agents {
		b.Prompt, b.VersionArgs = cmp.Or(b.Prompt, PromptStdin), []string{"--version"}
		all = append(all, *b)
	}
	return all
}

// Custom describes a program of the user's own. The prompt is its only
// contract: it goes in by mode, and format says how to read what comes out.
func Custom(command string, args []string, mode PromptMode, format decode.Format) Backend {
	return Backend{
		Name:    "custom",
		May:     "may do whatever it does by itself: ralph-lsp doesn't know it",
		Command: command,
		Args:    args,
		Prompt:  mode,
		Output:  format,
		Install: "check the path of your command",
	}
}

// Argv returns the program's arguments for a headless run: the backend's own,
// then ours, then the user's, so that the user has the last word.
func (b Backend) Argv(ours, user []string) []string {
	argv := slices.Clone(b.Args)
	for _, r := range b.Replaceable {
		if !HasFlag(user, r.By...) {
			argv = append(argv, r.Args...)
		}
	}
	if run, known := b.HooksRun(user); known && !run {
		argv = append(argv, b.Hooks.Off...)
	}
	return append(append(argv, ours...), user...)
}

// HasCost says whether the agent tells what its runs cost.
func (b Backend) HasCost() bool { return b.Output.HasCost() && !b.NoCost }

// HowToInstall says how to get the agent.
func (b Backend) HowToInstall() string {
	if b.Needs == "" {
		return b.Install
	}
	return b.Install + " (needs " + b.Needs + ")"
}

// Permissions says what the agent may do with the user's own arguments: "pi
// asks nothing and may run any command". own says that these decide it.
func (b Backend) Permissions(user []string) (text string, own bool) {
	for _, r := range b.Replaceable {
		for i, arg := range user {
			flag, value, joined := strings.Cut(arg, "=")
			if !slices.Contains(r.By, flag) {
				continue
			}
			if !joined && i+1 < len(user) && !strings.HasPrefix(user[i+1], "-") {
				value = user[i+1]
			}
			if own = true; value != "" {
				flag += "=" + value
			}
			text = cmp.Or(r.May[flag], r.May[strings.TrimSuffix(flag, "="+value)], "may do what "+flag+" allows")
		}
	}
	return filepath.Base(b.Name) + " " + cmp.Or(text, b.May), own
}

// RunsAnything says whether the agent may run any command, without being asked, with the
// user's own arguments.
func (b Backend) RunsAnything(user []string) bool {
	text, _ := b.Permissions(user)
	isNarrow := b.Tools.Only != "" && HasFlag(user, b.Tools.Only) || b.Tools.Deny != "" && HasFlag(user, b.Tools.Deny)
	return strings.HasSuffix(text, everything) && !isNarrow
}

// everything is what an agent may do that asks nothing.
const everything = "asks nothing and may run any command"

// Interactive returns the program's arguments for its own terminal interface,
// the user's among them. An empty prompt leaves the first word to the user.
func (b Backend) Interactive(user []string, prompt string) ([]string, error) {
	argv := slices.Concat(b.InteractiveArgs, user)
	switch {
	case b.Output == decode.FormatACP && len(b.InteractiveArgs) == 0:
		return nil, fmt.Errorf("%s has no interface of its own for a terminal: plan with another agent, or name its interactive_args", b.Name)
	case prompt == "":
		return argv, nil
	case b.InteractivePrompt == "":
		return nil, fmt.Errorf("%s takes no prompt on its command line: start it without one", b.Name)
	case b.InteractivePrompt != Positional:
		return append(argv, b.InteractivePrompt+"="+literal(prompt)), nil
	}
	return append(argv, b.positional(prompt)...), nil
}

// argument returns the arguments that give a prompt to a headless run. They stand behind all others. The prompt
// always stays a prompt: it can't become an option, a file or a command of the agent's.
func (b Backend) argument(prompt string) []string {
	if b.SlashCommands && strings.HasPrefix(prompt, "/") {
		prompt = "\n" + prompt
	}
	switch {
	case b.ArgPrompt == "" || b.ArgPrompt == EndOfOptions:
		return b.positional(prompt)
	case strings.HasPrefix(b.ArgPrompt, "--"):
		return []string{b.ArgPrompt + "=" + literal(prompt)}
	}
	return []string{b.ArgPrompt, literal(prompt)}
}

// positional is a prompt as an argument without a flag.
func (b Backend) positional(prompt string) []string {
	if b.ArgPrompt == EndOfOptions { // it ends an option that takes many values
		return []string{EndOfOptions, literal(prompt)}
	}
	return []string{literal(prompt)}
}

// literal puts a line break in front of a prompt that an agent would take for
// an option or for the name of a file. pi does so even behind EndOfOptions.
func literal(prompt string) string {
	if strings.HasPrefix(prompt, "-") || strings.HasPrefix(prompt, "@") {
		return "\n" + prompt
	}
	return prompt
}

// HasSystemPrompt says whether text can be added to the agent's system prompt
// beside the user's own arguments.
func (b Backend) HasSystemPrompt(user []string) bool {
	return b.SystemPromptFlag != "" && !HasFlag(user, b.SystemPromptFlag)
}

// HasFlag says whether args contain one of flags, alone or as flag=value.
func HasFlag(args []string, flags ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(flags, name)
	})
}
