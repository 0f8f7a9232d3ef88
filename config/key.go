package config

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Type is what a key's value is.
type Type string

// The types of values.
const (
	Table    Type = "table"
	Text     Type = "text"
	Texts    Type = "list of texts"
	Tables   Type = "list of tables"
	Command  Type = "text or list of texts"
	Count    Type = Type(limits.Count)
	Dollars  Type = Type(limits.USD)
	Duration Type = Type(limits.Span)
	Switch   Type = "true or false"
	Backend  Type = "name of a backend"
)

// Any stands in a Key's path for a name that the user chooses.
const Any = "*"

// Auto as a backend's name means: the first one that is installed.
const Auto = settings.Auto

// Key describes one key of the file.
type Key struct {
	Path    []string // "backends", Any, "args"
	Type    Type
	Default string         // as it would stand in the file; "" is none
	Doc     string         // one sentence or two, Markdown
	Zero    string         // what 0 means; "" when nothing of its own
	Values  []string       // all that a text may be; nil: any text
	Samples []string       // values to suggest, as they would stand in the file
	Yields  settings.Yield // when a folder's file may not have it
	Adds    bool           // a list that comes behind those of the files below, not in their place
	put     put            // nil for tables and settings, which have a table of their own, and below a list of tables
	check   func(text string) string
	outside bool  // a list that is a program of the user's: nothing that the loop's folder brings along
	max     int64 // of a number that is at least 1; 0: any number
}

// formats are what a program can print, the default first.
func formats() []string {
	names := []string{string(decode.FormatText)}
	for _, f := range decode.Formats() {
		if f != decode.FormatText {
			names = append(names, string(f))
		}
	}
	return names
}

// table is what a file may have, parents before children.
type table []Key

// keys is the table of ralph.toml. To make it takes a twentieth of a start, and not each start reads it.
var keys = sync.OnceValue(func() table { return placed(base) })

