package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/fleet/submitter"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// loopFlags are those of ralph-lsp run that a task may have. They are checked here, and
// passed on as they were given.
type loopFlags struct {
	given []string
	said  start.Options
}

func (l *loopFlags) addFlags(f *pflag.FlagSet) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = false
	start.AddFlags(own, &l.said, start.ToSubmit)
	own.VisitAll(func(flag *pflag.Flag) {
		flag.Value = recorded{flag.Value, flag.Name, l}
		if flag.DefValue == "[]" {
			flag.DefValue = "" // the help knows an empty list only without what records it
		}
	})
	f.AddFlagSet(own)
}

// recorded is a flag's value that remembers how it was given.
type recorded struct {
	pflag.Value
	name  string
	flags *loopFlags
}

func (r recorded) Set(text string) error {
	err := r.Value.Set(text)
	if err == nil {
		r.flags.given = append(r.flags.given, "--"+r.name+"="+text)
	}
	return err
}

// notHere are flags of ralph-lsp run that a worker can't obey, and why.
func notHere() map[string]string {
	flags := map[string]string{
		"C": start.OwnCheckout, "dir": start.OwnCheckout,
		"once": "workers run one iteration at a time as it is", "lease": "ralph-fleet limits sets it for all workers",
		"continue": "ralph-fleet resume lets a loop go on", "replace": "ralph-fleet cancel ends the other loop",
		"output": "ralph-fleet watch shows what a loop does", "record": "ralph-fleet watch shows what a loop does",
	}
	for _, flag := range start.Flags() {
		if flag.NotSubmit != "" {
			flags[flag.Name] = flag.NotSubmit
		}
	}
	return flags
}

// notOfSubmit says why a flag of ralph-lsp run isn't one of submit.
func notOfSubmit(cmd *cobra.Command, err error) error {
	for flag, why := range notHere() {
		if strings.HasSuffix(err.Error(), "unknown flag: --"+flag) || strings.Contains(err.Error(), "unknown shorthand flag: '"+flag+"'") {
			return fmt.Errorf("--%s is of ralph-lsp run: %s", strings.Replace(flag, "C", "dir (-C)", 1), why)
		}
	}
	return cli.FlagError(cmd, err)
}

// submit puts loops where the user's token lets them in.
func (b *busFlags) submit(cmd *cobra.Command, flags *loopFlags, s fleet.Submission, tell func(fleet.Submitted)) error {
	is, err := b.asSubmitter(cmd, func(ctx context.Context, c *submitter.Client) error { return fleet.Submit(ctx, c, s, tell) })
	if is || err != nil {
		return err
	}
	return b.with(cmd, func(ctx context.Context, bus *natsbus.Bus) error {
		q, err := join(ctx, bus, &s.Task, "")
		if err == nil {
			err = flags.money(ctx, bus, s.Task, q, cmd.ErrOrStderr())
		}
		if err != nil {
			return err
		}
		return fleet.Submit(ctx, fleet.Door{Bus: bus}, s, tell)
	})
}

func newSubmit() *cobra.Command {
	var bus busFlags
	var flags loopFlags
	var s fleet.Submission
	var asked start.Asked
	var each string
	priority := start.Choice{Value: string(fleet.Normal)}
	for _, p := range fleet.Priorities {
		priority.Of = append(priority.Of, string(p))
	}
	var labels []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "submit --repo URL|FOLDER [flags] [--] PROMPT...",
		Short: "Put a loop on the bus, or one for each line of a file",
		Long: `Put loops on the bus. Each works on a commit of the repository in a checkout of its own,
and what it does can be fetched as a branch. With --each, every line of the file is a task
(an object), and {task.field} in the prompt and the name stands for a field of it. The
same task submitted again is the same loop.

A worker runs the setup, the verification and whatever the agent does as its own user.`,
		Example: `  ralph-fleet submit --max-iterations 20 --completion-promise DONE "Make the tests pass"
  ralph-fleet submit --repo https://example.org/app.git --prompt-file PROMPT.md \
    --each files.jsonl --key anthropic`,
		Annotations: map[string]string{cli.TakesText: "prompt"},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if asked.Words = args; each != "" && asked.Issue != "" {
				return errors.New("--each fills in {task.field}, which the text of an issue can't be asked for; leave it or --issue out")
			}
			s.Plan = flags.said.Values.Plan
			if s.Prompt, err = promptOf(cmd, asked, flags.said); err != nil {
				return err
			}
			if each != "" {
				if s.Tasks, err = readTasks(each, cmd.InOrStdin()); err != nil {
					return fmt.Errorf("the tasks in %s: %w", each, err)
				}
			}
			s.Task.Priority = fleet.Priority(priority.Value)
			if s.Task.Labels, err = labelsOf(labels); err != nil {
				return err
			}
			s.Task.Flags = flags.given
			tell := func(one fleet.Submitted) { tellSubmitted(cmd.OutOrStdout(), one, asJSON) }
			return bus.submit(cmd, &flags, s, tell)
		},
	}
	cmd.SetFlagErrorFunc(notOfSubmit)
	cli.BriefHelp(cmd)
	f := cmd.Flags()
	bus.addFlags(cmd)
	asked.AddFlags(f)
	f.StringVar(&each, "each", "", "a loop for each line of `FILE`; the lines are JSON objects")
	start.AboutAgent.In(f, false, "each")
	flags.addFlags(f)
	f.StringVar(&s.Repo, "repo", ".", "a `URL` that workers reach, or a folder; a folder's repository is sent along")
	f.StringVar(&s.Commit, "commit", "", "the `COMMIT` to begin with, or a ref (default HEAD)")
	f.StringArrayVar(&s.Task.Setup, "setup", nil, "a shell `COMMAND` that prepares a checkout; may be given again")
	f.BoolVar(&s.Task.Trust, "trust", false, "let that commit's ralph.toml run commands; on the workers, as ralph-lsp trust does here")
	start.AboutPlace.In(f, false, "repo", "commit", "setup")
	start.AboutMay.In(f, false, "trust")
	f.StringVar(&s.Name, "name", "", "the `NAME` of the loop; else the task's name, or the prompt's first words")
	f.Var(&priority, "priority", "which loops are served first")
	f.StringArrayVar(&labels, "label", nil, "`KEY=VALUE` to choose loops by; may be given again")
	bus.completeLabels(cmd)
	f.StringSliceVar(&s.Task.On, "on", nil, "only on workers with this `LABEL` (gpu), system (os=linux, arch=arm64) or agent (agent=pi)")
	f.StringVar(&s.Task.Key, "key", "default", "the `NAME` of the provider's account; limits are kept for each")
	f.StringVar(&s.Task.Queue, "queue", "", "the `NAME` of the queue whose budget and workers it has (ralph-fleet queue)")
	f.Float64Var(&s.Task.Reserve, "reserve", 0, "`USD` that an iteration costs at most; kept back from the budget while it runs")
	onBus := start.Group("On the bus")
	onBus.In(f, false, "name", "priority", "label", "bus")
	onBus.In(f, true, "queue", "on", "key", "reserve", "token-file", "ca", "creds", "nkey")
	f.BoolVar(&asJSON, "json", false, "print an object per line")
	start.AboutShown.In(f, false, "json")
	return cmd
}

