package start

import (
	"os"
	"strings"
	"testing"
)

// A key among the arguments is told, and isn't shown.
func TestASecretAmongTheArguments(t *testing.T) {
	for args, want := range map[string]bool{"--api-key hunter2": true, "--api-key=hunter2": true, "KEY=hunter2": true, "--model opus": false} {
		cfg, _, err := Resolver{Prompt: "x", Start: Options{Agent: Agent{Name: os.Args[0], Args: strings.Fields(args)}}}.Resolve(t.Context())
		told := strings.Join(cfg.Warnings, "\n")
		if err != nil || strings.Contains(told, "hold a secret") != want || strings.Contains(told, "hunter2") || strings.Join(cfg.Args, " ") != args {
			t.Errorf("%s: %q %q, %v", args, told, cfg.Args, err)
		}
	}
}