// base are the keys but for those of settings.
var base = []Key{
	{Path: path("backend"), Type: Backend, Yields: settings.ToUsers, Default: `"auto"`, put: to(func(s *Settings) any { return &s.Backend }),
		Doc: "The agent that runs the loop. `auto` takes the first one that is installed."},
	{Path: path("prompt_file"), Type: Text, Yields: settings.Never, Default: `"PROMPT.md"`, check: checkPresent,
		put: to(func(s *Settings) any { return &s.PromptFile }),
		Doc: "The file with the prompt, relative to the folder, when a start doesn't bring one."},

	{Path: path("limits"), Type: Table, Doc: "When a loop ends although the agent didn't promise that it is done."},
	{Path: path("budget"), Type: Table, Doc: "What all your loops may spend together."},
	{Path: path("budget.per_day"), Type: Dollars, Yields: settings.Users, Default: "0", Samples: []string{"20.0"},
		Zero: "no limit", put: to(func(s *Settings) any { return &s.Budget.PerDay }),
		Doc: "What all your loops on this machine may spend in a day, in US dollars. A loop pauses when it is used, and none starts."},
	{Path: path("budget.per_week"), Type: Dollars, Yields: settings.Users, Default: "0", Samples: []string{"80.0"},
		Zero: "no limit", put: to(func(s *Settings) any { return &s.Budget.PerWeek }),
		Doc: "The same for a week, which begins on Monday."},
	{Path: path("iteration"), Type: Table, Doc: "What one iteration is made of."},
	{Path: path("iteration.steps"), Type: Tables, Yields: settings.Demands,
		Samples: []string{`[{ agent = "scout", task = "Find what this needs: {prompt}" }, { agent = "worker", task = ` +
			`"{previous}" }]`}, put: setSteps,
		Doc: "The agents that work one after the other in each iteration, by the names of their markdown files. A step has one " +
			"`agent`, or several that work side by side: `parallel`."},
	{Path: path("iteration.steps.agent"), Type: Text, Yields: settings.Demands, check: checkPresent,
		Doc: "The agent's name, as its markdown file says it."},
	{Path: path("iteration.steps.task"), Type: Text, Yields: settings.Demands, Samples: []string{`"{previous}"`}, check: checkPresent,
		Doc: "What the agent is asked. `{prompt}` stands for the prompt, `{previous}` for the last message of the step before. " +
			"Without it: the prompt, and what the step before came to."},
	{Path: path("iteration.steps.parallel"), Type: Tables, Yields: settings.Demands,
		Samples: []string{`[{ agent = "planner" }, { agent = "critic" }]`},
		Doc:     "Up to 8 agents that work side by side. They only read, except those with `write = true`."},
	{Path: path("iteration.steps.parallel.agent"), Type: Text, Yields: settings.Demands, check: checkPresent, Doc: "As in a step."},
	{Path: path("iteration.steps.parallel.task"), Type: Text, Yields: settings.Demands, Samples: []string{`"{previous}"`},
		check: checkPresent, Doc: "As in a step."},
	{Path: path("iteration.steps.parallel.write"), Type: Switch, Yields: settings.Demands, Default: "false",
		Doc: "Whether this agent may change files although others work beside it."},
	{Path: path("iteration.parallel_at_once"), Type: Count, Yields: settings.Always, Default: "4", max: limits.MaxAgents,
		put: to(func(s *Settings) any { return &s.AtOnce }),
		Doc: "How many agents of a step work at the same time, 1 to 8."},

	{Path: path("fallback"), Type: Tables, Yields: settings.Demands,
		Samples: []string{`[{ backend = "claude", model = "haiku", on = ["rate_limit", "quota"] }]`}, put: setFallbacks,
		Doc: "Agents that work while the loop's own is limited, the first that can. The loop's own works again once its limit " +
			"is over. Hats, steps and a reviewer with an agent of their own keep it."},
	{Path: path("fallback.backend"), Type: Backend, Yields: settings.Demands,
		Doc: "Which agent. One that isn't installed is left out, and told."},
	{Path: path("fallback.model"), Type: Text, Yields: settings.Demands, Samples: []string{`"haiku"`}, check: checkPresent,
		Doc: "Its model. Without it: as the agent chooses."},
	{Path: path("fallback.on"), Type: Texts, Yields: settings.Demands, Values: settings.Reliefs(),
		Default: `["rate_limit", "overloaded", "quota", "network"]`,
		Doc: "What it stands in for: a rate limit, an overloaded provider, a used-up quota (a window of a subscription, an " +
			"account's credits, or a limit of over an hour), a provider that can't be reached."},

	{Path: path("completion"), Type: Table, Doc: "How the agent says that it is done."},
	{Path: path("completion.required_topics"), Type: Texts, Yields: settings.Always, Samples: []string{`["build.done"]`},
		check: hats.CheckTopic, put: to(func(s *Settings) any { return &s.Required }),
		Doc: "Topics that hats have to publish before a promise counts."},

	{Path: path("verify"), Type: Table, Doc: "What has to pass before the agent's promise counts."},
	{Path: path("verify.command"), Type: Command, Yields: settings.Demands,
		Samples: []string{`["go", "test", "./..."]`, `"npm test && npm run lint"`}, put: setCommand,
		Doc: "The command that has to succeed, in the loop's folder: a program with its arguments, or a text that the shell runs."},
	{Path: path("verify.when"), Type: Text, Yields: settings.Always, Default: `"promise"`,
		Values: []string{string(verify.OnPromise), string(verify.OnEach)}, put: to(func(s *Settings) any { return &s.Verify.When }),
		Doc: "Which iterations are checked: those that promise, or each of them."},
	{Path: path("verify.timeout"), Type: Duration, Yields: settings.Always, Default: `"10m"`,
		Samples: []string{`"10m"`, `"1h"`}, Zero: "no limit", put: to(func(s *Settings) any { return &s.Verify.Timeout }),
		Doc: "How long the command may take; then the result is unknown, and the loop pauses."},
	{Path: path("verify.max_failures"), Type: Count, Yields: settings.Always, Default: "5", Zero: "no limit",
		put: to(func(s *Settings) any { return &s.Verify.MaxFailures }),
		Doc: "How many promises in a row may be refuted before the loop ends as `unverified`."},
	{Path: path("verify.protect"), Type: Texts, Yields: settings.Always, Default: "[]", Samples: []string{`["**/*_test.go"]`},
		check: verify.CheckPattern, put: to(func(s *Settings) any { return &s.Verify.Protect }),
		Doc: "Patterns of files, relative to the folder. When the loop changed one, its promise waits until you accept it."},
	{Path: path("verify.diagnostics"), Type: Text, Yields: settings.Always, Default: `"off"`,
		Values: []string{verify.DiagnosticsOff, verify.DiagnosticsNoNew}, put: to(func(s *Settings) any { return &s.Verify.Diagnostics }),
		Doc: "Whether an editor that is attached must show no errors that weren't there before the loop."},
	{Path: path("verify.reviewer"), Type: Text, Yields: settings.Demands, check: checkPresent,
		put: to(func(s *Settings) any { return &s.Verify.Reviewer }),
		Doc: "A hat that looks at the loop's work when all other checks have passed, and may refute it."},

	{Path: path("loop"), Type: Table, Doc: "What becomes of loops."},
	{Path: path("sandbox"), Type: Table, Doc: "Walls around the agent and all that it starts."},
	{Path: path("sandbox.engine"), Type: Text, Yields: settings.Always, Default: `"auto"`,
		Values: []string{Auto, sandbox.Bubblewrap, sandbox.Runtime}, put: setEngine,
		Doc: "What makes the walls. `auto`: `bubblewrap` on Linux, `sandbox-runtime` elsewhere and where `hosts` are listed."},
	{Path: path("sandbox.network"), Type: Text, Yields: settings.ToStricter, Default: `"on"`, Values: []string{"on", "off"},
		put: to(func(s *Settings) any { return &s.Sandbox.Network }),
		Doc: "Whether agents reach the network. Most need it for their model."},
	{Path: path("sandbox.verify_network"), Type: Text, Yields: settings.ToStricter, Default: `"off"`,
		Values: []string{"on", "off"}, put: to(func(s *Settings) any { return &s.Sandbox.VerifyNetwork }),
		Doc: "Whether the command that verifies a promise does."},
	{Path: path("sandbox.write"), Type: Texts, Adds: true, Yields: settings.Always, Default: "[]",
		Samples: []string{`["~/.cache/go-build"]`}, check: checkWallPath, put: to(func(s *Settings) any { return &s.Sandbox.Write }),
		Doc: "More files and folders that may be written: absolute, below `~`, or relative to the folder."},
	{Path: path("sandbox.read"), Type: Texts, Adds: true, Yields: settings.Always, Default: "[]",
		Samples: []string{`["~/.config/sops"]`}, check: checkWallPath, put: to(func(s *Settings) any { return &s.Sandbox.Read }),
		Doc: "Files and folders of your home that may be read besides what programs need (`ralph-lsp sandbox` lists it): " +
			"absolute, below `~`, or relative to the folder."},
	{Path: path("sandbox.hide"), Type: Texts, Yields: settings.Never, Adds: true, Default: "[]",
		Samples: []string{`["~/secrets"]`, `[".env"]`}, check: checkWallPath, put: to(func(s *Settings) any { return &s.Sandbox.Hide }),
		Doc: "Files and folders that don't exist inside, besides your home: absolute, below `~`, or relative to the folder."},
	{Path: path("sandbox.protect"), Type: Texts, Yields: settings.Never, Adds: true, Default: "[]",
		Samples: []string{`["deploy/*.pem"]`}, check: verify.CheckPattern, put: to(func(s *Settings) any { return &s.Sandbox.Protect }),
		Doc: "Patterns of files in the folder that may be read only, besides git's hooks and configuration, `ralph.toml` and the state file."},
	{Path: path("sandbox.hosts"), Type: Texts, Adds: true, Yields: settings.Always, Default: "[]",
		Samples: []string{`["api.anthropic.com"]`, `["*.npmjs.org"]`}, check: checkHost,
		put: to(func(s *Settings) any { return &s.Sandbox.Hosts }),
		Doc: "The hosts that agents may reach (`sandbox-runtime` only). Without any: all hosts."},
	{Path: path("sandbox.env"), Type: Texts, Adds: true, Yields: settings.Always, Default: "[]",
		Samples: []string{`["GOPRIVATE"]`}, check: checkVariable, put: to(func(s *Settings) any { return &s.Sandbox.Env }),
		Doc: "Variables of the environment that pass besides the usual ones and those that the agent needs; a `*` at the end " +
			"stands for any rest."},
	{Path: path("sandbox.processes"), Type: Count, Yields: settings.Always, Default: "0",
		Zero: "4096, and 128 more for each processor", Samples: []string{"500"}, put: to(func(s *Settings) any { return &s.Sandbox.Processes }),
		Doc: "How many processes and threads a run may have at once. Bubblewrap only; for root, only where cgroup v2 is available."},
	{Path: path("sandbox.memory_mb"), Type: Count, Yields: settings.Always, Default: "0",
		Zero: "80 % of the machine's, where cgroup v2 is available", Samples: []string{"8000"},
		put: to(func(s *Settings) any { return &s.Sandbox.MemoryMB }),
		Doc: "How much memory a run may take: all its processes together, or each of them where there is no cgroup v2. Bubblewrap only."},

	{Path: path("history"), Type: Table, Doc: "How loops are kept, as sessions that pi can open."},
	{Path: path("history.enabled"), Type: Switch, Yields: settings.Always, Default: "true",
		put: to(func(s *Settings) any { return &s.History.Enabled }),
		Doc: "Whether loops are kept."},
	{Path: path("history.folder"), Type: Text, Yields: settings.Demands, check: checkPresent, put: setHistoryFolder,
		Doc: "The folder of the sessions, relative to the loop's (for one in a worktree, to the folder it was started in), instead of pi's own."},
	{Path: path("history.keep"), Type: Duration, Yields: settings.Users, Default: `"90d"`, Zero: "for ever",
		put: to(func(s *Settings) any { return &s.History.Keep }),
		Doc: "How long a loop's history is kept after its last line. Pi's own sessions stay, and those that you continued in pi."},
	{Path: path("history.max_gb"), Type: Count, Yields: settings.Users, Default: "20", Samples: []string{"5"},
		Zero: "no limit", put: to(func(s *Settings) any { return &s.History.MaxGB }),
		Doc: "How much is kept of all loops together, in gigabytes. The oldest are removed first."},

	{Path: path("changes"), Type: Table, Doc: "Snapshots of the folder, which show and undo what a loop changed."},
	{Path: path("changes.keep"), Type: Duration, Yields: settings.Always, Default: `"30d"`, Zero: "none are made",
		put: to(func(s *Settings) any { return &s.Changes.Keep }),
		Doc: "How long the snapshots of a loop are kept after its last change."},
	{Path: path("changes.max_file_mb"), Type: Count, Yields: settings.Always, Default: "50", Samples: []string{"50", "500"},
		Zero: "no limit", put: to(func(s *Settings) any { return &s.Changes.MaxFileMB }),
		Doc: "How large a file may be, in megabytes. A larger one isn't kept."},
	{Path: path("changes.max_mb"), Type: Count, Yields: settings.Users, Default: "1000", Samples: []string{"1000", "5000"}, Zero: "no limit",
		put: to(func(s *Settings) any { return &s.Changes.MaxMB }),
		Doc: "How much is kept of one loop, in megabytes. Of a large file that changes again and again, the first versions and the last are."},

	{Path: path("worktree"), Type: Table, Doc: "Git worktrees that loops work in, for starts with `--worktree`."},
	{Path: path("worktree.place"), Type: Text, Yields: settings.Always, Default: strconv.Quote(worktree.DefaultPlace),
		Samples: []string{`"../{repo}.worktrees"`}, check: checkPresent, put: to(func(s *Settings) any { return &s.Worktree.Place }),
		Doc: "The folder for worktrees, relative to the repository; `{repo}` stands for its name."},
	{Path: path("worktree.setup"), Type: Texts, Yields: settings.Demands, Default: "[]", Samples: []string{`["npm ci"]`},
		check: checkPresent, put: to(func(s *Settings) any { return &s.Worktree.Setup }),
		Doc: "Commands that the shell runs in a new worktree before the loop begins. If one fails, the loop doesn't start."},
	{Path: path("worktree.copy"), Type: Texts, Yields: settings.Always, Default: "[]", Samples: []string{`[".env"]`},
		check: worktree.CheckName, put: to(func(s *Settings) any { return &s.Worktree.Copy }),
		Doc: "Files and folders that git ignores and the work needs: a new worktree gets a copy."},
	{Path: path("worktree.link"), Type: Texts, Yields: settings.Always, Default: "[]", Samples: []string{`["node_modules"]`},
		check: worktree.CheckName, put: to(func(s *Settings) any { return &s.Worktree.Link }),
		Doc: "The same, but as links: a change in the worktree changes your folder."},

	{Path: path("land"), Type: Table, Doc: "What follows when a loop's work has landed, by `ralph-lsp land`."},
	{Path: path("land.command"), Type: Texts, Yields: settings.Demands, Default: "[]",
		Samples: []string{`["./open-pr", "{branch}", "{title}", "{body_file}"]`}, check: checkPresent,
		put: to(func(s *Settings) any { return &s.Land }),
		Doc: "A program with its arguments, run in the repository. `{branch}` stands for the branch that has the work now, " +
			"`{title}` for a pull request's title, `{body_file}` for a file with its text."},

	{Path: path("notify"), Type: Table, Doc: "How loops call you when you aren't looking."},
	{Path: path("notify.on"), Type: Texts, Yields: settings.Always, Default: `["end", "failed", "question", "paused"]`,
		Values: settings.NotifyEvents(), put: to(func(s *Settings) any { return &s.Notify.On }),
		Doc: "What you are told: `end` (done, or at a limit), `failed`, `question`, `paused` (not by you), `waiting` (longer " +
			"than a minute). You aren't told what you did yourself."},
	{Path: path("notify.terminal"), Type: Text, Yields: settings.Always, Default: `"auto"`,
		Values: []string{Auto, settings.Off}, put: to(func(s *Settings) any { return &s.Notify.Terminal }),
		Doc: "Whether a loop in a terminal rings its bell after the first 30 seconds, with a notification and a title where " +
			"the terminal knows them."},
	{Path: path("notify.desktop"), Type: Text, Yields: settings.Always, Default: `"off"`, Values: []string{settings.Off, Auto},
		put: to(func(s *Settings) any { return &s.Notify.Desktop }),
		Doc: "Whether a loop in a terminal, or alone, shows a notification on this machine's desktop. A loop of an editor " +
			"leaves that to the editor."},
	{Path: path("notify.command"), Type: Texts, Yields: settings.Demands, Default: "[]",
		Samples: []string{`["notify-send", "{title}", "{text}"]`}, check: checkPresent, outside: true,
		put: to(func(s *Settings) any { return &s.Notify.Command }),
		Doc: "A program with its arguments that tells you: a name in PATH, or an absolute path. It works outside of the loop's " +
			"folder, in `/`. `{title}` and `{text}` stand for the message; standard input has it as JSON, with the `folder`."},
	{Path: path("notify.reply"), Type: Texts, Yields: settings.Users, Default: "[]", Samples: []string{`["ralph-reply"]`},
		check: checkReply, outside: true,
		put: to(func(s *Settings) any { return &s.Notify.Reply }),
		Doc: "A program with its arguments that asks you elsewhere, such as on your phone, and prints your answer. It is " +
			"started with each question, found and run as `notify.command`, and ended when the question is open no more. The " +
			"question is on its standard input alone, as it has an agent's words: its arguments have no `{title}` or `{text}`."},
	{Path: path("notify.webhook"), Type: Text, Yields: settings.Demands, Samples: []string{`"https://ntfy.example.com/ralph"`},
		check: checkWebhook, put: to(func(s *Settings) any { return &s.Notify.Webhook }),
		Doc: "An address that gets the same JSON by POST."},
	{Path: path("notify.include"), Type: Texts, Yields: settings.Always, Default: "[]",
		Values: []string{settings.NotifyReceipt}, put: to(func(s *Settings) any { return &s.Notify.Include }),
		Doc: "What commands and webhooks get in addition. `receipt`: what `ralph-lsp status` says of an end. It has your " +
			"prompt, and may have words of agents and commands."},
	{Path: path("notify.keep_awake"), Type: Switch, Yields: settings.Users, Default: "true",
		put: to(func(s *Settings) any { return &s.Notify.KeepAwake }),
		Doc: "Whether the machine is kept awake while runs are at work, by `systemd-inhibit` on Linux and `caffeinate` on " +
			"macOS. It may sleep while the loop waits."},

	{Path: path("backends"), Type: Table, Doc: "Settings of the known backends, and backends of your own."},
	{Path: path("backends.*"), Type: Table, Doc: "A backend: one of the known ones, or one of your own, which needs a `command`."},
	{Path: path("backends.*.command"), Type: Text, Yields: settings.Demands, check: checkPresent,
		put: toBackend(func(b *BackendSettings) any { return &b.Command }),
		Doc: "The program's name, or its path, relative to the folder of this file."},
	{Path: path("backends.*.args"), Type: Texts, Default: "[]", Yields: settings.Demands, check: CheckArgument,
		put: toBackend(func(b *BackendSettings) any { return &b.Args }),
		Doc: "Arguments of a headless run; a known backend gets them after its own."},
	{Path: path("backends.*.prompt"), Type: Text, Default: `"stdin"`, Yields: settings.Demands,
		Values: []string{"stdin", "arg", "file"}, put: toBackend(func(b *BackendSettings) any { return &b.Prompt }),
		Doc: "How the prompt goes in: on standard input, as the last argument, or in a file that the last argument names."},
	{Path: path("backends.*.output"), Type: Text, Default: `"text"`, Yields: settings.Demands, Values: formats(),
		put: toBackend(func(b *BackendSettings) any { return &b.Output }),
		Doc: "What the program prints: text, or the stream of one of the known agents."},
	{Path: path("backends.*.settings"), Type: Text, Default: `"loop"`, Yields: settings.Demands,
		Values: []string{SettingsLoop, SettingsUser}, put: toBackend(func(b *BackendSettings) any { return &b.Settings }),
		Doc: "Which of claude's own settings count. `loop`: all but hooks (yours, the folder's, those of plugins), which would " +
			"run in each iteration and may keep it from ending. `user`: hooks, too."},
	{Path: path("backends.*.env"), Type: Texts, Default: "[]", Yields: settings.Demands,
		Samples: []string{`["MY_AGENT_UPDATES=off"]`}, check: checkEnv, put: toBackend(func(b *BackendSettings) any { return &b.Env }),
		Doc: "Variables of its environment, `NAME=value`. One that you have set counts before."},
	{Path: path("backends.*.protocol"), Type: Text, Yields: settings.Demands, Values: []string{ProtocolACP},
		put: toBackend(func(b *BackendSettings) any { return &b.Protocol }),
		Doc: "How an agent of your own is spoken to instead of by `prompt` and `output`. `acp`: by the [Agent Client " +
			"Protocol](BACKENDS.md#by-the-agent-client-protocol)."},
	{Path: path("backends.*.mode"), Type: Text, Yields: settings.Demands, Samples: []string{`"acceptEdits"`},
		check: checkPresent, put: toBackend(func(b *BackendSettings) any { return &b.Mode }),
		Doc: "Of an agent of that protocol: which of its modes it is set to before it works. Without one it stays in its own, " +
			"which may ask nobody."},
	{Path: path("backends.*.ask_mode"), Type: Text, Yields: settings.Demands, Samples: []string{`"default"`},
		check: checkPresent, put: toBackend(func(b *BackendSettings) any { return &b.AskMode }),
		Doc: "The same where `permissions` is `ask`."},
	{Path: path("backends.*.cost"), Type: Switch, Default: "false", Yields: settings.Demands,
		put: toBackend(func(b *BackendSettings) any { return &b.Cost }),
		Doc: "Whether an agent of your own of that protocol tells what a run costs."},
	{Path: path("backends.*.interactive_args"), Type: Texts, Default: "[]", Yields: settings.Demands, check: CheckArgument,
		put: toBackend(func(b *BackendSettings) any { return &b.InteractiveArgs }),
		Doc: "Arguments that start the program's own terminal interface; a known backend gets them after its own."},

	{Path: path("hats"), Type: Table, Doc: "Roles: each is a backend with arguments and instructions of its own. One is " +
		"chosen at the start of a loop, or they hand over to each other by topics."},
	{Path: path("hats.*"), Type: Table, Doc: "A role."},
	{Path: path("hats.*.backend"), Type: Backend, Yields: settings.ToUsers, put: toHat(func(h *Hat) any { return &h.Backend }),
		Doc: `The role's backend: its name, or a table with its name and arguments, such as ` +
			"`{ type = \"pi\", args = [\"--model\", \"...\"] }` or `{ command = \"my-agent\" }`."},
	{Path: path("hats.*.backend.type"), Type: Backend, Yields: settings.ToUsers, Doc: "The name of the role's backend.",
		put: toHat(func(h *Hat) any { return &h.Backend })},
	{Path: path("hats.*.backend.args"), Type: Texts, Default: "[]", Yields: settings.Demands, check: CheckArgument,
		put: toHat(func(h *Hat) any { return &h.Args }),
		Doc: "Arguments that the role's backend gets after its own."},
	{Path: path("hats.*.backend.command"), Type: Text, Yields: settings.Demands, check: checkPresent,
		put: toHat(func(h *Hat) any { return &h.Command }),
		Doc: "The role's own program instead of a backend; it reads the prompt on standard input and prints text."},
	{Path: path("hats.*.description"), Type: Text, Yields: settings.ToUsers, Doc: "What the role is for, in a few words.",
		put: toHat(func(h *Hat) any { return &h.Description })},
	{Path: path("hats.*.triggers"), Type: Texts, Default: "[]", Yields: settings.Demands,
		Samples: []string{`["loop.start"]`, `["build.done", "*.error"]`}, check: hats.CheckPattern,
		put: toHat(func(h *Hat) any { return &h.Triggers }),
		Doc: "The topics that wake the role; a `*` stands for one part, at the end for all parts that follow. `loop.start` " +
			"begins a loop. With triggers anywhere, each iteration wears the hat that the oldest topic wakes."},
	{Path: path("hats.*.publishes"), Type: Texts, Default: "[]", Yields: settings.Demands, Samples: []string{`["build.done"]`},
		check: hats.CheckPattern, put: toHat(func(h *Hat) any { return &h.Publishes }),
		Doc: "The topics that an agent in this role may publish, with `<event topic=\"...\">...</event>` in its last message."},
	{Path: path("hats.*.default_publishes"), Type: Text, Yields: settings.Demands, check: hats.CheckTopic,
		put: toHat(func(h *Hat) any { return &h.DefaultPublishes }),
		Doc: "What a run that ended well and published nothing counts as having published."},
	{Path: path("hats.*.instructions"), Type: Text, Yields: settings.Demands, Doc: "What the agent is told of its role.",
		put: toHat(func(h *Hat) any { return &h.Instructions })},
	{Path: path("hats.*.instructions_file"), Type: Text, Yields: settings.Demands, check: checkPresent,
		put: toHat(func(h *Hat) any { return &h.InstructionsFile }),
		Doc: "A file with that instead, relative to the folder of this file."},
	{Path: path("hats.*.max_runs"), Type: Count, Default: "0", Yields: settings.Demands, Zero: "no limit",
		put: toHat(func(h *Hat) any { return &h.MaxRuns }),
		Doc: "How many iterations may wear the hat; then `NAME.exhausted` is published instead of waking it."},
	{Path: path("hats.*.concurrency"), Type: Count, Default: "1", Yields: settings.Demands, max: limits.MaxAgents,
		put: toHat(func(h *Hat) any { return &h.Concurrency }),
		Doc: "How many pending topics of one name the hat works on side by side, each in a run of its own, in one iteration."},
	{Path: path("hats.*.aggregate"), Type: Switch, Default: "false", Yields: settings.Demands,
		put: toHat(func(h *Hat) any { return &h.Aggregate }),
		Doc: "Whether the hat waits until no topic is pending for another hat, and then gets all of its own in one run."},
	{Path: path("hats.*.read_only"), Type: Switch, Default: "false", Yields: settings.Demands,
		put: toHat(func(h *Hat) any { return &h.ReadOnly }),
		Doc: "Whether its runs may only read. The agent gets only tools that read, if it supports that, and any change that a " +
			"run makes is undone."},
	{Path: path("hats.*.timeout"), Type: Duration, Default: `"0"`, Yields: settings.Demands, Samples: []string{`"20m"`},
		Zero: "no limit", put: toHat(func(h *Hat) any { return &h.Timeout }),
		Doc: "How long one run may take. It is ended then, counts as a failure, and the hat goes on."},
	{Path: path("hats.*.may_finish"), Type: Switch, Yields: settings.Demands, put: toHat(func(h *Hat) any { return &h.MayFinish }),
		Doc: "Whether the agent's promise ends the loop. If no hat says `true`, every hat without `false` may."},
}

