package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// editor answers what a loop asks for diagnostics, one answer after another; the
// last one again and again. Without paths it tells what it knew before.
type editor struct {
	before  verify.Diagnosis
	answers []func(context.Context) (verify.Diagnosis, error)

	mu    sync.Mutex
	asked [][]string
}

func (e *editor) diagnose(ctx context.Context, paths []string) (verify.Diagnosis, error) {
	if len(paths) == 0 {
		return e.before, nil
	}
	e.mu.Lock()
	answer := e.answers[min(len(e.asked), len(e.answers)-1)]
	e.asked = append(e.asked, paths)
	e.mu.Unlock()
	return answer(ctx)
}

func shows(d verify.Diagnosis) func(context.Context) (verify.Diagnosis, error) {
	return func(context.Context) (verify.Diagnosis, error) { return d, nil }
}

func silent(ctx context.Context) (verify.Diagnosis, error) {
	<-ctx.Done()
	return verify.Diagnosis{}, ctx.Err()
}

// in is an error in shop.go's line.
func in(line int, message string) verify.Diagnostic {
	return verify.Diagnostic{Path: "shop.go", Line: line, EndLine: line, Column: 1, Source: "compiler", Message: message}
}

func seen(errors ...verify.Diagnostic) verify.Diagnosis {
	return verify.Diagnosis{Seen: []string{"shop.go"}, Errors: errors, Settled: true}
}

// diagnosed is a loop whose promises pass the editor's diagnostics. Its first run
// changes a line of shop.go.
func diagnosed(t *testing.T, e *editor, configure func(*setup.Config)) *rig {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.go")
	put(t, file, "1\n2\n3\n4\n5\n6\n")
	first := promise
	first.during = func() { put(t, file, "1\n2\n3\n4\nfive\n6\n") }
	keep := kept(t, dir)
	var host setup.Host
	if e != nil {
		host.Diagnose = e.diagnose
	}
	return prepareVerified(t, nil, nil, func(c *setup.Config) {
		keep(c)
		c.Limits.MaxIterations = 5
		c.Verification.Check = verify.Check{When: verify.OnPromise, Diagnostics: verify.DiagnosticsNoNew, MaxFailures: 5}
		if configure != nil {
			configure(c)
		}
	}, first, promise).by(t, host)
}

func TestNewErrorsInTheEditorRefute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := &editor{before: seen(in(2, "old")), answers: []func(context.Context) (verify.Diagnosis, error){
			shows(seen(in(2, "old"), in(6, "undefined: x"))), shows(seen(in(3, "old"))),
		}}
		r := diagnosed(t, e, nil)
		r.over(loop.StopPromise, 2)
		if want := "the editor's diagnostics show 1 new error: shop.go:6:1: undefined: x"; !strings.Contains(r.told(1), want) || !r.log.has("verify refuted: "+want) {
			t.Errorf("the next run is told %s\n%s", r.told(1), strings.Join(r.log.lines, "\n"))
		}
		if len(e.asked) != 2 || !slices.Equal(e.asked[0], []string{"shop.go"}) {
			t.Errorf("asked of %q", e.asked)
		}
	})
}

func TestWhenTheEditorsDiagnosticsCantBeTold(t *testing.T) {
	failing := func(context.Context) (verify.Diagnosis, error) {
		return verify.Diagnosis{}, errors.New("method not found")
	}
	for why, tt := range map[string]struct {
		e         *editor
		configure func(*setup.Config)
	}{
		"no editor is attached":            {nil, nil},
		"the editor doesn't answer":        {&editor{answers: []func(context.Context) (verify.Diagnosis, error){silent}}, nil},
		"method not found":                 {&editor{answers: []func(context.Context) (verify.Diagnosis, error){failing}}, nil},
		"isn't done with shop.go":          {&editor{answers: []func(context.Context) (verify.Diagnosis, error){shows(verify.Diagnosis{Busy: []string{"shop.go"}})}}, nil},
		"there are no snapshots":           {&editor{}, func(c *setup.Config) { c.Storage.Changes.Keep = 0 }},
		"nobody had looked at the file be": {&editor{answers: []func(context.Context) (verify.Diagnosis, error){shows(seen(in(2, "old")))}}, nil},
	} {
		bubble(t, func(t *testing.T) {
			r := diagnosed(t, tt.e, tt.configure)
			time.Sleep(time.Hour)
			if st := r.Status(); st.State != loop.StatePaused || !strings.Contains(st.Unchecked, why) {
				t.Errorf("%s: %s, %q\n%s", why, st.State, st.Unchecked, strings.Join(r.log.lines, "\n"))
			}
			r.Resume(loop.Patch{Accept: true})
			r.over(loop.StopPromise, 1)
		})
	}
}

func TestALoopEndsWhileTheEditorIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		asked := make(chan struct{})
		e := &editor{answers: []func(context.Context) (verify.Diagnosis, error){func(ctx context.Context) (verify.Diagnosis, error) {
			close(asked)
			return silent(ctx)
		}}}
		r := diagnosed(t, e, nil)
		<-asked
		began := time.Now()
		r.Cancel()
		r.over(loop.StopCancelled, 1)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// A loop that goes on is compared with what was known at its start, and not with
// what came of what it has done since.
func TestWhatTheEditorKnewIsKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var begun setup.Config
		r := diagnosed(t, &editor{before: seen(), answers: []func(context.Context) (verify.Diagnosis, error){silent}}, func(c *setup.Config) { begun = *c })
		time.Sleep(time.Minute)
		left, err := r.file.Load()
		if err != nil || r.Status().State != loop.StatePaused {
			t.Fatalf("%s, %v", r.Status().State, err)
		}
		r.Interrupt()
		e := &editor{before: seen(in(2, "y")), answers: []func(context.Context) (verify.Diagnosis, error){shows(seen(in(2, "y"))), shows(seen())}}
		left.Active = true
		again := prepareVerified(t, &left, nil, func(c *setup.Config) {
			c.Continue, c.Folder, c.Storage.Changes, c.Verification.Check = true, begun.Folder, begun.Storage.Changes, begun.Verification.Check
		}, promise).by(t, setup.Host{Diagnose: e.diagnose})
		again.over(loop.StopPromise, 1)
		if !again.log.has("verify refuted: the editor's diagnostics show 1 new error: shop.go:2:1: y") {
			t.Errorf("%s", strings.Join(again.log.lines, "\n"))
		}
	})
}
