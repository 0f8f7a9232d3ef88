//go:build unix

package service

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

func TestAgentsThatAreNamedAreListed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir, s := folder(t, map[string]string{config.Name: ownAgent})
	named := func(r answers.AgentsResult) (names []string) {
		for _, a := range r.Agents {
			names = append(names, a.Name)
		}
		return names
	}
	if before := s.Agents(t.Context(), dir); slices.Contains(named(before), "mine") || len(before.Agents) == 0 {
		t.Errorf("before it is trusted: %q", named(before))
	}
	must.OK(t, must.Err(s.Trust(dir)))
	found := s.Agents(t.Context(), dir)
	i := slices.IndexFunc(found.Agents, func(a answers.AgentInfo) bool { return a.Name == "mine" })
	if i < 0 || !found.Agents[i].Default || found.Agents[i].Installed {
		t.Errorf("%+v", found.Agents)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "agent"), []byte("#!/bin/sh\n"), 0o700))
	if found := s.Agents(t.Context(), dir); found.Agents[0].Name != "mine" || !found.Agents[0].Default || slices.ContainsFunc(found.Agents[1:], func(a answers.AgentInfo) bool { return a.Default }) {
		t.Errorf("one that works comes first: %+v", found.Agents)
	}
}
