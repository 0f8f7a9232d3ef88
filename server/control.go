package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"ralph-lsp/config"
	"ralph-lsp/loop"
	"ralph-lsp/loop/start"
	"ralph-lsp/loopstate"
	"ralph-lsp/server/rpc"
	"ralph-lsp/wire"
)

func resultOf(r *managed) wire.LoopResult {
	st := r.Status()
	return wire.LoopResult{LoopID: st.LoopID, State: string(st.State), Iteration: st.Iteration}
}

// cancel ends a loop. It answers when its agent and all that it started are gone.
func (m *manager) cancel(ctx context.Context, p wire.CancelParams) (any, error) {
	switch p.When {
	case "", wire.WhenNow, wire.WhenAfterIteration:
	case wire.WhenLeft:
		return m.discard(ctx, p.LoopParams)
	default:
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "when is %q: say now, afterIteration or left", p.When)
	}
	r, err := m.find(p.LoopID, p.Folder)
	if err != nil {
		return m.cancelElsewhere(ctx, p.LoopParams, err)
	}
	if p.When == wire.WhenAfterIteration {
		r.CancelAfterIteration()
		return resultOf(r), nil
	}
	r.Cancel()
	return resultOf(r), nil
}

// cancelElsewhere ends a loop that we don't drive, or discards one that nobody does.
func (m *manager) cancelElsewhere(ctx context.Context, p wire.LoopParams, notOurs error) (any, error) {
	path, seen, err := m.elsewhere(ctx, p)
	if err != nil {
		return nil, err
	}
	if path == "" {
		if isReason(notOurs, wire.ReasonNotRunning) {
			return noLoop, nil
		}
		return nil, notOurs
	}
	iteration, err := loop.CancelFolder(ctx, path, p.LoopID)
	if errors.Is(err, loop.ErrNotRunning) {
		return noLoop, nil
	}
	if err != nil {
		return nil, err
	}
	text := "the loop in " + wire.OneLine(filepath.Base(path)) + " is cancelled"
	return wire.LoopResult{LoopID: seen.LoopID, State: string(loop.StateEnded), Iteration: iteration, Text: text}, nil
}

// discard removes a loop that nobody drives. One that somebody goes on with by
// now stays.
func (m *manager) discard(ctx context.Context, p wire.LoopParams) (any, error) {
	path, _, err := m.elsewhere(ctx, p)
	if err == nil && path != "" {
		err = loop.DiscardFolder(path, p.LoopID)
	}
	switch {
	case path == "" && err == nil, errors.Is(err, loop.ErrNotRunning):
		return noLoop, nil
	case err != nil:
		return nil, err
	}
	return wire.LoopResult{State: wire.StateIdle, Text: "the loop in " + wire.OneLine(filepath.Base(path)) + " is discarded"}, nil
}

// noLoop is what there is where no loop is.
var noLoop = wire.LoopResult{State: wire.StateIdle, Text: "no loop is running here"}

