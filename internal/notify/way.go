package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
)

const (
	tries   = 3
	maxSaid = 1 << 10 // bytes of what a command says that fails
)

// Shorter in tests.
var (
	limit = 10 * time.Second // of one try
	pause = time.Second      // before the next
)

// way is one of the ways in which a user is told.
type way struct {
	Name    string
	Off     string // why it isn't one; "" where it is
	patient bool   // it leaves a user alone who has just started the loop
	send    func(ctx context.Context, n Note) error
}

// ways are all that there are, each on or off.
func ways(s settings.Notify, at At) []way {
	screen := way{Name: "terminal", Off: off(s.Terminal), patient: true}
	shows := false
	if at.Terminal == nil {
		screen.Off = cmp.Or(screen.Off, "there is none")
	} else {
		t := terminalOf(os.Getenv, at.BellOnly)
		screen.send, shows = func(ctx context.Context, n Note) error { return write(ctx, at.Terminal, t.codes(n)) }, t.notify != ""
	}
	var argv []string
	why := off(s.Desktop)
	switch {
	case why != "":
	case !at.Desktop:
		why = "the editor shows it"
	case screen.Off == "" && shows:
		why = "the terminal shows it"
	default:
		argv, why = desktop(os.Getenv)
	}
	onDesktop := program("desktop", argv)
	onDesktop.Off = why
	command := program("command", s.Command)
	if len(s.Command) == 0 {
		command.Off = "none is set"
	}
	webhook := way{Name: "webhook", send: func(ctx context.Context, n Note) error { return post(ctx, s.Webhook, n) }}
	if s.Webhook == "" {
		webhook.Off = "none is set"
	}
	return []way{screen, onDesktop, command, webhook}
}

func off(setting string) string {
	if setting == settings.Auto {
		return ""
	}
	return "off"
}

// deliver tries a few times.
func (w way) deliver(ctx context.Context, n Note) (err error) {
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return err
			case <-time.After(pause):
			}
		}
		one, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
		err = w.send(one, n)
		if err != nil && one.Err() != nil {
			err = context.Cause(one)
		}
		cancel()
		if err == nil || ctx.Err() != nil || errors.As(err, new(*backends.NotFoundError)) {
			break
		}
	}
	return err
}

// write writes to a terminal, which may be one that takes nothing at the moment.
func write(ctx context.Context, to io.Writer, text string) error {
	wrote := make(chan error, 1)
	go func() {
		_, err := io.WriteString(to, text)
		wrote <- err
	}()
	select {
	case err := <-wrote:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// program is a program with its arguments, without a shell, that gets the note on standard
// input, which names the loop's folder. Nothing that it starts outlives it.
func program(name string, argv []string) way {
	return way{Name: name, send: func(ctx context.Context, n Note) error {
		stdin, err := json.Marshal(n)
		if err != nil {
			return err
		}
		return run(ctx, fill(argv, n), string(stdin)+"\n", &head{most: maxSaid})
	}}
}

// fill puts a note into the arguments of a program, whose name is as it was set.
func fill(argv []string, n Note) []string {
	into := strings.NewReplacer("{title}", n.Title, "{text}", n.Text)
	line := slices.Clone(argv)
	for i := range line[1:] {
		line[1+i] = into.Replace(argv[1+i])
	}
	return line
}

// run runs a program outside the loop's folder, where an agent may have put what it would load. said gets what the
// program prints.
func run(ctx context.Context, argv []string, stdin string, said *head) error {
	scope, err := backends.OpenScope("")
	if err != nil {
		return err
	}
	defer scope.Close()
	p, err := backends.Start(backends.Spec{
		Backend: backends.Program(argv, outside.Dir()), Dir: outside.Dir(), Env: outside.Environ(nil), Prompt: stdin, Scope: scope, Record: said,
	})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { p.Stop(backends.QuickGrace) })
	defer stop()
	exit := p.Wait()
	if exit.Code == 0 {
		return nil
	}
	how := cmp.Or(exit.Signal, fmt.Sprintf("exit code %d", exit.Code))
	why := cmp.Or(strings.TrimSpace(exit.Stderr), said.String())
	return fmt.Errorf("%s (%s) %s", filepath.Base(argv[0]), how, why[:min(len(why), maxSaid)])
}

// head keeps the beginning of what is written, and calls full when there is more.
type head struct {
	bytes.Buffer
	most int
	full func() // may be nil
}

func (h *head) Write(p []byte) (int, error) {
	if len(p) > h.most-h.Len() && h.full != nil {
		h.full()
	}
	h.Buffer.Write(p[:min(len(p), h.most-h.Len())])
	return len(p), nil
}

// post sends a note by curl, which follows no address that a server names: the note is for the one
// that was set. A client of our own would be a fifth of the program, and each loop's process has it.
// The address may be a secret: it is on standard input, and in no error.
func post(ctx context.Context, address string, n Note) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`) // there are no lines in either
	config := fmt.Sprintf("url = \"%s\"\ndata-binary = \"%s\"\n", quoted.Replace(address), quoted.Replace(string(body)))
	said := &head{most: maxSaid}
	err = run(ctx, []string{"curl", "--disable", "--silent", "--show-error", "--globoff", "--output", os.DevNull,
		"--write-out", "%{http_code}",
		"--header", "Content-Type: application/json", "--user-agent", "ralph-lsp", "--config", "-"}, config, said)
	if answer := said.String(); err == nil && !strings.HasPrefix(answer, "2") {
		err = errors.New("the server says " + answer)
	}
	return err
}

// Result is what came of a try.
type Result struct {
	Way string
	Off string // why it isn't used
	Err error
}

// Test tells a note in all ways, one after the other.
func Test(ctx context.Context, s settings.Notify, at At, n Note) (results []Result) {
	for _, w := range ways(s, at) {
		r := Result{Way: w.Name, Off: w.Off}
		if w.Off == "" {
			r.Err = w.deliver(ctx, n)
		}
		results = append(results, r)
	}
	return results
}
