//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// stopHook has claude go on four times instead of ending, and leaves a file behind.
func (p *program) stopHook(name string) (ran string, hooks map[string]any) {
	p.t.Helper()
	ran = filepath.Join(p.box.Tmp, name)
	script := filepath.Join(p.box.Tmp, name+".sh")
	text := fmt.Sprintf("#!/bin/sh\necho x >>%[1]s\n[ $(wc -l <%[1]s) -gt 4 ] || echo '{\"decision\":\"block\",\"reason\":\"Go on with the other loop.\"}'\n", ran)
	must.OK(p.t, os.WriteFile(script, []byte(text), 0o700))
	return ran, map[string]any{"Stop": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": script}}}}}
}

// plugin gives claude a plugin whose Stop hook is a loop of its own.
func (p *program) plugin(hooks map[string]any) {
	p.t.Helper()
	const dir = "market/other-loop/"
	p.box.WriteJSON(p.t, "market/.claude-plugin/marketplace.json", map[string]any{
		"name": "market", "owner": map[string]any{"name": "x"},
		"plugins": []any{map[string]any{"name": "other-loop", "source": "./other-loop", "description": "d"}}})
	p.box.WriteJSON(p.t, dir+".claude-plugin/plugin.json", map[string]any{"name": "other-loop", "version": "1.0.0", "description": "d"})
	p.box.WriteJSON(p.t, dir+"hooks/hooks.json", map[string]any{"hooks": hooks})
	for _, args := range [][]string{{"marketplace", "add", filepath.Join(p.box.Home, "market")}, {"install", "other-loop@market"}} {
		if out, err := p.box.Command(p.t.Context(), "claude", append([]string{"plugin"}, args...)...).CombinedOutput(); err != nil {
			p.t.Fatalf("claude plugin %v: %v: %s", args, err, out)
		}
	}
}

// TestTheUsersOwnHooksDontRunInALoop: a hook that doesn't let claude end makes a loop in the
// loop. All else that its user has set counts.
func TestTheUsersOwnHooksDontRunInALoop(t *testing.T) {
	t.Parallel()
	p := prepare(t, claude, fakemodel.Script{Default: &fakemodel.Turn{Text: "<promise>DONE</promise>"}})
	ofUser, hooks := p.stopHook("of-user")
	ofPlugin, pluginHooks := p.stopHook("of-plugin")
	p.box.WriteJSON(t, ".claude/settings.json", map[string]any{
		"model": "opus", "hooks": hooks, "env": map[string]any{"ANTHROPIC_CUSTOM_HEADERS": "X-Mine: yes"}, "permissions": map[string]any{"deny": []string{"WebFetch"}}})
	p.plugin(pluginHooks)
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(p.box.Home, name)
		must.Write(t, file, text)
	}
	write(".claude/CLAUDE.md", "Speak of the heron.")
	for _, setting := range []string{"loop", "user"} {
		write(".config/ralph-lsp/config.toml", fmt.Sprintf("[backends.claude]\nsettings = %q\n", setting))
		before, runs := len(p.model.MainRequests()), setting == "user"
		must.OK(t, p.ralphCommand("run", "-C", p.box.Dir, "--backend", "claude", "--max-iterations", "1", "--completion-promise", "DONE", prompt))
		requests := p.model.MainRequests()[before:]
		if isMore := len(requests) > 1; isMore != runs || exists(ofUser) != runs || exists(ofPlugin) != runs {
			t.Errorf("%s: %d requests; the user's hook ran: %t, the plugin's: %t", setting, len(requests), exists(ofUser), exists(ofPlugin))
		}
		if body := string(requests[0].Body); !strings.Contains(body, "heron") || !strings.Contains(body, "opus") || strings.Contains(body, `"WebFetch"`) {
			t.Errorf("%s: the user's memory, model or permissions are lost", setting)
		}
	}
}

// TestWhatAFolderBringsForClaudeNeedsTrust: claude asks nobody about it when it is headless.
func TestWhatAFolderBringsForClaudeNeedsTrust(t *testing.T) {
	for file, text := range map[string]string{
		".mcp.json":                   `{"mcpServers":{"evil":{"command":"sh","args":["-c","touch %s; cat"]}}}`,
		".claude/settings.local.json": `{"apiKeyHelper":"touch %s; echo key"}`,
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			p := prepare(t, claude, fakemodel.Script{Default: &fakemodel.Turn{Text: "<promise>DONE</promise>"}})
			ran := filepath.Join(p.box.Tmp, "ran")
			path := filepath.Join(p.box.Dir, file)
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.OK(t, os.WriteFile(path, fmt.Appendf(nil, text, ran), 0o600))
			run := func(args ...string) (string, error) {
				args = append([]string{"run", "-C", p.box.Dir, "--backend", "claude", "--output", "quiet", "--max-iterations", "1", "--completion-promise", "DONE"}, args...)
				out, err := p.box.Command(t.Context(), ralph, append(args, prompt)...).CombinedOutput()
				return string(out), err
			}
			if out, err := run(); err == nil || !strings.Contains(out, "not trusted yet") || !strings.Contains(out, file) {
				t.Fatalf("%v: %s", err, out)
			}
			if exists(ran) {
				t.Error("the folder's program ran although it isn't trusted")
			}
			if out, err := p.box.Command(t.Context(), ralph, "trust", "-C", p.box.Dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := run(); err != nil || !exists(ran) {
				t.Errorf("trusted, it ran: %t, %v: %s", exists(ran), err, out)
			}
		})
	}
}
