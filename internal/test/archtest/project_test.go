package archtest

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// picture lists, for each package, the packages that it may import; ARCHITECTURE.md draws it.
var picture = Rules{
	Module: "github.com/ralph-lsp/ralph-lsp",
	Arrows: map[string][]string{
		// The internal packages that serve the program.
		"internal/control":          {"internal/accept", "internal/regular"},
		"internal/accept":           {},
		"internal/apart":            {},
		"cmd/internal/window":       {"internal/caller", "loop/ask", "keeper/door", "loopstate", "stream", "internal/paths", "internal/control", "loopstate/journal", "internal/terminal", "internal/settings", "keeper/client", "loop", "loop/engine/setup", "wire"},
		"internal/caller":           {"backends/reaper"},
		"internal/cli":              {"internal/tell", "loop/start"},
		"cmd/internal/clean":        {"internal/cli", "workspace/changes", "config", "loop", "loopstate/registry", "stream", "workspace/worktree", "internal/filelock", "internal/limits", "internal/paths", "internal/tell"},
		"cmd/internal/demo":         {"stream", "stream/decode"},
		"internal/terminal":         {"internal/notify", "backends", "loopstate/journal", "loop", "loop/ask", "stream", "stream/decode", "loop/verify", "wire", "wire/answers", "internal/paths", "internal/tell", "workspace/changes"},
		"cmd/internal/top":          {"workspace/changes", "service", "cmd/internal/window", "keeper/client", "internal/cli", "internal/terminal", "loopstate/journal", "loop", "loop/ask", "stream", "wire", "wire/answers", "internal/limits"},
		"internal/emit":             {"internal/cli", "backends", "loop/hats", "stream"},
		"cmd/internal/orchestrator": {"config", "loop/hats", "internal/tell", "stream", "stream/promises"},
		"cmd/internal/note":         {"internal/cli", "backends", "config", "internal/notes", "loop", "stream"},
		"internal/account":          {},
		"internal/awake":            {"internal/outside"},
		"internal/budget":           {"internal/filelock", "internal/paths", "internal/tell"},
		"internal/filelock":         {"internal/regular"},
		"internal/git":              {"internal/regular", "internal/lazy", "internal/outside"},
		"internal/jsoncursor":       {},
		"internal/lazy":             {},
		"internal/notes":            {"internal/filelock", "internal/paths"},
		"internal/limited":          {"internal/paths"},
		"internal/limits":           {"internal/tell"},
		"internal/settings":         {"internal/limits", "internal/tell"},
		"internal/outside":          {},
		"internal/paths":            {"internal/regular"},
		"internal/regular":          {},
		"internal/tell":             {"internal/lazy"},

		"stream":                   {"internal/jsoncursor", "internal/lazy", "internal/tell"},
		"stream/lines":             {},
		"stream/decode":            {"stream", "internal/tell", "stream/lines", "stream/promises", "internal/jsoncursor", "internal/lazy"},
		"stream/promises":          {"stream", "internal/lazy"},
		"loopstate":                {"loopstate/registry", "internal/regular", "loop/plan", "backends/reaper", "loop/hats", "stream", "internal/account", "internal/filelock", "internal/limits", "internal/settings", "internal/paths", "internal/tell"},
		"workspace/changes/atwork": {"internal/regular"},
		"workspace/changes/survey": {"internal/tell"},
		"workspace/changes/stamp":  {"internal/regular"},
		"workspace/changes":        {"workspace/changes/atwork", "workspace/changes/stamp", "workspace/changes/survey", "internal/regular", "internal/filelock", "internal/git", "internal/paths", "internal/tell"},
		"workspace/worktree":       {"internal/regular", "internal/filelock", "internal/git", "internal/paths", "internal/tell"},
		"loop/verify":              {"internal/regular", "internal/lazy", "stream", "internal/paths", "internal/tell"},
		"loop/plan":                {"internal/lazy"},
		"loop/hats":                {"internal/regular", "stream", "internal/paths", "internal/tell"},
		"loop/agents":              {"internal/regular", "stream", "backends", "internal/paths", "internal/tell"},
		"config":                   {"internal/regular", "internal/budget", "internal/caller", "internal/lazy", "workspace/worktree", "stream", "loop/verify", "loop/hats", "sandbox", "internal/limits", "internal/settings", "internal/paths", "internal/tell", "stream/decode", "stream/promises"},
		"sandbox/inside":           {},
		"sandbox":                  {"internal/regular", "internal/outside", "internal/lazy", "sandbox/inside", "loop/verify", "internal/git", "internal/paths"},
		"backends/acp":             {"stream"},
		"backends":                 {"internal/regular", "internal/outside", "stream", "backends/acp", "backends/reaper", "sandbox", "internal/caller", "internal/paths", "internal/tell", "stream/decode", "stream/promises"},
		"backends/reaper":          {},
		"history":                  {"internal/regular", "internal/lazy", "stream", "internal/jsoncursor", "internal/paths", "internal/tell", "stream/decode", "stream/lines"},
		"loopstate/registry":       {"internal/filelock", "internal/paths"},
		"loop/ask":                 {"internal/regular", "backends", "stream", "internal/paths", "internal/tell"},
		"loop":                     {"loop/plan", "loop/hats", "internal/account", "loop/ask", "internal/caller", "internal/control", "workspace/worktree", "workspace/changes", "internal/paths", "stream", "backends", "sandbox", "loopstate", "history", "loopstate/registry", "loop/verify", "internal/limits", "internal/tell", "stream/promises"},
		"loop/engine/tooluse":      {"internal/lazy", "stream"},
		"loop/engine/stagnation":   {"workspace/changes", "internal/lazy", "internal/tell", "loop", "loop/engine/judge", "loop/engine/tooluse", "loopstate", "stream"},
		"loop/engine/inbox":        {"stream"},
		"loop/engine/fallback":     {"internal/tell", "internal/settings", "loop", "loop/engine/judge", "loop/engine/setup", "stream"},
		"loop/engine/goal":         {"internal/tell", "loop", "loop/engine/judge", "loop/engine/rules", "loop/engine/setup", "loopstate", "stream", "stream/promises", "loop/verify"},
		"loop/engine/rules":        {"loop", "loop/plan", "stream", "stream/promises", "loop/verify"},
		"loop/engine/setup":        {"internal/control", "internal/regular", "internal/limited", "internal/notes", "loop/plan", "backends", "workspace/changes", "loop/hats", "history", "internal/budget", "internal/limits", "internal/paths", "internal/settings", "internal/tell", "loop", "loop/engine/rules", "loopstate", "sandbox", "stream", "stream/decode", "stream/promises", "loop/verify"},
		"loop/engine/snapshots":    {"backends", "workspace/changes", "workspace/changes/survey", "config", "loop/hats", "internal/paths", "internal/tell", "loop", "loop/engine/tooluse", "loop/engine/setup", "loopstate", "stream", "stream/decode", "loop/verify", "workspace/worktree"},
		"loop/engine/judge":        {"backends", "loop/hats", "loop", "loopstate", "stream", "stream/decode", "stream/promises", "loop/verify"},
		"loop/engine/steering":     {"loop", "loop/engine/rules", "loopstate", "stream", "stream/promises"},
		"loop/engine/sentry":       {"internal/git", "internal/tell"},
		"loop/engine/verification": {"backends", "loop", "loop/engine/judge", "loop/engine/setup", "loop/engine/snapshots", "loopstate", "stream", "stream/decode", "stream/promises", "loop/verify"},
		"loop/engine/progress":     {"loop/plan", "backends", "history", "loop/hats", "internal/account", "internal/budget", "internal/limits", "internal/tell", "loop", "loop/ask", "loop/engine/tooluse", "loop/engine/steering", "loop/engine/judge", "loop/engine/verification", "loop/engine/setup", "loopstate", "stream"},
		"loop/engine/executor":     {"internal/tell", "backends", "loop", "loop/ask", "loop/engine/tooluse", "loop/engine/steering", "loop/engine/inbox", "loop/engine/judge", "loop/engine/progress", "loop/engine/sentry", "loop/engine/setup", "loop/engine/snapshots", "stream", "stream/promises"},
		"loop/engine/tasks":        {"internal/regular", "internal/tell", "workspace/changes", "loop/hats", "internal/paths", "loop", "loop/engine/judge", "loop/engine/rules", "loop/engine/setup", "loop/engine/snapshots", "loop/engine/verification", "loop/plan", "stream", "stream/promises", "loop/verify", "workspace/worktree"},
		"loop/engine/presence":     {"internal/control", "internal/paths", "loop", "loop/engine/progress", "loop/engine/setup", "loopstate", "loopstate/registry"},
		"loop/engine":              {"loop/engine/presence", "loop/engine/inbox", "loop/engine/tasks", "loop/engine/executor", "loop/engine/progress", "loop/engine/verification", "loop/engine/sentry", "loop/engine/steering", "loop/engine/judge", "loop/engine/snapshots", "loop/engine/setup", "loop/engine/stagnation", "loop/engine/goal", "loop/engine/tooluse", "loop/engine/fallback", "loop/engine/rules", "internal/budget", "loop", "loop/ask", "internal/caller", "internal/control", "workspace/worktree", "workspace/changes", "loop/hats", "internal/paths", "stream", "backends", "sandbox", "loopstate", "history", "loopstate/registry", "loop/verify", "internal/limits", "internal/settings", "internal/tell", "stream/decode", "stream/promises"},
		"loop/start":               {"internal/regular", "internal/limited", "internal/outside", "loop/plan", "loop/engine/setup", "internal/lazy", "internal/budget", "backends/acp", "history", "workspace/worktree", "loop/agents", "sandbox", "workspace/changes", "loop/hats", "loop", "loop/verify", "backends", "stream", "loopstate", "config", "internal/limits", "internal/settings", "internal/tell", "stream/decode", "stream/promises"},
		"wire":                     {"loop/engine/setup", "internal/account", "loop/ask", "workspace/worktree", "sandbox", "workspace/changes", "loop/verify", "loop", "loop/start", "stream", "backends", "history", "config", "internal/limits", "internal/settings", "internal/tell", "stream/promises"},
		"wire/answers":             {"loop/engine/setup", "backends", "workspace/changes", "config", "history", "internal/limits", "internal/settings", "internal/tell", "loop", "loop/ask", "loop/start", "sandbox", "stream", "stream/promises", "loop/verify", "wire", "workspace/worktree"},
		"loopstate/journal":        {"loopstate/registry", "loop/engine/setup", "wire", "loop/verify", "loop", "history", "stream", "internal/filelock", "internal/paths", "internal/tell", "stream/lines"},
		"keeper/client":            {"loop/verify", "internal/control", "internal/apart", "internal/caller", "internal/paths", "loopstate/journal", "loop", "loop/ask", "stream", "wire"},
		"keeper/door":              {"internal/limits", "loop/verify", "internal/paths", "stream", "internal/caller", "internal/control", "loopstate/journal", "keeper/client", "loop"},
		"keeper":                   {"loopstate/registry", "keeper/door", "workspace/changes", "history", "internal/limits", "internal/paths", "stream", "stream/decode", "internal/settings", "loopstate/journal", "keeper/client", "loop", "loop/engine", "loop/engine/presence", "loop/engine/setup", "loop/start", "internal/notify"},
		"internal/notify":          {"internal/outside", "internal/tell", "loop/ask", "wire/answers", "loop/engine/setup", "internal/awake", "wire", "loop", "backends", "stream", "internal/paths", "internal/settings"},
		"service":                  {"loop/agents", "backends", "workspace/changes", "config", "history", "internal/caller", "internal/limits", "internal/paths", "internal/settings", "internal/tell", "loopstate/journal", "keeper/client", "loop", "loop/ask", "loop/engine/setup", "loop/start", "loopstate", "loopstate/registry", "sandbox", "stream", "stream/decode", "stream/promises", "loop/verify", "wire", "wire/answers", "workspace/worktree"},
		"server/rpc":               {"internal/lazy", "stream"},
		"server/client":            {"wire"},
		"server/feed":              {"backends", "workspace/changes", "loopstate/journal", "server/client", "wire", "loop", "stream", "stream/decode"},
		"server/documents":         {"loop/agents", "internal/lazy", "loop/plan", "server/client", "server/rpc", "wire", "wire/answers", "loop", "loop/start", "stream", "backends", "loopstate", "config", "internal/limits", "internal/settings", "internal/paths", "stream/promises"},
		"server/turns":             {},
		"server/refusal":           {"service", "server/rpc", "wire"},
		"server/findings":          {"internal/paths", "server/client", "server/documents", "stream", "loop/verify", "wire"},
		"server/transcript":        {"loopstate/journal", "internal/tell", "server/client", "service", "stream", "wire"},
		"server/session":           {"server/transcript", "backends", "config", "server/client", "server/feed", "server/findings", "server/rpc", "server/turns", "stream", "wire", "wire/answers"},
		"server/permission":        {"loop", "loop/ask", "server/refusal", "server/rpc", "server/session", "wire"},
		"server/folders":           {"service", "keeper/client", "internal/caller", "workspace/changes", "internal/paths", "loopstate/journal", "loop", "loopstate", "server/feed", "server/permission", "server/session", "wire", "wire/answers", "workspace/worktree"},
		"server/remote":            {"loopstate/journal", "loop", "service", "server/feed", "server/folders", "server/permission", "server/session", "wire"},
		"server/stdio":             {"backends", "internal/regular", "server", "service"},
		"server":                   {"server/transcript", "internal/control", "keeper/client", "keeper", "backends/reaper", "server/remote", "server/folders", "server/permission", "service", "server/session", "server/findings", "server/refusal", "server/turns", "loop/engine/setup", "loop/ask", "internal/caller", "workspace/worktree", "loopstate/journal", "loop/verify", "server/rpc", "server/client", "server/documents", "server/feed", "wire", "wire/answers", "loop", "loop/start", "stream", "backends", "workspace/changes", "loopstate", "config", "internal/limits", "internal/settings", "internal/paths"},
		"server/acp/rpc":           {},
		"service/chat":             {"loopstate/journal", "loop", "loop/ask", "loop/start", "service", "wire", "wire/answers"},
		"server/acp":               {"server/acp/rpc", "service", "service/chat", "loop", "loop/ask", "loop/verify", "wire", "wire/answers"},
		"server/mcp":               {"server/acp/rpc", "wire", "wire/answers"},
		"server/ahp/websocket":     {},
		"server/ahp":               {"internal/accept", "service/chat", "loop", "loop/ask", "server/acp/rpc", "server/ahp/websocket", "wire", "wire/answers"},
		"cmd/ralph-lsp":            {"service", "keeper/door", "internal/regular", "loop/plan", "cmd/internal/note", "cmd/internal/orchestrator", "server/mcp", "loop/engine/setup", "server/acp", "server/ahp", "loop/ask", "loopstate/registry", "internal/caller", "cmd/internal/clean", "internal/cli", "cmd/internal/demo", "internal/emit", "internal/terminal", "cmd/internal/top", "cmd/internal/window", "keeper", "keeper/client", "internal/notify", "workspace/worktree", "internal/paths", "loop/agents", "workspace/changes", "loop/hats", "server/stdio", "loopstate/journal", "wire", "wire/answers", "loop", "loop/start", "stream", "backends", "sandbox", "loopstate", "history", "config", "internal/limits", "internal/tell", "stream/decode"},
		"fleet/livelog":            {},
		"fleet/ledger":             {"internal/tell"},
		"fleet/child":              {"internal/outside", "loop", "wire"},
		"fleet":                    {"backends", "internal/regular", "internal/outside", "fleet/child", "fleet/ledger", "fleet/livelog", "workspace/changes/stamp", "sandbox", "internal/caller", "loop/ask", "config", "wire", "loop", "loop/start", "stream", "internal/limits", "loopstate", "internal/git", "internal/filelock", "internal/paths", "internal/tell"},
		"fleet/client":             {"internal/regular", "loop/ask", "fleet", "fleet/livelog", "workspace/changes", "loopstate/journal", "loop", "service", "stream", "wire", "wire/answers", "internal/git", "internal/paths", "internal/tell"},
		"fleet/natsbus":            {"internal/regular", "fleet", "fleet/ledger", "fleet/livelog", "internal/filelock", "internal/paths", "internal/tell"},
		"fleet/metrics":            {"fleet", "fleet/ledger"},
		"fleet/submitter":          {"fleet", "fleet/ledger", "fleet/livelog", "internal/tell"},
		"fleet/cmd/ralph-fleet":    {"keeper/client", "keeper", "internal/outside", "sandbox", "workspace/worktree", "backends", "internal/notify", "loop/ask", "internal/caller", "fleet", "fleet/client", "fleet/ledger", "fleet/natsbus", "fleet/livelog", "fleet/metrics", "fleet/submitter", "service", "server/stdio", "internal/cli", "internal/emit", "internal/terminal", "loopstate/journal", "config", "loop/start", "stream", "stream/decode", "wire", "wire/answers", "internal/git", "internal/limits", "internal/paths", "internal/tell", "loop"},
		"fleet/e2e":                {"fleet", "fleet/natsbus", "wire", "internal/..."},
		"e2e/...":                  {"internal/..."},
		"internal/test/clienttest": {"loopstate/journal", "server/client", "wire"},
		"internal/test/looptest":   {"loopstate/journal", "loop", "loop/ask", "service", "wire", "wire/answers"},
		"internal/test/reads":      {"loop/agents", "workspace/changes", "config", "history", "loop/ask", "loop/engine/setup", "loop/start", "loopstate", "loop/plan", "sandbox", "stream", "loop/verify", "workspace/worktree"},
		"internal/test/walltest":   {"sandbox"},
		"fleet/internal/handles":   {"loop/engine/setup", "fleet", "fleet/natsbus", "loop/engine", "loop/engine/presence", "loop", "loop/ask", "loopstate", "backends", "history", "stream", "stream/decode", "wire"},
		"internal/...":             {"internal/..."},
	},
	Fenced: map[string][]string{
		"go.lsp.dev/":                  {"server", "server/rpc", "server/documents", "server/findings"},
		"github.com/creack/pty":        {"backends", "cmd/ralph-lsp"},
		"github.com/fsnotify/fsnotify": {"loopstate"},
		"github.com/BurntSushi/toml":   {"config"},
		"github.com/go-json-exp":       {"fleet", "fleet/ledger", "internal/jsoncursor", "loopstate/journal", "loop/ask", "loop/engine/setup", "wire/answers"},
		"github.com/spf13/":            {"cmd/internal/clean", "internal/cli", "internal/emit", "cmd/internal/note", "cmd/internal/top", "server/stdio", "cmd/ralph-lsp", "fleet/cmd/ralph-fleet", "loop/start"},
		"github.com/nats-io/":          {"fleet/natsbus", "fleet/e2e"},
		"github.com/prometheus/":       {"fleet/metrics"},
	},
}

