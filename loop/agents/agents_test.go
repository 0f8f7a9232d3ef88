package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// place makes files in a home folder and in a loop's folder, by names such as
// "home/.claude/agents/a.md" and "folder/.pi/agents/b.md", and returns the loop's folder.
func place(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	return filepath.Join(testhome.Place(t, files), "folder")
}

// file is an agent's file.
func file(name, more string) string {
	return "---\nname: " + name + "\ndescription: What " + name + " does\n" + more + "---\nYou are " + name + ".\n"
}

// told are the problems, each as "file:line message", without the folders above.
func told(s Set) (lines []string) {
	for _, p := range s.Problems {
		p.File = filepath.Base(p.File)
		mark := ""
		if p.IsWarning {
			mark = "? "
		}
		lines = append(lines, mark+p.String())
	}
	return lines
}

func TestAgentsOfAllPlaces(t *testing.T) {
	folder := place(t, map[string]string{
		"home/.pi/agent/agents/a.md":       file("mine", "tools: read, bash\nmodel: x/y\n"),
		"home/.claude/agents/deep/er/b.md": file("ours", "tools:\n  - Read\n  - Bash(git diff, git log)\nmodel: inherit\ncolor: red\n"),
		"home/.pi/agent/agents/deep/c.md":  file("unseen", ""), // pi looks into no folder
		"home/.pi/agent/agents/notes.txt":  file("unseen", ""),
		"folder/.pi/agents/scout.md":       "\uFEFF" + strings.ReplaceAll(file("scout", ""), "\n", "\r\n"),
		"folder/.claude/agents/judge.md":   file("judge", "hooks: {}\npermissionMode: plan\n"),
	})
	s := Read(folder)
	var got []string
	for _, a := range s.Agents {
		got = append(got, fmt.Sprintf("%s %s %q %s %s %t %q %q", a.Name, a.Backend, a.Tools, a.Model, a.Mode, a.IsFolder, a.Ignored, a.Instructions))
	}
	want := []string{
		`judge claude []  plan true ["hooks"] "You are judge."`,
		`scout pi []   true [] "You are scout."`,
		`ours claude ["Read" "Bash(git diff, git log)"]   false [] "You are ours."`,
		`mine pi ["read" "bash"] x/y  false [] "You are mine."`,
	}
	if !slices.Equal(got, want) || len(s.Problems) > 0 {
		t.Errorf("got\n%s\nproblems %q", strings.Join(got, "\n"), told(s))
	}
}

func TestTheEnvironmentNamesTheUsersFolders(t *testing.T) {
	folder := place(t, map[string]string{
		"home/.pi/agent/agents/a.md": file("not-here", ""),
		"home/else/agents/a.md":      file("here", ""),
		"home/claude/agents/a.md":    file("there", ""),
	})
	t.Setenv("PI_CODING_AGENT_DIR", "~/else")
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(os.Getenv("HOME"), "claude"))
	if got := Read(folder).Names(); !slices.Equal(got, []string{"here", "there"}) {
		t.Errorf("got %q", got)
	}
}

func TestABrokenFileIsToldAndHarmsNoOther(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"no front matter", "# How to write agents\n", "? x.md: isn't an agent: it has no front matter with a name"},
		{"no end", "---\nname: a\n", "x.md:1: the front matter has no end; close it with a line ---"},
		{"no YAML", "---\nname: a\ndescription: d\ntools: [read\n---\nYou\n", "x.md:5: the front matter isn't YAML"},
		{"no name", "---\ndescription: d\n---\nYou\n", "x.md:1: the front matter has no name; write name: NAME"},
		{"empty", "---\n---\nYou\n", "x.md:1: the front matter has no name; write name: NAME"},
		{"a number as name", "---\ndescription: d\nname: 7\n---\nYou\n", "x.md:3: name isn't a text; put it in quotes"},
		{"a name for nobody", "---\nname: a,b\n---\nYou\n", `x.md:2: name is "a,b"; leave out commas`},
		{"a name like a flag", "---\nname: --help\n---\nYou\n", "x.md:2: name begins with -"},
		{"no tools", "---\nname: a\ntools:\n---\nYou\n", "x.md:3: tools names no tools"},
		{"tools in tables", "---\nname: a\ntools:\n  read: true\n---\nYou\n", "x.md:3: tools names no tools"},
		{"a tool like a flag", "---\nname: a\ntools: read, --yolo\n---\nYou\n", "x.md:3: tools names no tools"},
		{"a model like a flag", "---\nname: a\nmodel: --yolo\n---\nYou\n", `x.md:3: model is "--yolo", which can't be a model`},
		{"a mode like a flag", "---\nname: a\npermissionMode: --yolo\n---\nYou\n", `x.md:3: permissionMode is "--yolo", which can't be a permission mode`},
		{"a mode that hides", "---\nname: a\npermissionMode: \"plan\\n\\e[2Jx\"\n---\nYou\n", `x.md:3: permissionMode is "plan\n\x1b[2Jx"`},
		{"twice", "---\nname: a\nname: b\n---\nYou\n", "x.md:3: name is there twice"},
		{"a list", "---\n- a\n---\nYou\n", "x.md:2: the front matter has no keys"},
		{"no prompt", "---\nname: a\n---\n \n", "x.md: has no system prompt"},
		{"NUL", "---\nname: a\n---\nYou\x00\n", "x.md: has a NUL byte"},
		{"huge", file("a", "") + strings.Repeat("x", maxFile), "x.md: is larger than 64 KiB"},
		{"a bomb", "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\ntools: [*c,*c,*c,*c]\nname: a\n---\nYou\n", "x.md:5: tools names no tools"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := place(t, map[string]string{"home/.pi/agent/agents/x.md": tt.content, "home/.pi/agent/agents/y.md": file("fine", "")})
			s := Read(folder)
			if got := told(s); len(got) != 1 || !strings.HasPrefix(got[0], tt.want) || !slices.Equal(s.Names(), []string{"fine"}) {
				t.Errorf("told %q, agents %q, want %q", got, s.Names(), tt.want)
			}
		})
	}
}

