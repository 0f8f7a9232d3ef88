package start

import (
	"bytes"
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite docs/ralph.schema.json and the lists of keys in docs")

// What is written about the configuration is made of its table of keys.
func TestTheSchemaIsThatOfTheKeys(t *testing.T) {
	const name = "../../docs/ralph.schema.json"
	compareFile(t, name, schemaOfKeys(t))
}

var keyList = regexp.MustCompile(`(?s)(<!-- keys -->\n).*(<!-- end of keys -->\n)`)

func TestTheDocumentsListTheKeys(t *testing.T) {
	compareKeys(t, "../../docs/CONFIG.md", config.Keys())
	compareKeys(t, "../../docs/FLEET-REFERENCE.md", config.FleetKeys())
}

func compareKeys(t *testing.T, name string, keys []config.Key) {
	t.Helper()
	text := must.Read(t, name)
	if !keyList.Match(text) {
		t.Fatal(name + " has no place for the keys")
	}
	literal := strings.ReplaceAll(keysAsList(keys), "$", "$$")
	compareFile(t, name, keyList.ReplaceAll(text, []byte("${1}"+literal+"${2}")))
}

var tomlBlock = regexp.MustCompile("(?ms)^( *)```toml\n(.*?)^ *```$")

// examplesOf are the files that a page shows, without the indentation of a list.
func examplesOf(t *testing.T, page string) (files []string) {
	t.Helper()
	text := must.Read(t, "../../docs/"+page+".md")
	for _, m := range tomlBlock.FindAllStringSubmatch(string(text), -1) {
		files = append(files, strings.TrimPrefix(strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n"), "\n"))
	}
	if len(files) == 0 {
		t.Errorf("%s shows no file", page)
	}
	return files
}

// Whoever copies a file from a page has one without a mistake. The first one is short.
func TestTheExamplesOfThePagesAreRight(t *testing.T) {
	var builtin []string
	for _, b := range backends.All() {
		builtin = append(builtin, b.Name)
	}
	for _, page := range []string{"CONFIG", "LOOPS", "VERIFY", "WORKTREES", "NIGHT", "HATS", "AGENTS", "BACKENDS"} {
		for i, file := range examplesOf(t, page) {
			for _, problem := range config.Check([]byte(file), builtin) {
				t.Errorf("%s, file %d, line %d: %s", page, i+1, problem.Line, problem.Message)
			}
			if n := strings.Count(file, "\n"); page == "CONFIG" && i == 0 && n > 15 {
				t.Errorf("the first file of CONFIG has %d lines", n)
			}
		}
	}
	for _, page := range []string{"FLEET", "FLEET-REFERENCE"} {
		for i, file := range examplesOf(t, page) {
			dir := t.TempDir()
			must.OK(t, os.WriteFile(filepath.Join(dir, config.FleetName), []byte(file), 0o600))
			if _, err := config.LoadFleet(dir); err != nil {
				t.Errorf("%s, file %d: %v", page, i+1, err)
			}
		}
	}
}

func TestTheLimitsAreInTheirPage(t *testing.T) {
	text := must.Read(t, "../../docs/LOOPS.md")
	for _, l := range limits.All() {
		row := regexp.MustCompile(`(?m)^\| ` + "`--" + l.Flag + ` [^|]*\| ([^|]*) \|`).FindSubmatch(text)
		if row == nil {
			t.Errorf("docs/LOOPS.md lacks --%s", l.Flag)
		} else if got := string(row[1]); got != cmp.Or(l.Default, "none") {
			t.Errorf("docs/LOOPS.md has %s as the default of --%s", got, l.Flag)
		}
	}
}

// An editor's settings have what it may say of all its starts, with each value.
func TestTheEditorsHaveTheirSettings(t *testing.T) {
	for _, s := range settings.All() {
		key := s.Key[strings.LastIndex(s.Key, ".")+1:]
		for file, want := range map[string]string{
			"vscode/package.json":       `"ralph\.` + s.Wire + `": \{[^\n]*"enum": \["", ("(` + strings.Join(s.Editor, "|") + `)"(, )?){` + strconv.Itoa(len(s.Editor)) + `}\]`,
			"vscode/src/config.ts":      `\b` + s.Wire + `: get<`,
			"nvim/lua/ralph/config.lua": `(?s)\n  ` + key + ` = ''.*\n  ` + key + ` = one_of\([^\n]*, \{ ('(` + strings.Join(s.Editor, "|") + `)', ){` + strconv.Itoa(len(s.Editor)) + `}'' \}\)`,
			"nvim/lua/ralph/types.lua":  `---@field ` + key + `\?`,
			"nvim/lua/ralph/loops.lua":  `\b` + s.Wire + ` = given\.` + key,
		} {
			text, err := os.ReadFile("../../editors/" + file)
			if has := regexp.MustCompile(want).Match(text); err != nil || s.Editor != nil && !has {
				t.Errorf("editors/%s and %s: %v, %v", file, s.Key, has, err)
			}
		}
	}
}

// compareFile wants a file to have this content, or writes it.
func compareFile(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		must.OK(t, os.WriteFile(name, want, 0o644))
	}
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s isn't that of the keys: %v; run the test with -update", name, err)
	}
}