// Limits of a function and of a file, in lines, and of a line, in characters.
const (
	maxFunction = 80
	maxFile     = 500
	maxLine     = 140
)

// bars are what each room is to come below. Whoever makes one of the excused smaller lowers its
// number; lines are rounded up to hundreds.
var bars = Bars{Methods: 40, Fields: 30, Lines: 4000}

const root = "../../.."

func TestArrows(t *testing.T) {
	problems, err := Imports(os.DirFS(root), picture)
	report(t, problems, err)
}

// Who asks encodes: the service says things in Go.
func TestTheServiceKnowsNoEncoding(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "service", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the service has no files: %v", err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if strings.Contains(i.Path.Value, "json") {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
	}
}

func TestEveryArrowIsUsed(t *testing.T) {
	problems, err := Unused(os.DirFS(root), picture)
	report(t, problems, err)
}

func TestFunctionsAreShort(t *testing.T) {
	problems, err := LongFunctions(os.DirFS(root), maxFunction)
	report(t, problems, err)
}

func TestNothingGetsTooHeavy(t *testing.T) {
	problems, err := TooHeavy(os.DirFS(root), bars)
	report(t, problems, err)
}

func TestFilesAreShort(t *testing.T) {
	problems, err := LongFiles(os.DirFS(root), maxFile)
	report(t, problems, err)
}

