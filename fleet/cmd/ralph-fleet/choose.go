package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/fleet/submitter"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// choice says which loops a command is about: those that are named, have labels, or all.
type choice struct {
	bus    busFlags
	labels []string
	all    bool

	// Of loops that aren't named a command takes those that fit: "that hasn't ended".
	what string
	fits func(fleet.Record) bool // nil: each does

	stream     func(ctx context.Context, bus *natsbus.Bus) error // does all for every loop by itself; nil: nothing does
	submitters bool                                              // may give the command, too: the bus that it gets is a submitter.Client then
}

// thatGoOn chooses among loops that haven't ended.
func thatGoOn() choice {
	return choice{what: "that hasn't ended", fits: func(r fleet.Record) bool { return r.Phase != fleet.Ended }}
}

func (c *choice) addFlags(cmd *cobra.Command) {
	c.bus.addFlags(cmd)
	c.bus.completeLoops(cmd, anyLoops)
	cmd.Flags().StringArrayVar(&c.labels, "label", nil, "the loops with that `KEY=VALUE`; given again, those that have each")
	c.bus.completeLabels(cmd)
}

// with does something with the loops that are named, or else those with the labels, or all.
// Named loops have to have the labels.
func (c *choice) with(cmd *cobra.Command, names []string, do func(ctx context.Context, bus fleet.Bus, found []fleet.Record) error) error {
	want, err := labelsOf(c.labels)
	switch {
	case err != nil:
		return err
	case c.all && len(names) > 0:
		return fmt.Errorf("--all is every loop, and %s is one of them: leave one of both out", names[0])
	case len(names) == 0 && len(want) == 0 && !c.all && cmd.Flags().Lookup("all") != nil:
		return errors.New(nobodyNamed + ", or --all")
	case len(names) == 0 && len(want) == 0 && !c.all:
		return errors.New(nobodyNamed)
	}
	chosen := func(ctx context.Context, bus fleet.Bus) error {
		found, err := find(ctx, bus, names, cmd.ErrOrStderr())
		if err == nil {
			found, err = c.choose(found, len(names) > 0, want, cmd.ErrOrStderr())
		}
		if err != nil {
			return err
		}
		return do(ctx, bus, found)
	}
	if c.submitters {
		if is, err := c.bus.asSubmitter(cmd, func(ctx context.Context, own *submitter.Client) error {
			return chosen(ctx, own)
		}); is || err != nil {
			return err
		}
	}
	return c.bus.with(cmd, func(ctx context.Context, bus *natsbus.Bus) error {
		if c.stream != nil && c.all {
			return c.stream(ctx, bus)
		}
		return chosen(ctx, bus)
	})
}

const nobodyNamed = "say which loops: their names or ids (ralph-fleet status lists them), --label KEY=VALUE"

// choose leaves those of the loops that have the labels and, unless they are named, fit.
func (c *choice) choose(found []fleet.Record, areNamed bool, want map[string]string, notes io.Writer) (chosen []fleet.Record, err error) {
	isKnown := false
	for _, r := range found {
		if label := lacking(r, want); label != "" && areNamed {
			return nil, fmt.Errorf("%s hasn't the label %s: leave its name or the label out", r.Name, label)
		} else if label != "" {
			continue
		}
		isKnown = true
		if areNamed || c.fits == nil || c.fits(r) {
			chosen = append(chosen, r)
		}
	}
	with := ""
	if len(want) > 0 {
		with = " with " + strings.Join(c.labels, " and ")
	}
	switch {
	case len(want) > 0 && !isKnown:
		return nil, noLoopHas(c.labels, found)
	case len(chosen) == 0 && c.fits != nil:
		fmt.Fprintf(notes, "nothing to do: there is no loop%s %s\n", with, c.what)
	}
	return chosen, nil
}

// lacking is a label that a loop hasn't, KEY=VALUE; "" where it has all.
func lacking(r fleet.Record, want map[string]string) string {
	for key, value := range want {
		if has, ok := r.Labels[key]; !ok || has != value {
			return key + "=" + value
		}
	}
	return ""
}

// maxLabels is how many labels an error names: there may be one for each task.
const maxLabels = 10

// noLoopHas says which labels there are in place of those that no loop has.
func noLoopHas(labels []string, all []fleet.Record) error {
	counts := labelsIn(all)
	known := slices.Sorted(maps.Keys(counts))
	for _, label := range labels {
		if counts[label] > 0 {
			continue
		}
		if len(known) == 0 {
			return fmt.Errorf("no loop has the label %s, or any other: submit --label gives them", label)
		}
		names := strings.Join(known[:min(len(known), maxLabels)], ", ")
		if more := len(known) - maxLabels; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		return errors.New(strings.Join(strings.Fields(
			fmt.Sprintf("no loop has the label %s; %s known are %s", label, format.DidYouMean(label, "", known), names)), " "))
	}
	return fmt.Errorf("no loop has all of these labels: %s", strings.Join(labels, ", "))
}