// claude takes descriptions that aren't YAML, as those that it writes itself.
func TestClaudesFrontMatterIsReadLineByLineWhereItIsNotYAML(t *testing.T) {
	content := "---\nname: reviewer\ndescription: Use it to review. Examples: <example>user: \"Review: this\"</example>\ntools: Read, Grep\n---\nYou review.\n"
	folder := place(t, map[string]string{"home/.claude/agents/a.md": content, "home/.pi/agent/agents/b.md": content})
	s := Read(folder)
	if len(s.Agents) != 1 || s.Agents[0].Backend != "claude" || !slices.Equal(s.Agents[0].Tools, []string{"Read", "Grep"}) || len(told(s)) != 1 {
		t.Errorf("got %+v, %q", s.Agents, told(s))
	}
}

func TestOfTheSameNameTheFoldersWins(t *testing.T) {
	folder := place(t, map[string]string{
		"home/.pi/agent/agents/a.md": file("scout", ""), "home/.claude/agents/b.md": file("scout", ""),
		"folder/.pi/agents/c.md": file("scout", ""), "home/.pi/agent/agents/d.md": file("other", ""), "home/.claude/agents/e.md": file("other", ""),
	})
	s := Read(folder)
	for _, tt := range []struct{ name, backend, want string }{{"scout", "", "c.md"}, {"scout", "claude", "c.md"}, {"other", "", "e.md"}, {"other", "pi", "d.md"}} {
		a, hidden, err := s.Find(tt.name, tt.backend)
		if err != nil || filepath.Base(a.File) != tt.want || len(hidden) == 0 {
			t.Errorf("%s on %s: %s, hidden %q, %v", tt.name, tt.backend, a.File, hidden, err)
		}
	}
	if got := told(s); len(got) != 3 || !strings.HasPrefix(got[0], "? b.md: scout is hidden by ") || !strings.Contains(got[0], "c.md") {
		t.Errorf("told %q", got)
	}
	_, _, err := s.Find("scot", "")
	if err == nil || !strings.Contains(err.Error(), "did you mean scout?") {
		t.Errorf("error %v", err)
	}
}

func TestAnAgentThatIsMeantAndBrokenIsNamed(t *testing.T) {
	folder := place(t, map[string]string{"folder/.pi/agents/scout.md": "---\nname: scout\n"})
	_, _, err := Read(folder).Find("scout", "")
	if err == nil || !strings.Contains(err.Error(), "scout.md:1: the front matter has no end") {
		t.Errorf("error %v", err)
	}
}

func TestLinksOutOfTheFolderAreNotRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	folder := place(t, map[string]string{
		"secret.md":               file("secret", ""),
		"elsewhere/agents/s.md":   file("secret", ""),
		"folder/docs/inside.md":   file("inside", ""),
		"folder/.pi/agents/ok.md": file("ok", ""),
		"home/.pi/agent/agents/x": "",
	})
	out := filepath.Dir(folder)
	for link, to := range map[string]string{
		filepath.Join(folder, ".pi/agents/out.md"):               filepath.Join(out, "secret.md"),
		filepath.Join(folder, ".pi/agents/in.md"):                filepath.Join("..", "..", "docs", "inside.md"),
		filepath.Join(folder, ".pi/agents/gone.md"):              "nowhere.md",
		filepath.Join(folder, ".claude"):                         filepath.Join(out, "elsewhere"),
		filepath.Join(out, "home", ".pi/agent/agents/theirs.md"): filepath.Join(folder, ".pi/agents/ok.md"),
	} {
		must.OK(t, os.Symlink(to, link))
	}
	s := Read(folder)
	if got := s.Names(); !slices.Equal(got, []string{"inside", "ok"}) {
		t.Errorf("read %q", got)
	}
	if got := strings.Join(told(s), "\n"); !strings.Contains(got, "out.md: can't be read") || !strings.Contains(got, "gone.md: can't be read") || strings.Contains(got, "secret is") {
		t.Errorf("told %s", got)
	}
}

