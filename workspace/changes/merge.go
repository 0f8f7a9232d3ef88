package changes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// restoration is what is to become of files.
type restoration struct {
	in      *archive
	files   *index
	as      snapshot
	markers bool               // where both sides changed the same place
	now     map[string]version // as they are
	then    map[string]version // as they shall be
	marked  map[string]bool    // those that get markers
	refused map[string]string  // why they stay
}

// restoration is one of nothing yet.
func (s *Snapshots) restoration(as snapshot) restoration {
	return restoration{in: s.in, files: s.files, as: as, now: map[string]version{}, then: map[string]version{},
		marked: map[string]bool{}, refused: map[string]string{}}
}

func (p *restoration) outcome() Undone {
	var done Undone
	for _, path := range slices.Sorted(maps.Keys(p.then)) {
		if p.marked[path] {
			done.Merged = append(done.Merged, path)
		} else {
			done.Paths = append(done.Paths, path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.refused)) {
		why := p.refused[path]
		done.Refused = append(done.Refused, Refusal{path, why, why == whyEdited && p.as.Kind == kindUndo})
	}
	return done
}

// refuse leaves a file as it is.
func (p *restoration) refuse(path, why string) {
	delete(p.then, path)
	p.refused[path] = why
}

// takeBack adds what takes back one span of snapshots.
func (p *restoration) takeBack(ctx context.Context, sp span, last snapshot, within []string) error {
	changed, err := Diff{p.in}.entries(ctx, sp.from.tree, sp.to.tree, within)
	if err != nil || len(changed) == 0 {
		return err
	}
	since, err := Diff{p.in}.entries(ctx, sp.to.tree, last.tree, within)
	if err != nil {
		return err
	}
	for path, e := range changed {
		if p.refused[path] != "" {
			continue
		}
		if _, known := p.then[path]; !known {
			p.now[path] = e.new
			if later, ok := since[path]; ok {
				p.now[path] = later.new
			}
			p.then[path] = p.now[path]
		}
		merged, why, err := p.merge(ctx, p.then[path], e.new, e.old)
		if err == nil && why == whyEdited && p.markers {
			merged.oid, why, err = p.mark(ctx, sp, p.then[path].oid, e.new.oid, e.old.oid)
			p.marked[path] = true
		}
		if err != nil {
			return err
		}
		if why != "" {
			p.refuse(path, why)
			continue
		}
		p.then[path] = merged
	}
	return nil
}

// merge is what becomes of a file that is mine when the change from base to
// theirs is taken; why says that it can't be.
func (p *restoration) merge(ctx context.Context, mine, base, theirs version) (merged version, why string, err error) {
	none := version{}
	switch {
	case base.mode == gitlink || theirs.mode == gitlink || mine.mode == gitlink:
		return none, whySubmodule, nil
	case mine == base:
		return theirs, "", nil
	case mine == theirs:
		return mine, "", nil
	case mine == none:
		return none, whyGone, nil
	case base == none:
		return none, whyThere, nil
	case theirs == none:
		return none, whyNew, nil
	case !isFile(mine) || !isFile(base) || !isFile(theirs):
		return none, whyKind, nil
	}
	merged = mine
	if mine.mode == base.mode {
		merged.mode = theirs.mode
	}
	switch {
	case mine.oid == base.oid:
		merged.oid = theirs.oid
	case base.oid != theirs.oid && mine.oid != theirs.oid:
		merged.oid, why, err = p.mergeFile(ctx, nil, mine.oid, base.oid, theirs.oid)
	}
	return merged, why, err
}

func isFile(v version) bool { return strings.HasPrefix(v.mode, "100") }

// mark merges three texts that can't be into one with conflict markers.
func (p *restoration) mark(ctx context.Context, sp span, mine, base, theirs string) (merged, why string, err error) {
	text, err := p.in.git.Run(ctx, nil, "cat-file", "blob", mine)
	if err != nil {
		return "", "", err
	}
	if bytes.HasPrefix(text, []byte("<<<<<<< ")) || bytes.Contains(text, []byte("\n<<<<<<< ")) {
		return "", whyNested, nil
	}
	labels := []string{"--diff3", "-L", "yours", "-L", fmt.Sprintf("after iteration %d", sp.to.Number), "-L",
		fmt.Sprintf("before iteration %d", sp.first.Number)}
	merged, _, err = p.mergeFile(ctx, labels, mine, base, theirs)
	return merged, "", err
}

// mergeFile merges three texts into one that git keeps. Where they can't be, that has conflict markers.
func (p *restoration) mergeFile(ctx context.Context, how []string, oids ...string) (merged, why string, err error) {
	merged, err = p.in.git.MergeFile(ctx, filepath.Join(p.in.home, mergeName), how, oids...)
	switch {
	case errors.Is(err, git.ErrConflict):
		return merged, whyEdited, nil
	case errors.Is(err, git.ErrBinary):
		return "", whyBinary, nil
	}
	return merged, "", err
}
