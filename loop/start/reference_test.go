package start

import (
	"bytes"
	"cmp"
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
)

var update = flag.Bool("update", false, "rewrite docs/ralph.schema.json and the tables of keys in docs")

// What is written about the configuration is made of its table of keys.
func TestTheSchemaIsThatOfTheKeys(t *testing.T) {
	const name = "../../docs/ralph.schema.json"
	compareFile(t, name, schemaOfKeys(t))
}

var keyTable = regexp.MustCompile(`(?s)(<!-- keys -->\n).*(<!-- end of keys -->\n)`)

func TestTheDocumentsListTheKeys(t *testing.T) {
	compareKeys(t, "../../docs/CONFIG.md", config.Keys())
	compareKeys(t, "../../docs/FLEET-REFERENCE.md", config.FleetKeys())
}

func compareKeys(t *testing.T, name string, keys []config.Key) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !keyTable.Match(text) {
		t.Fatal(name + " has no place for the keys")
	}
	literal := strings.ReplaceAll(keysAsTable(keys), "$", "$$")
	compareFile(t, name, keyTable.ReplaceAll(text, []byte("${1}"+literal+"${2}")))
}

func TestTheReadmeHasEachLimit(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range limits.All() {
		row := regexp.MustCompile(`(?m)^\| ` + "`--" + l.Flag + ` [^|]*\| ([^|]*) \|`).FindSubmatch(text)
		if row == nil {
			t.Errorf("README.md lacks --%s", l.Flag)
		} else if got := string(row[1]); got != cmp.Or(l.Default, "none") {
			t.Errorf("README.md has %s as the default of --%s", got, l.Flag)
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
			"vscode/src/wire.ts":        `\b` + s.Wire + `\?: `,
			"nvim/lua/ralph/config.lua": `(?s)\n  ` + key + ` = ''.*\n  ` + key + ` = \{`,
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
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s isn't that of the keys: %v; run the test with -update", name, err)
	}
}