// elsewhere returns the folder of a loop that parameters name and that we
// don't drive; "" when there is none.
func (m *manager) elsewhere(ctx context.Context, p wire.LoopParams) (path string, seen loop.Status, err error) {
	if p.Folder != "" || p.LoopID == "" {
		if path, err = m.folderPath(p.Folder); err != nil && p.Folder == "" {
			return "", seen, nil // nothing is named, and nothing is clear
		} else if err != nil {
			return "", seen, err
		}
		if err = checkStateFile(path); err != nil {
			return "", seen, err
		}
		seen, _, _, err = loop.FolderStatus(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && p.LoopID != "" && seen.LoopID != p.LoopID {
			return "", seen, nil
		}
		return path, seen, err
	}
	m.awaitLooks(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.folders {
		if f.seen != nil && f.seen.status.LoopID == p.LoopID {
			return f.path, f.seen.status, nil
		}
	}
	return "", seen, nil
}

func isReason(err error, reason string) bool {
	var wire *rpc.Error
	if !errors.As(err, &wire) {
		return false
	}
	data, _ := wire.Data.(map[string]any)
	return data["reason"] == reason
}

// change does something to a loop: here when it's ours, through its state
// file when another process drives it.
func (m *manager) change(ctx context.Context, p wire.LoopParams, here func(*managed) error, there func(folder, loopID string) error) (wire.LoopResult, error) {
	r, notOurs := m.find(p.LoopID, p.Folder)
	if notOurs == nil {
		err := here(r)
		m.status.Changed(true) // that it will pause is no event
		return resultOf(r), err
	}
	path, seen, err := m.elsewhere(ctx, p)
	if err != nil {
		return wire.LoopResult{}, err
	}
	if path == "" {
		return wire.LoopResult{}, notOurs
	}
	return wire.LoopResult{LoopID: seen.LoopID, State: string(seen.State), Iteration: seen.Iteration}, there(path, p.LoopID)
}

// pause lets the running iteration finish and starts no other.
func (m *manager) pause(ctx context.Context, p wire.LoopParams) (any, error) {
	result, err := m.change(ctx, p, func(r *managed) error { return r.Pause() }, loop.PauseFolder)
	result.Text = "the loop pauses after this iteration"
	return result, err
}

// resume lets a loop go on: a paused or waiting one, one that was interrupted,
// or one of ours that came to a cap.
func (m *manager) resume(ctx context.Context, p wire.ResumeParams) (any, error) {
	patch, err := m.typed(ctx, p.LoopParams, p.LimitParams, p.Text)
	if err != nil {
		return nil, err
	}
	result, err := m.change(ctx, p.LoopParams,
		func(r *managed) error { return r.Resume(patch) },
		func(folder, loopID string) error { return loop.ResumeFolder(folder, loopID, patch) })
	if err == nil {
		return m.bounded(ctx, p.LoopParams, result), nil
	}
	if !errors.Is(err, loop.ErrNotRunning) && !isReason(err, wire.ReasonNotRunning) {
		return nil, err
	}
	m.settle(ctx)
	r, err := m.takeUp(ctx, p, patch)
	if err != nil {
		return nil, err
	}
	return m.bounded(ctx, p.LoopParams, resultOf(r)), nil
}

// statusOf returns how the loop stands that parameters name, wherever it runs or ran.
func (m *manager) statusOf(ctx context.Context, p wire.LoopParams) (loop.Status, bool) {
	if r, err := m.find(p.LoopID, p.Folder); err == nil {
		return r.Status(), true
	}
	if path, _, err := m.elsewhere(ctx, p); err == nil && path != "" {
		now, _, _, err := loop.FolderStatus(path) // what was seen may be a moment old
		return now, err == nil
	}
	if last := m.lastOf(p); last != nil {
		return last.Status(), true
	}
	return loop.Status{}, false
}

// typed returns what the limits and the text of a command change.
func (m *manager) typed(ctx context.Context, p wire.LoopParams, given wire.LimitParams, text string) (loop.Patch, error) {
	patch, err := patchOf(given)
	if err != nil || strings.TrimSpace(text) == "" {
		return patch, err
	}
	st, _ := m.statusOf(ctx, p)
	said, err := start.ParseChange(text, st.Limits, st.StopReason.Ending().Limit)
	if err != nil {
		return patch, invalidKey("text", "%v", err)
	}
	if said.Promise != nil {
		err = checkPromise(*said.Promise)
	}
	return patch.Or(said), err
}

// bounded is a result that says what bounds the loop now.
func (m *manager) bounded(ctx context.Context, p wire.LoopParams, r wire.LoopResult) wire.LoopResult {
	if st, ok := m.statusOf(ctx, p); ok {
		r.Text = st.Limits.Line(wire.OneLine(st.Promise))
	}
	return r
}

// takeUp continues a loop that nobody drives: the one that the folder's state
// file describes, else ours that ended last.
func (m *manager) takeUp(ctx context.Context, p wire.ResumeParams, patch loop.Patch) (*managed, error) {
	path, _, err := m.elsewhere(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	options := start.Options{Agent: start.Agent{Name: p.Backend}, Limits: patch}
	last := m.lastOf(p.LoopParams)
	switch {
	case path != "":
		return m.goOn(ctx, path, options, p.Trust)
	case last == nil, last.Status().StopReason.Ending().Class == loop.ClassOK:
		return nil, loop.ErrNothingToGoOn
	case p.Backend == "":
		return m.launch(m.again(last, loop.Config{Change: options.Limits}))
	}
	settings, err := loadSettings(m.files(last.cfg.Folder))
	if err != nil {
		return nil, err
	}
	cfg, _, err := start.Resolver{Start: options, Settings: settings, Detect: m.agents.detect}.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	return m.launch(m.again(last, loop.Config{Change: options.Limits, Backend: cfg.Backend, Args: cfg.Args}))
}

// lastOf returns our loop that ended last, by its id or in a folder.
func (m *manager) lastOf(p wire.LoopParams) *managed {
	if p.LoopID != "" && p.Folder == "" {
		return m.known(p.LoopID)
	}
	path, err := m.folderPath(p.Folder)
	if err != nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.folders[path]; f != nil && f.last != nil && (p.LoopID == "" || f.last.ID() == p.LoopID) {
		return f.last
	}
	return nil
}

// again is cfg with what it takes to continue a loop of ours whose file is gone.
func (m *manager) again(last *managed, cfg loop.Config) loop.Config {
	from := last.Resumable()
	cfg.Folder, cfg.From, cfg.Continue, cfg.Version = last.cfg.Folder, &from, true, m.version
	cfg.PromiseFrom = string(config.FromStart) // if it changes
	if cfg.Backend.Command == "" {
		cfg.Backend, cfg.Args = last.cfg.Backend, last.cfg.Args
	}
	return cfg
}

// update changes limits and promise at once, the prompt with the next iteration.
func (m *manager) update(ctx context.Context, p wire.ChangeParams) (any, error) {
	patch, err := m.typed(ctx, p.LoopParams, p.LimitParams, p.Text)
	if err != nil {
		return nil, err
	}
	if p.Prompt != nil && strings.TrimSpace(*p.Prompt) == "" {
		return nil, loop.ErrEmptyPrompt
	}
	patch.Prompt = p.Prompt
	result, err := m.change(ctx, p.LoopParams,
		func(r *managed) error { return r.Update(patch) },
		func(folder, loopID string) error { return loop.UpdateFolder(folder, loopID, patch) })
	if err != nil {
		return nil, err
	}
	return m.bounded(ctx, p.LoopParams, result), nil
}

// steer queues guidance for the next iteration.
func (m *manager) steer(ctx context.Context, p wire.SteerParams) (any, error) {
	if p.Text == "" {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "text is empty: say what the next run should know")
	}
	result := wire.SteerResult{Text: "the next run is told"}
	_, err := m.change(ctx, p.LoopParams,
		func(r *managed) (err error) {
			result.GuidanceID, err = r.Steer(p.Text)
			return err
		},
		func(folder, loopID string) error { return loop.SteerFolder(folder, loopID, p.Text) })
	return result, err
}

// open shows a loop's state file in the editor.
func (m *manager) open(ctx context.Context, p wire.LoopParams) (any, error) {
	folder := p.Folder
	if r := m.known(p.LoopID); folder == "" && r != nil {
		folder = wire.FileURI(r.cfg.Folder)
	}
	path, err := m.folderPath(folder)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(path, filepath.FromSlash(loopstate.Name))
	var shown struct{ Success bool }
	err = m.ed.Request(ctx, "window/showDocument", showDocument{wire.FileURI(file), true}, &shown)
	if err == nil && !shown.Success {
		err = errors.New("it says that it can't")
	}
	if err != nil {
		return nil, fmt.Errorf("the editor doesn't open %s: %w", file, err)
	}
	return struct{}{}, nil
}

// showDocument are the parameters of window/showDocument.
type showDocument struct {
	URI       string `json:"uri"`
	TakeFocus bool   `json:"takeFocus"`
}

// output replays a loop's updates after a gap or a reload.
func (m *manager) output(_ context.Context, p wire.OutputParams) (any, error) {
	r := m.known(p.LoopID)
	if r == nil {
		return nil, failed(wire.ReasonNotRunning, fmt.Errorf("no loop %q ran in this server", p.LoopID), nil)
	}
	return r.feed.Replay(p.AfterSeq, p.Limit), nil
}

// setLevel says which updates the editor wants, of all loops.
func (m *manager) setLevel(level string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.level = level
	for _, f := range m.folders {
		if f.running != nil {
			f.running.feed.SetLevel(level)
		}
	}
}

// loops is the pull twin of ralph/status.
func (m *manager) loops(ctx context.Context, p wire.FolderParams) (any, error) {
	m.awaitLooks(ctx)
	all := m.snapshot()
	if p.Folder == "" {
		return wire.StatusResult{Loops: all}, nil
	}
	path, err := m.folderPath(p.Folder)
	if err != nil {
		return nil, err
	}
	m.lookAt(path)
	here := []wire.LoopStatus{}
	if status, ok := m.LoopIn(path); ok {
		here = append(here, status)
	} else if status, _, _, err := loop.FolderStatus(path); err == nil {
		here = append(here, wire.StatusOf(status, false))
	}
	return wire.StatusResult{Loops: here}, nil
}

func ownerOf(o loopstate.Owner) wire.Owner {
	owner := wire.Owner{PID: o.PID, Host: o.Host}
	if !o.StartedAt.IsZero() {
		owner.StartedAt = o.StartedAt.UTC().Format("2006-01-02T15:04:05Z07:00")
	}
	return owner
}
