package format

import (
	"slices"
	"strings"
	"testing"
)

func TestMasked(t *testing.T) {
	for args, want := range map[string]string{
		"":                                       "",
		"--model|opus|--max-tokens|100":          "--model|opus|--max-tokens|100",
		"--api-key|X":                            "--api-key|***",
		"-key|X|--model|opus":                    "-key|***|--model|opus",
		"--api-key=X Y":                          "--api-key=***",
		"--apiKey|-X":                            "--apiKey|***",
		"--API_KEY|X|Y":                          "--API_KEY|***|Y",
		"--token|--verbose|x":                    "--token|--verbose|x",
		"--auth-token|--password|X":              "--auth-token|--password|***",
		"OPENAI_API_KEY=sk-1":                    "OPENAI_API_KEY=***",
		"-e|KEY=X":                               "-e|KEY=***",
		"--env=GITHUB_TOKEN=X":                   "--env=GITHUB_TOKEN=***",
		"--header|Authorization: Bearer X":       "--header|Authorization: ***",
		"--header|x-api-key: X":                  "--header|x-api-key: ***",
		`--settings|{"env":{"A_KEY":"X","b":1}}`: `--settings|{"env":{"A_KEY":***,"b":1}}`,
		`{"apiKey": "X\"Y", "secret":"Z"}`:       `{"apiKey": ***, "secret":***}`,
		"--monkey|business|turkey=1":             "--monkey|business|turkey=1",
		"--keybindings|vi|--tokens=5":            "--keybindings|vi|--tokens=5",
		"the key: is under the mat":              "the key: ***",
	} {
		said := strings.Split(args, "|")
		kept := slices.Clone(said)
		if got := strings.Join(Masked(said), "|"); got != want || !slices.Equal(said, kept) {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}