func TestLinesAreShort(t *testing.T) {
	problems, err := WideLines(os.DirFS(root), maxLine)
	report(t, problems, err)
}

// The patterns are put together from parts, or this file would match them.
func TestNoPathsOfOneMachine(t *testing.T) {
	unwanted := map[*regexp.Regexp]string{
		regexp.MustCompile(`\.\./` + `shared\b`):                     "a path outside the repository",
		regexp.MustCompile(`https?://[^/"\s]*` + `registry[^/"\s]*`): "which registry is used is the user's setting",
	}
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(filepath.ToSlash(checkout), "/") > 1 { // a short path may be an ordinary word
		unwanted[regexp.MustCompile(regexp.QuoteMeta(checkout)+`\b`)] = "the path of this checkout"
	}
	problems, err := Words(os.DirFS(root), unwanted)
	report(t, problems, err)
}

// A git that is run elsewhere runs what a repository says.
func TestGitIsRunInOneRoom(t *testing.T) {
	runs := regexp.MustCompile(`exec\.Command(Context)?\([^\n]*"git"`)
	var problems []string
	err := goFiles(os.DirFS(root), func(name string, content []byte) error {
		isOurs := strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "tools/") || strings.HasPrefix(name, "e2e/") || strings.HasPrefix(name, "editors/")
		if !isOurs && !strings.HasSuffix(name, "_test.go") && runs.Match(content) {
			problems = append(problems, name+": git is run by internal/git, which keeps it from running what a repository names")
		}
		return nil
	})
	report(t, problems, err)
}

func report(t *testing.T, problems []string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}