func TestThousandsOfFiles(t *testing.T) {
	files := map[string]string{}
	for i := range maxFiles + 10 {
		files[fmt.Sprintf("folder/.claude/agents/%04d.md", i)] = file(fmt.Sprint("a", i), "")
	}
	s := Read(place(t, files))
	if got := told(s); len(s.Agents) != maxFiles || len(got) != 1 || !strings.Contains(got[0], "has more than 500 files") || !s.Problems[0].IsWarning {
		t.Errorf("%d agents, told %q", len(s.Agents), got)
	}
}

func TestArguments(t *testing.T) {
	pis := Agent{Name: "a", Backend: "pi", File: "a.md"}
	claudes := Agent{Name: "a", Backend: "claude", File: "a.md"}
	with := func(a Agent, tools, denied []string, model, mode string) Agent {
		a.Tools, a.Denied, a.Model, a.Mode = tools, denied, model, mode
		return a
	}
	tests := []struct {
		name  string
		agent Agent
		on    string
		o     Orders
		want  string // the arguments, or the beginning of the error behind "!"
	}{
		{"nothing said", pis, "pi", Orders{}, ""},
		{"pi's own", with(pis, []string{"read", "bash", "own"}, nil, "a/b:high", ""), "pi", Orders{}, "--tools read,bash,own --model a/b:high"},
		{"pi's on claude", with(pis, []string{"read", "find", "ls", "bash"}, nil, "claude-haiku-4-5", ""), "claude", Orders{}, "--tools Read,Glob,Bash --model claude-haiku-4-5"},
		{"claude's own", with(claudes, []string{"Read", "Bash(git diff *)", "mcp__a__b"}, []string{"Bash(rm *)"}, "sonnet", "plan"), "claude", Orders{},
			"--tools Read,Bash --allowedTools Bash(git diff *),mcp__a__b --disallowedTools Bash(rm *) --permission-mode plan --model sonnet"},
		{"claude's on pi", with(claudes, []string{"Read", "Glob", "LS"}, []string{"Bash"}, "", ""), "pi", Orders{}, "--tools read,find,ls --exclude-tools bash"},
		{"claude's model on pi", with(claudes, nil, nil, "sonnet", ""), "pi", Orders{}, "!pi has no model sonnet, which is claude's name for one"},
		{"pi's model on claude", with(pis, nil, nil, "anthropic/claude-haiku-4-5", ""), "claude", Orders{}, "!claude has no model anthropic/claude-haiku-4-5"},
		{"the start names the model", with(pis, nil, nil, "anthropic/claude-haiku-4-5", ""), "claude", Orders{NoModel: true}, ""},
		{"no counterpart", with(claudes, []string{"WebFetch"}, nil, "", ""), "pi", Orders{}, "!pi has no tool like claude's WebFetch"},
		{"a part of a tool", with(claudes, []string{"Bash(git *)"}, nil, "", ""), "pi", Orders{}, "!pi has no tool like claude's Bash(git *)"},
		{"another spelling", with(claudes, []string{"read"}, nil, "", ""), "claude", Orders{}, "!claude has no tool read; did you mean Read?"},
		{"a mode on pi", with(claudes, nil, nil, "", "plan"), "pi", Orders{}, "!it knows no permissionMode"},
		{"no tools on codex", with(pis, []string{"read"}, nil, "", ""), "codex", Orders{}, "!codex has no tool like pi's read"},
		{"read only on pi", pis, "pi", Orders{ReadOnly: true}, "--tools read,grep,find,ls"},
		{"read only on claude", with(pis, []string{"read", "bash", "ls"}, nil, "", ""), "claude", Orders{ReadOnly: true}, "--tools Read,Glob"},
		{"read only on codex", pis, "codex", Orders{ReadOnly: true}, "--sandbox read-only"},
		{"read only, told only", pis, "amp", Orders{ReadOnly: true}, ""},
		{"read only without a tool for it", with(pis, []string{"bash"}, nil, "", ""), "pi", Orders{ReadOnly: true}, "!none of its tools only reads: bash"},
	}
	for _, tt := range tests {
		on, err := backends.Lookup(tt.on)
		must.OK(t, err)
		args, err := tt.agent.Args(on, tt.o)
		got := strings.Join(args, " ")
		if want, isError := strings.CutPrefix(tt.want, "!"); isError {
			if err == nil || !strings.HasPrefix(err.Error(), "the agent a can't run on "+tt.on+": "+want) {
				t.Errorf("%s: %q, %v", tt.name, got, err)
			}
		} else if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(file("a", "tools: [x]\n")), true)
	f.Add([]byte("---\nname: a: b\n---\nx"), true)
	f.Add([]byte("---\na: &a [*a]\n---\nx"), false)
	f.Fuzz(func(t *testing.T, data []byte, isLoose bool) {
		a, problems := parse(data, isLoose)
		if a.Name != "" && len(problems) == 0 && (checkName(a.Name) != "" || a.Instructions == "") {
			t.Errorf("an agent %+v", a)
		}
		for _, p := range problems {
			if p.Line < 0 || p.Line > 1+strings.Count(string(data), "\n")+1 || p.Message == "" {
				t.Errorf("a problem %+v", p)
			}
		}
	})
}
