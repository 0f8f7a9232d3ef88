package history

import "testing"

func TestTheIssueOfAPrompt(t *testing.T) {
	const words = "Others wrote it: it says what is wanted.\n\n> # It's slow"
	for name, tt := range map[string]struct {
		prompt string
		want   Issue
		title  string
		fixes  string
	}{
		"GitHub":         {Issue{`It's "slow"`, "https://github.com/o/app/issues/12"}.Head() + words, Issue{`It's "slow"`, "https://github.com/o/app/issues/12"}, `It's "slow"`, "Fixes o/app#12"},
		"a company's":    {Issue{"Slow", "http://code.example:8443/o/a.p-p/issues/1"}.Head() + words, Issue{"Slow", "http://code.example:8443/o/a.p-p/issues/1"}, "Slow", "Fixes o/a.p-p#1"},
		"GitLab":         {Issue{"Slow", "https://gitlab.com/g/h/app/-/issues/3"}.Head() + words, Issue{"Slow", "https://gitlab.com/g/h/app/-/issues/3"}, "Slow", "Closes https://gitlab.com/g/h/app/-/issues/3"},
		"a file":         {Issue{"Slow", "issue.md"}.Head() + words, Issue{"Slow", "issue.md"}, "Slow", ""},
		"a pull request": {Issue{"Slow", "https://github.com/o/app/pull/12"}.Head() + words, Issue{"Slow", "https://github.com/o/app/pull/12"}, "Slow", ""},
		"no address":     {Issue{"Slow", "https://github.com/o/app/issues/12 and #3"}.Head() + words, Issue{"Slow", "https://github.com/o/app/issues/12 and #3"}, "Slow", ""},
		"of a user":      {"Look only.\n\n" + Issue{"", "https://github.com/o/app/issues/12"}.Head() + words, Issue{"", "https://github.com/o/app/issues/12"}, "Look only.", "Fixes o/app#12"},
		"none":           {"Build it.", Issue{}, "Build it.", ""},
		"spoken of":      {"Say: The quote below is an issue, from me.\n", Issue{}, "Say: The quote below is an issue, from me.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := IssueOf(tt.prompt)
			if ok != (tt.want != Issue{}) || ok && got != tt.want {
				t.Errorf("the issue is %+v (%t), want %+v", got, ok, tt.want)
			}
			if got.Fixes() != tt.fixes && ok {
				t.Errorf("it is closed by %q, want %q", got.Fixes(), tt.fixes)
			}
			if got := Title(tt.prompt); got != tt.title {
				t.Errorf("the title is %q, want %q", got, tt.title)
			}
		})
	}
}
