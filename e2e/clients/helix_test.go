//go:build e2e

package clients

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// helix opens a PROMPT.md with a text in Helix as a Debian suite has it, set up as
// docs/EDITORS.md says.
func helix(t *testing.T, suite, prompt string) (s *screen, dir string) {
	t.Helper()
	program := fromDebian(t, suite, "usr/bin/hx", "hx")
	home, dir := t.TempDir(), t.TempDir()
	settings := recipe(t, "## Helix", "toml")
	must.Write(t, filepath.Join(home, ".config", "helix", "languages.toml"), settings[0])
	must.Write(t, filepath.Join(home, ".config", "helix", "config.toml"), settings[1])
	must.Write(t, filepath.Join(dir, "PROMPT.md"), prompt)
	environ := []string{
		"HOME=" + home, "TMPDIR=" + home, "PATH=" + agentsDir + ":/usr/bin:/bin",
		"HELIX_RUNTIME=" + filepath.Join(filepath.Dir(program), "..", "lib", "hx", "runtime"),
	}
	s = newScreen(t, dir, environ, program, "PROMPT.md")
	s.shows("Loaded 1 file")
	return s, dir
}

// act opens the menu of code actions, waits for what it should have, and chooses one
// by its place. A server that only begins has none yet; a user tries again.
func (s *screen) act(place int, want string) {
	s.t.Helper()
	const notYet = `^No (configured language server|code actions)`
	for wanted := regexp.MustCompile(want); ; {
		s.press("Space", "a")
		if wanted.MatchString(s.shows(want + "|" + notYet)) {
			break
		}
		s.press("Escape")
		s.shows(`PROMPT.md.*\n\s*\z`)
	}
	for range place {
		s.press("Down")
	}
	s.press("Enter")
}

func TestHelix(t *testing.T) {
	s, dir := helix(t, "forky", "Polish the code until I stop you.\n")
	s.act(1, `Run Ralph loop\s*\n.*Ralph: Dry run`)
	s.shows(`Ralph: would run pi .*at most 50 iterations`)
	s.act(0, `Run Ralph loop`)
	s.shows(`0% .*1/50 · \$0\.01 · bash make forever`)
	s.press(":", "lsp-workspace-command ralph.loop.steer {\"text\":\"Leave the parser alone\"}", "Enter")
	s.shows(`Ralph: the next run is told`)
	s.act(1, `Ralph: 1/50 · \$0\.01 · Cancel\s*\n.*Ralph: Pause`)
	s.shows(`Ralph: the loop pauses after this iteration|pausing after iteration 1`) // its line has room for one
	s.act(1, `pausing after iteration 1 · Cancel\s*\n.*Ralph: Resume`)
	s.shows(`Ralph: 50 iterations · 4h of running|0% .*1/50 · \$0\.01 · bash make forever`)
	s.act(0, `Ralph: 1/50 · \$0\.01 · Cancel`)
	s.shows(`Ralph cancelled after 1 iteration · \$0\.01`)

	// A limit is reached, and the user is asked.
	must.Write(t, filepath.Join(dir, "PROMPT.md"), "Make all tests pass.\n")
	must.Write(t, filepath.Join(dir, "ralph.toml"), "[limits]\nmax_iterations = 1\n")
	s.press(":", "reload", "Enter")
	s.act(0, `Run Ralph loop`)
	s.shows(`Ralph stopped after 1 iteration: iteration limit reached`)
	s.shows(`Raise to 2 iterations and Go On`)
	s.press("Down", "Enter")
	s.shows(`Ralph done: LOOP_COMPLETE after 2 iterations · \$0\.02`)
}

// A Helix that can't ask says what happened, and its code actions have the answers.
func TestHelixThatCannotAsk(t *testing.T) {
	s, dir := helix(t, "trixie", "Make all tests pass.\n")
	must.Write(t, filepath.Join(dir, "ralph.toml"), "[limits]\nmax_iterations = 1\n")
	s.act(0, `Run Ralph loop`)
	s.shows(`Ralph stopped after 1 iteration: iteration limit reached`)
	s.act(0, `Raise to 2 iterations and Go On`)
	s.shows(`Ralph done: LOOP_COMPLETE after 2 iterations · \$0\.02`)
}
