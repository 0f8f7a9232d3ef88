package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// newAgents lists the agents that people describe in markdown files.
func newAgents() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the agents that a loop in the folder can use",
		Long: `List the agents that a loop in the folder can use. Agents are markdown files: a front
matter with name, description, tools and model, and a system prompt behind it. They are
looked for in ~/.pi/agent/agents and ~/.claude/agents, and in .pi/agents and
.claude/agents of the folder.`,
		Args: cli.NoArguments,
	}
	return inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		out, files, set := cmd.OutOrStdout(), filesOf(dir), agents.Read(dir)
		p := terminal.PaletteFor(out)
		if len(set.Agents) == 0 {
			fmt.Fprintln(out, "there are no agents; describe one in .pi/agents/NAME.md or .claude/agents/NAME.md, here or in your home folder")
		}
		for _, a := range set.Agents {
			mark := ""
			if needsTrust(files, a) {
				mark = p.Yellow(" (needs your trust)")
			}
			fmt.Fprintln(out, p.Bold(terminal.Line(a.Name))+" "+p.Dim(terminal.Line(a.Backend+start.Facts(a)))+mark)
			for _, line := range []string{a.Description, a.File} {
				if line != "" {
					fmt.Fprintln(out, "  "+terminal.Line(line))
				}
			}
		}
		for _, wrong := range set.Problems {
			sign := p.Red("✗ ")
			if wrong.IsWarning {
				sign = p.Yellow("! ")
			}
			fmt.Fprintln(out, sign+terminal.Line(wrong.String()))
		}
		return nil
	})
}

// needsTrust says whether an agent can't be used before its user trusts its file.
func needsTrust(files config.Files, a agents.Agent) bool {
	return a.IsFolder && files.CheckAgents([]config.Planted{start.Planted(files.Folder, a)}) != nil
}

// completeTeam completes the name of an agent.
var completeTeam = offers(func(_ *cobra.Command, dir string, _ []string, _ string) []cobra.Completion { return agentsIn(dir, "") })

// completeTeams completes the names of several, with commas between them.
var completeTeams = offers(func(_ *cobra.Command, dir string, _ []string, begun string) []cobra.Completion {
	return agentsIn(dir, begun[:strings.LastIndexByte(begun, ',')+1])
}, cobra.ShellCompDirectiveNoSpace)

// agentsIn are the agents of a folder, behind those that are named already.
func agentsIn(dir, named string) (names []cobra.Completion) {
	files, set := filesOf(dir), agents.Read(dir)
	var seen []string
	for _, a := range set.Agents {
		if slices.Contains(seen, a.Name) {
			continue
		}
		seen = append(seen, a.Name)
		about := terminal.Line(a.Description)
		if needsTrust(files, a) {
			about = strings.TrimSpace("(needs your trust) " + about)
		}
		names = append(names, cobra.CompletionWithDesc(named+a.Name, about))
	}
	return names
}
