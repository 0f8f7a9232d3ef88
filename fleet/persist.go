package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// persistLimit bounds how long a result is kept for a bus that is away, and stopLimit how long
// by a worker that is to stop: what ends it by force is due then.
const (
	persistLimit = 10 * time.Minute
	stopLimit    = 30 * time.Second
)

// persist does something with the bus, as often as it takes while that is away. What
// somebody else decided meanwhile stays so.
func (w *Worker) persist(ctx context.Context, a *attempt, do func() error) error {
	begun, stopped := time.Now(), ctx.Done()
	late := time.NewTimer(persistLimit)
	defer late.Stop()
	for {
		err := do()
		if err == nil || errors.Is(err, ErrNotOur) || errors.Is(err, ErrNotFound) {
			return err
		}
		a.log.Warn("the bus doesn't take it; trying again", "error", err)
		a.ticket.Renew(context.WithoutCancel(ctx), a.lease)
		select {
		case <-late.C:
			return err
		case <-stopped:
			stopped = nil
			late.Reset(min(stopLimit, persistLimit-time.Since(begun)))
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// upload puts the files of an attempt on the bus, even when ctx is done meanwhile. They count once the attempt does.
func (w *Worker) upload(ctx context.Context, a *attempt, tree string, transcript *os.File, hasState bool) (err error) {
	defer timed(ctx, StageUpload)()
	said, _ := a.child.Said()
	bundle, err := w.checkouts.checkpoint(context.WithoutCancel(ctx), a.Record, tree, said.Tree)
	if err != nil {
		return fmt.Errorf("making a checkpoint: %w", err)
	}
	if err := w.uploadIn(ctx, a, a.CheckpointFile(a.Attempt), filepath.Dir(bundle), filepath.Base(bundle)); err != nil {
		return err
	}
	if hasState {
		if err := w.uploadIn(ctx, a, a.StateFile(a.Attempt), tree, stateName); err != nil {
			return err
		}
	}
	return w.uploadFile(ctx, a, a.TranscriptFile(a.Attempt), transcript)
}

// uploadIn uploads a file of a folder; no link of an agent's leads out of that.
func (w *Worker) uploadIn(ctx context.Context, a *attempt, name, dir, path string) error {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := regular.OpenIn(root, path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return w.uploadFile(ctx, a, name, f)
}

func (w *Worker) uploadFile(ctx context.Context, a *attempt, name string, f *os.File) error {
	return w.persist(ctx, a, func() error {
		if errors.Is(context.Cause(ctx), ErrNotOur) {
			return ErrNotOur
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return w.Bus.PutFile(context.WithoutCancel(ctx), name, f)
	})
}
