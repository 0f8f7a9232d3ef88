package cli

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// helpAll is the flag of a command whose help is short.
const helpAll = "help-all"

// BriefHelp lets a command's help begin short: the flags in groups, without those that are
// given seldom, each with the first part of its usage. --help-all shows everything.
func BriefHelp(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolFunc(helpAll, "all flags, explained in full", func(string) error { return f.Set("help", "true") })
}

// isBrief says whether the help of a command is the short one.
func isBrief(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup(helpAll)
	return f != nil && !f.Changed
}

// flagHelp is what the help of a command says of its flags.
func flagHelp(cmd *cobra.Command) string {
	if cmd.Flags().Lookup(helpAll) == nil {
		return "Flags:\n" + strings.TrimRight(cmd.LocalFlags().FlagUsagesWrapped(helpWidth()), "\n")
	}
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	var heads []start.Group // of each flag
	for _, group := range groupsOf(cmd) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if in, seldom := start.GroupOf(f); in == group && !f.Hidden && !(isBrief(cmd) && (seldom || f.Name == "help")) {
				show(set, f, isBrief(cmd))
				heads = append(heads, group)
			}
		})
	}
	var b strings.Builder
	gap, last := "\n", start.Group("none yet")
	if isBrief(cmd) {
		gap = ""
	}
	for line := range strings.Lines(set.FlagUsagesWrapped(helpWidth())) {
		if begins := strings.HasPrefix(strings.TrimPrefix(line, "    "), "  -"); begins { // what goes on is below the usages
			if heads[0] != last {
				last = heads[0]
				b.WriteString(gap + cmp.Or(string(last), "More") + ":\n")
			}
			heads = heads[1:]
		}
		b.WriteString(line)
	}
	return strings.Trim(b.String(), "\n")
}

// commonWidth is how wide a terminal is that nobody has made narrower.
const commonWidth = 80

// helpWidth returns the width of the help, or of a narrow terminal.
func helpWidth() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 && width < commonWidth {
		return width
	}
	return format.HelpWidth
}

// groupsOf returns the groups of a command's flags: the groups of all starts, the command's own, and the rest.
func groupsOf(cmd *cobra.Command) []start.Group {
	groups := start.Groups()
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if g, _ := start.GroupOf(f); g != "" && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	})
	return append(groups, "")
}

// show adds a flag to a set whose usages are printed.
func show(set *pflag.FlagSet, f *pflag.Flag, brief bool) {
	shown := *f
	if brief {
		shown.Usage, _, _ = strings.Cut(f.Usage, "; ")
	}
	if value, _ := pflag.UnquoteUsage(f); value != "" && f.NoOptDefVal != "" { // else its default stands behind the name
		_, usage := pflag.UnquoteUsage(&shown)
		set.Bool(f.Name+"[="+value+"]", false, usage)
		return
	}
	set.AddFlag(&shown)
}

// AddDescribe adds the flag with which a command that lands prints what a pull request says instead.
func AddDescribe(cmd *cobra.Command, describes *bool) {
	cmd.Flags().BoolVar(describes, "describe", false, "land nothing: write title and body of a pull request, in Markdown")
	for _, name := range []string{"squash", "rebase", "message", "keep", "discard", "dry-run", "yes"} {
		if cmd.Flags().Lookup(name) != nil {
			cmd.MarkFlagsMutuallyExclusive("describe", name)
		}
	}
}