// placed is a table with the keys of settings in it: behind their tables, those of the top behind the first key.
func placed(base []Key) (all table) {
	for i, key := range base {
		all = append(all, key)
		switch {
		case i == 0:
			all = append(all, settingKeys("")...)
		case key.Type == Table:
			all = append(all, settingKeys(strings.Join(key.Path, "."))...)
		}
	}
	return all
}

// checks are of the texts of settings that aren't all fit.
var checks = map[string]func(string) string{"completion.promise": promises.CheckPromise}

// settingKeys are the keys of settings right below a table; "" is none.
func settingKeys(table string) []Key {
	var keys []Key
	for _, s := range settings.All() {
		key := Key{Path: path(s.Key), Type: Type(s.Kind()), Values: s.Values, Yields: s.Yields, Zero: s.Zero, Doc: s.Doc,
			Default: s.Literal(s.Default), check: checks[s.Key]}
		if strings.Join(key.Path[:len(key.Path)-1], ".") != table {
			continue
		}
		for _, sample := range s.Samples {
			key.Samples = append(key.Samples, s.Literal(sample))
		}
		keys = append(keys, key)
	}
	return keys
}

func path(dotted string) []string { return strings.Split(dotted, ".") }

// Keys returns the table of all keys, parents before children.
func Keys() []Key { return slices.Clone(keys()) }

// Lookup returns the key with a path as it stands in a file.
func Lookup(path ...string) (Key, bool) { return keys().lookup(path...) }

func (t table) lookup(path ...string) (Key, bool) {
	i := slices.IndexFunc(t, func(k Key) bool { return len(k.Path) == len(path) && k.under(path) })
	if i < 0 {
		return Key{}, false
	}
	return t[i], true
}

// Children returns the keys right below a table.
func Children(table ...string) []Key { return keys().children(table...) }

func (t table) children(above ...string) []Key {
	var children []Key
	for _, k := range t {
		if len(k.Path) == len(above)+1 && k.under(above) {
			children = append(children, k)
		}
	}
	return children
}

// under says whether the key's path begins with a path of a file.
func (k Key) under(path []string) bool {
	for i, name := range path {
		if k.Path[i] != name && k.Path[i] != Any {
			return false
		}
	}
	return true
}

// Name is the last part of the key's path.
func (k Key) Name() string { return k.Path[len(k.Path)-1] }