// labelsIn counts the loops of each label, KEY=VALUE.
func labelsIn(all []fleet.Record) map[string]int {
	counts := map[string]int{}
	for _, r := range all {
		for key, value := range r.Labels {
			counts[key+"="+value]++
		}
	}
	return counts
}

// each does something to each of the chosen loops, and says what came of it.
func (c *choice) each(cmd *cobra.Command, names []string,
	do func(ctx context.Context, bus fleet.Bus, r fleet.Record) (string, error)) error {
	return c.with(cmd, names, func(ctx context.Context, bus fleet.Bus, found []fleet.Record) error {
		var problems []error
		for _, r := range found {
			text, err := do(ctx, bus, r)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n", r.ID, text)
		}
		return errors.Join(problems...)
	})
}

// find returns the loops that are named: by id, the beginning of one, or name; all of
// them where none is. What can't be read is told in notes.
func find(ctx context.Context, bus fleet.Bus, names []string, notes io.Writer) (found []fleet.Record, err error) {
	list := func() (all []fleet.Record, err error) {
		all, unread, err := bus.List(ctx)
		tellUnread(notes, unread)
		return all, err
	}
	if len(names) == 0 {
		return list()
	}
	var all []fleet.Record
	for _, name := range names {
		if r, _, err := bus.Get(ctx, name); err == nil { // there may be 100,000
			found = append(found, r)
			continue
		}
		var named []fleet.Record
		if b, isAll := bus.(*natsbus.Bus); isAll { // a submitter has a list alone
			if named, err = natsbus.Named(ctx, b, name); err != nil {
				return nil, err
			}
		}
		if len(named) == 0 {
			if all == nil {
				if all, err = list(); err != nil {
					return nil, err
				}
			}
			for _, r := range all {
				if r.Name == name || len(name) >= 4 && strings.HasPrefix(r.ID, name) {
					named = append(named, r)
				}
			}
		}
		switch len(named) {
		case 0:
			return nil, fmt.Errorf("there is no loop %s; ralph-fleet status lists them", name)
		case 1:
			found = append(found, named[0])
		default:
			var ids []string
			for _, r := range named {
				ids = append(ids, fmt.Sprintf("%s (%s)", r.ID, r.Phase))
			}
			return nil, fmt.Errorf("%d loops are called %s: say the id of one, %s", len(named), name, strings.Join(ids, " or "))
		}
	}
	return found, nil
}

// tellUnread names loops whose records can't be read.
func tellUnread(notes io.Writer, unread []string) {
	if len(unread) > 0 {
		fmt.Fprintf(notes, "%s on the bus can't be read: %s\n", format.Counted(len(unread), "loop"), stream.Line(strings.Join(unread, ", "), 200))
	}
}

// labelsOf reads labels as they are typed.
func labelsOf(pairs []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--label %s: say it as KEY=VALUE", pair)
		}
		if other, isThere := labels[key]; isThere && other != value {
			return nil, fmt.Errorf("--label %s: it is %s=%s as well, and a loop has one value of each; leave one out", pair, key, other)
		}
		labels[key] = value
	}
	return labels, nil
}

// completeLoops offers the names of the loops on the bus, and ids where two have one name:
// as first argument, or as all.
func (b *busFlags) completeLoops(cmd *cobra.Command, most int) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all := b.known(cmd)
		called := map[string]int{}
		for _, r := range all {
			called[r.Name]++
		}
		for _, r := range all {
			name, about := r.Name, string(r.Phase)
			if called[name] > 1 {
				name, about = r.ID, r.Name+", "+about
			}
			names = append(names, cobra.CompletionWithDesc(name, about))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeLabels offers the labels of the loops on the bus.
func (b *busFlags) completeLabels(cmd *cobra.Command) {
	cli.OfFlag(cmd.RegisterFlagCompletionFunc("label",
		func(cmd *cobra.Command, _ []string, _ string) (labels []cobra.Completion, _ cobra.ShellCompDirective) {
			counts := labelsIn(b.known(cmd))
			for _, label := range slices.Sorted(maps.Keys(counts)) {
				labels = append(labels, cobra.CompletionWithDesc(label, format.Counted(counts[label], "loop")))
			}
			return labels, cobra.ShellCompDirectiveNoFileComp
		}))
}

// known are the loops on the bus for a shell's completion: none where they can't be read at once.
func (b *busFlags) known(cmd *cobra.Command) []fleet.Record {
	if settle(cmd) != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	bus, err := b.dial(ctx, "completion")
	if err != nil {
		return nil
	}
	defer bus.Close()
	all, _, _ := bus.List(ctx)
	return all
}
