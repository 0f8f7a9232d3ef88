package backends

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// The variables that every agent and its tools have in their environment. They tell the agent where it is. They prove
// nothing about a process: any process may have a copy.
const (
	EnvLoopID    = caller.EnvLoopID
	EnvIteration = "RALPH_ITERATION"
	// EnvOutbox is the folder in which the programs of one run publish topics.
	EnvOutbox = "RALPH_SPOOL"
)

// sessionMarks are what an enclosing agent session leaves in the environment
// of its tools. An agent that sees them refuses to start or reports to the
// wrong session. Settings and credentials of the user's are not among them.
var sessionMarks = map[string]bool{
	EnvOutbox:                          true, // of a loop around this one
	paths.EnvState:                     true,
	"CLAUDECODE":                       true,
	"CLAUDE_CODE_ENTRYPOINT":           true,
	"CLAUDE_CODE_EXECPATH":             true,
	"CLAUDE_CODE_SESSION_ID":           true,
	"CLAUDE_CODE_SESSION_ACCESS_TOKEN": true,
	"CLAUDE_CODE_CHILD_SESSION":        true,
	"CLAUDE_CODE_PARENT_SESSION_ID":    true,
	"CLAUDE_CODE_REMOTE_SESSION_ID":    true,
	"CLAUDE_CODE_SSE_PORT":             true,
	"CLAUDE_CODE_TMPDIR":               true,
	"AI_AGENT":                         true,
	"PI_CODING_AGENT":                  true,
	"PI_SESSION_ID":                    true,
	"PI_SESSION_FILE":                  true,
}

// environ is the environment of a run: the parent's without the marks of
// other sessions, the backend's defaults where the user has set nothing, and ours.
func environ(parent []string, spec Spec) []string {
	ours := []string{"TMPDIR=" + spec.Scope.TempDir}
	if id := spec.Scope.LoopID; id != "" {
		ours = append(ours, EnvLoopID+"="+id, EnvIteration+"="+strconv.Itoa(spec.Iteration))
	}
	if spec.Outbox != "" {
		ours = append(ours, EnvOutbox+"="+spec.Outbox)
	}
	if spec.Backend.PTY {
		ours = append(ours, "TERM="+ptyTerm)
	}
	have := map[string]bool{}
	for _, kv := range ours {
		have[envKey(kv)] = true
	}
	env := make([]string, 0, len(parent)+len(ours)+len(spec.Backend.Env))
	for _, kv := range parent {
		if key := envKey(kv); !have[key] && !sessionMarks[key] {
			env = append(env, kv)
		}
	}
	for _, kv := range env {
		have[envKey(kv)] = true
	}
	for _, kv := range spec.Backend.Env {
		if !have[envKey(kv)] {
			env = append(env, kv)
		}
	}
	return append(env, ours...)
}

// inside is what the agent needs behind walls, the variables that we set for it among them.
func (b Backend) inside() sandbox.Agent {
	agent := b.Inside
	agent.Env = slices.Clone(agent.Env)
	for _, kv := range b.Env {
		agent.Env = append(agent.Env, envKey(kv))
	}
	return agent
}

func envKey(kv string) string {
	key, _, _ := strings.Cut(kv, "=")
	return key
}