func tellSubmitted(out io.Writer, one fleet.Submitted, asJSON bool) {
	if asJSON {
		line, _ := fleet.Encode(one) // it was read from the bus
		fmt.Fprintf(out, "%s\n", line)
		return
	}
	word := "submitted"
	if !one.IsNew {
		word = "there already: " + string(one.Phase)
	}
	fmt.Fprintf(out, "%s  %s  %s\n", one.ID, one.Name, word)
}

// leastReserve is what a loop reserves at least under a limit of cost, in dollars, whose agent doesn't tell what it costs.
const leastReserve = 0.05

// money refuses loops whose cost nobody would know under a limit of it, and says what they may cost without one.
func (l *loopFlags) money(ctx context.Context, bus fleet.Bus, t fleet.Task, q *ledger.Queue, note io.Writer) error {
	sums, _, err := bus.Ledger(ctx, ledger.CommonPart)
	if err != nil {
		return err
	}
	limits := fleet.Record{Task: t}.Limits()
	agent, tells := l.said.Agent, decode.Format(l.said.Agent.Output).HasCost()
	if known, err := backends.Lookup(agent.Name); err == nil {
		tells = known.Output.HasCost()
	}
	switch isLimited := limits.MaxCostUSD > 0 || sums.Limits.MaxUSD > 0 || q.HasBudget(); {
	case isLimited && !tells && t.Reserve < leastReserve:
		who := agent.Name + " doesn't tell what it costs"
		if agent.Name == "" || agent.Name == config.Auto {
			who = "only a worker knows which agent it has and whether that agent reports its costs"
		}
		return fmt.Errorf("%s, so the limit of cost can't hold: say what an iteration costs at most (--reserve 0.50; at "+
			"least %.2f), or name an agent that tells it (--backend claude)", who, leastReserve)
	case sums.Limits.MaxUSD > 0 && t.Reserve > sums.Limits.MaxUSD:
		return fmt.Errorf("--reserve %.2f is more than the budget of all loops, $%.2f: it would never begin", t.Reserve, sums.Limits.MaxUSD)
	case isLimited:
		return nil
	}
	runs, most := "any number of iterations", ""
	if limits.MaxIterations > 0 {
		runs = format.Counted(limits.MaxIterations, "iteration")
		if t.Reserve > 0 {
			most = fmt.Sprintf(", %s in all if each costs what is reserved", format.USD(t.Reserve*float64(limits.MaxIterations)))
		}
	}
	fmt.Fprintf(note, "no limit of cost: a loop may have %s, whatever they cost%s; --max-cost bounds it, or ralph-fleet "+
		"limits --max-cost all loops\n", runs, most)
	return nil
}

func promptOf(cmd *cobra.Command, asked start.Asked, said start.Options) (string, error) {
	if prompt := said.PlanPrompt(); prompt != "" && !asked.IsSaid() {
		return prompt, nil
	}
	text, err := asked.Prompt(cmd.Context(), cmd.InOrStdin())
	if errors.Is(err, loop.ErrEmptyPrompt) {
		err = errors.New("there is no prompt: say what the agent should do, or give --prompt-file or --issue")
	}
	return text, cmp.Or(err, start.CheckTemplate(text))
}
