package start

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Found is the state file of a loop that goes on.
type Found struct {
	File string
	loopstate.State
}

// isHanding says whether hats hand over to each other.
func (f Found) isHanding() bool { return len(f.Queue.Pending) > 0 }

// FoundIn reads the state file of a folder. The error is loop.ErrNothingToGoOn
// when there is none.
func FoundIn(folder string) (Found, error) {
	file, s, err := loop.StateIn(folder)
	if bad, ok := format.FindBadByte(s.Prompt); err == nil && ok {
		err = fmt.Errorf("%s: line %d of the prompt, %s", file, bad.Line, bad)
	}
	return Found{file, s}, err
}

// takeUp makes cfg go on with the loop that was. Its state file counts as far as it may, and its check is the one of its start,
// even if the files have another one by now.
func (r *Resolver) takeUp(cfg *setup.Config) {
	was, files := r.Was, r.Settings.Files
	cfg.Continue, cfg.Stranger, cfg.Change = true, !files.HasStarted(was.LoopID), r.Start.Patch()
	r.Start.Values = r.Start.Values.Or(settings.Values{OnClose: was.Closing}).Or(was.Values.Tightening(r.Settings.Loop))
	var check verify.Check
	if check, cfg.Verification.ReviewerMark = files.CheckOf(was.LoopID); check.IsSet() {
		r.Settings.Verify = check
	}
}

// agentAgain returns the agent of a loop that goes on without agents of files: the one or the hat that the start names, else
// that of the state file. doubt names what of the state file the user has to trust first.
func (r Resolver) agentAgain(ctx context.Context, found Found) (c team, doubt, err error) {
	named := r.Start.Agent
	fromFile := named.Name == "" && named.Hat == ""
	if _, ok := r.Settings.Hats[found.Hat]; fromFile && ok && !found.isHanding() {
		named.Hat = found.Hat
	} else if fromFile {
		named.Name = found.Backend
	}
	if err := named.goOnAs(found); err != nil {
		return c, nil, err
	}
	if c.base, err = r.catalog().choose(ctx, named, Agent{}); err != nil {
		return c, nil, err
	}
	agent := c.base
	if found.isHanding() || agent.hat != "" {
		if c.roles, err = r.hats(ctx, agent, slices.Concat(r.Editor.Agent.Args, named.Args)); err != nil {
			return c, nil, err
		}
	}
	c.args = slices.Concat(agent.args, named.Args)
	isFilesAgent := fromFile || named.Hat == "" && agent.backend.Name == found.Backend
	if gone := without(found.BackendArgs, c.args); len(named.Args) > 0 && isFilesAgent && len(gone) > 0 {
		c.warn("the agent no longer has the arguments %s, which the loop was started with: those of --backend-arg replace "+
			"them; name all that it should have",
			strings.Join(format.Masked(gone), " "))
	}
	if len(named.Args) == 0 && isFilesAgent && (found.Backend != "" || len(found.BackendArgs) > 0) {
		c.args = found.BackendArgs
		if n := len(agent.args); n > 0 && !slices.Equal(found.BackendArgs[:min(n, len(found.BackendArgs))], agent.args) {
			c.warn("the agent keeps the arguments that it was started with (%s), not those of the settings by now (%s); "+
				"to use these, name them again with --backend-arg, or start anew",
				cmp.Or(strings.Join(format.Masked(found.BackendArgs), " "), "none"), strings.Join(format.Masked(agent.args), " "))
		}
	}
	isFilesProgram := fromFile && IsPath(named.Name)
	isFilesArgs := len(c.args) > 0 && len(named.Args) == 0 && !slices.Equal(c.args, agent.args)
	switch {
	case isFilesArgs: // with the program that they will go to, whatever the file says
		doubt = r.Settings.Files.CheckRun(found.File, agent.backend.Name, c.args)
	case isFilesProgram: // the arguments are the user's
		doubt = r.Settings.Files.CheckRun(found.File, found.Backend, found.BackendArgs)
	case fromFile && r.isStrangersChoice(named, found):
		doubt = r.Settings.Files.CheckRun(found.File, agent.backend.Name, c.args)
	}
	return c, doubt, nil
}

// without returns the items of a list that another one hasn't.
func without(list, other []string) (gone []string) {
	for _, item := range list {
		if !slices.Contains(other, item) {
			gone = append(gone, item)
		}
	}
	return gone
}

// filesAgain returns the agents of files of a loop that goes on: those that the start names, else those of the state file,
// else those of the steps in ralph.toml; the zero value for a loop without. All are read anew and need trust again. doubt
// names what of the state file the user has to trust first.
func (r Resolver) filesAgain(ctx context.Context, found Found) (c team, doubt, err error) {
	named := &r.Start.Agent
	isFiles := r.Start.Steps == nil && named.Hat == "" && found.Agents != ""
	_, wearsHat := r.Settings.Hats[found.Hat]
	isFilesProgram, isFilesArgs := false, false
	switch {
	case isFiles:
		steps, backend, err := parseAgentFlags(found.Agents)
		if err != nil {
			return c, nil, fmt.Errorf("%s: agents: %w", found.File, err)
		}
		if r.Start.Steps = steps; named.Name == "" {
			named.Name, isFilesProgram = backend, IsPath(backend)
		}
	case r.Start.Steps == nil && (wearsHat || found.isHanding()):
		return c, nil, nil
	}
	if err := named.goOnAs(found); err != nil {
		return c, nil, err
	}
	own := named.Args
	c, err = r.files(ctx, func(last chosen) []string {
		if len(own) == 0 && last.backend.Name == found.Backend {
			if own = found.BackendArgs; len(own) >= len(last.args) && slices.Equal(own[:len(last.args)], last.args) {
				own = own[len(last.args):]
			}
			isFilesArgs = len(own) > 0
		}
		return own
	})
	if err != nil || c.from == "" {
		return c, nil, err
	}
	c.args = slices.Concat(c.base.args, own)
	switch {
	case isFiles && !r.Settings.Files.KnowsLoop(found.LoopID): // whatever arguments the user has used before
		doubt = r.Settings.Files.CheckRun(found.File, c.base.backend.Name, c.args, found.Agents)
	case isFilesArgs, isFilesProgram:
		doubt = r.Settings.Files.CheckRun(found.File, c.base.backend.Name, c.args)
	}
	return c, doubt, nil
}
