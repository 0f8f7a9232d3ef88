package backends

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// docs/BACKENDS.md has a line for each agent in each of its tables, and says
// there what the agent's file says.
func TestTheDocumentTellsWhatTheFilesOfDataSay(t *testing.T) {
	page := must.Read(t, "../docs/BACKENDS.md")
	about, may, talk, end := "# Backends", "## What they may do", "## Talking to one", "## How they end"
	for i, b := range builtin {
		if len(b.Inside.Own) == 0 {
			t.Errorf("%s has no folder of its own behind walls (Inside.Own): it wouldn't find its login there", b.Name)
		}
		lines := map[string][]string{}
		for _, section := range []string{about, may, talk, end} {
			rows := tableRows(t, string(page), section)
			n := slices.IndexFunc(rows, func(row []string) bool { return slices.Contains(strings.Split(row[0], ", "), b.Name) })
			if n < 0 {
				t.Errorf("docs/BACKENDS.md has no line for %s below %q", b.Name, section)
				continue
			}
			if want := map[string]int{about: 7, may: 2, talk: 2, end: 2}[section]; len(rows[n]) < want {
				t.Fatalf("docs/BACKENDS.md, %q: the line of %s has %d cells, want %d", section, b.Name, len(rows[n]), want)
			}
			if lines[section] = rows[n]; section == about && n != i {
				t.Errorf("docs/BACKENDS.md has %s in line %d, automatic detection has it in place %d", b.Name, n+1, i+1)
			}
		}
		if row := lines[about]; row != nil {
			contains(t, b, "program", row[1], "`"+b.Command+"` ")
			equal(t, b, "headless", row[2], "`"+strings.Join(b.Args, " ")+"`")
			equal(t, b, "prompt", row[3], string(b.Prompt))
			contains(t, b, "output", row[4], map[bool]string{true: "text, pseudo-terminal", false: "stream, pipes"}[b.PTY])
			equal(t, b, "cost", row[5], map[bool]string{true: "dollars", false: "unknown"}[b.HasCost()])
			checkPin(t, b, row[1], row[6])
		}
		for _, r := range b.Replaceable {
			contains(t, b, "default", strings.Join(lines[may], " "), "`"+strings.Join(r.Args, " ")+"`")
			contains(t, b, "gives way to", strings.Join(lines[may], " "), "`"+r.By[0]+"`")
		}
		if row := lines[talk]; row != nil {
			contains(t, b, "command line", row[1], "`"+strings.Join(append([]string{b.Command}, b.InteractiveArgs...), " "))
		}
		if row := lines[end]; row != nil {
			equal(t, b, "signals", row[1], map[bool]string{true: "SIGINT, SIGTERM", false: "SIGTERM"}[b.Interrupt])
		}
	}
}

// The agents of the Agent Client Protocol have a table of their own.
func TestTheDocumentTellsOfAgentsOfTheProtocol(t *testing.T) {
	page := must.Read(t, "../docs/BACKENDS.md")
	rows := tableRows(t, string(page), "## By the Agent Client Protocol")
	for i, b := range acpAgents() {
		if i >= len(rows) || rows[i][0] != b.Name {
			t.Fatalf("docs/BACKENDS.md has no line %d for %s", i+1, b.Name)
		}
		contains(t, b, "program", rows[i][1], "`"+strings.Join(append([]string{b.Command}, b.Args...), " ")+"`")
		equal(t, b, "cost", rows[i][5], map[bool]string{true: "dollars", false: "unknown"}[b.HasCost()])
		for n, mode := range []string{b.Live.ACP.Mode, b.Live.ACP.AskMode} {
			if mode != "" {
				equal(t, b, "mode", rows[i][2+n], "`"+mode+"`")
			}
		}
	}
}

// checkPin wants what is said to be known by `make ci` to run there, and the other way round.
func checkPin(t *testing.T, b Backend, program, knownBy string) {
	table := must.Read(t, "../e2e/agent_test.go")
	pinned := false
	for _, pin := range agents.All {
		if pin.Bin == b.Command {
			pinned = true
			contains(t, b, "version", program, pin.Version)
		}
	}
	said, run := strings.Contains(knownBy, "make ci"), strings.Contains(string(table), `backend: "`+b.Name+`"`)
	if said != pinned || said != run {
		t.Errorf("%s: known by `make ci` in docs/BACKENDS.md: %t; in internal/test/agents/pins.go: %t; in e2e/agent_test.go: %t", b.Name, said, pinned, run)
	}
}

// tableRows returns the cells of the first table below a heading.
func tableRows(t *testing.T, page, heading string) (rows [][]string) {
	t.Helper()
	_, rest, ok := strings.Cut(page, heading)
	_, rest, hasTable := strings.Cut(rest, "|---|")
	if !ok || !hasTable {
		t.Fatalf("docs/BACKENDS.md has no table below %q", heading)
	}
	for _, line := range strings.Split(rest, "\n")[1:] {
		if !strings.HasPrefix(line, "| ") {
			return rows
		}
		rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
	}
	return rows
}

func contains(t *testing.T, b Backend, column, cell, want string) {
	t.Helper()
	if !strings.Contains(cell, want) {
		t.Errorf("docs/BACKENDS.md, %s, %s: %q lacks %q", b.Name, column, cell, want)
	}
}

func equal(t *testing.T, b Backend, column, cell, want string) {
	t.Helper()
	if cell != want {
		t.Errorf("docs/BACKENDS.md, %s, %s: %q, want %q", b.Name, column, cell, want)
	}
}
