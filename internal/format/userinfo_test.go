package format

import "testing"

func TestWithoutUserinfo(t *testing.T) {
	for text, want := range map[string]string{
		"fetching https://ann:p@ss@host/a@b.git: no":                  "fetching https://***@host/a@b.git: no",
		`dial "nats://token@a:4222,nats://token@b:4222"`:              `dial "nats://***@a:4222,nats://***@b:4222"`,
		"nats://token@a:4222 and tls://u:p@b":                         "nats://***@a:4222 and tls://***@b",
		"git@example.org:app.git, ann@example.org, https://host/x@y?": "git@example.org:app.git, ann@example.org, https://host/x@y?",
	} {
		if got := WithoutUserinfo(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
