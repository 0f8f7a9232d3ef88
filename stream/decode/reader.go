package decode

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/lines"
)

// Reader reads one run's output and passes its events on. Promises are found
// later, in the Result; topics become events right behind their message.
type Reader struct {
	Format  Format
	Handler stream.Handler  // may be nil
	OnLine  func(done bool) // after each line, malformed ones too; done is Decoder.Done; may be nil
	Rest    func()          // called before each Read: all that came before is handed on; may be nil
}

// Run reads r to its end. The error says that it couldn't; the Result then holds
// what came until there. A Complete event with the Result is emitted in every
// case.
func (rd Reader) Run(r io.Reader) (stream.Result, error) {
	start := time.Now()
	run := readerRun{Reader: rd}
	err := run.read(r)
	result := run.result(err)
	result.Duration = time.Since(start)
	run.emit(stream.Complete{Result: result})
	return result, err
}

// readerRun is the state of a Reader during a run.
type readerRun struct {
	Reader
	decoder    Decoder
	summary    summary // of which Lines and the like count from the beginning
	broken     bool    // the last line is the beginning of an event
	done       bool    // before the stream's end meant anything
	understood bool    // there was an event
}

func (run *readerRun) read(r io.Reader) (err error) {
	if run.decoder, err = NewDecoder(run.Format); err != nil {
		return err
	}
	emit := run.emit // made once, not for each line
	in := lines.NewReader(beforeRead{r, run.Rest}, lines.Max)
	for {
		line, isCut, end := in.Next()
		if err = end; err != nil {
			break
		}
		run.line(line, isCut, emit)
	}
	run.summary.Lines += in.Skipped
	run.summary.SkippedLines += in.Skipped
	run.done = run.decoder.Done()
	run.decoder.Close(emit)
	if err != io.EOF {
		return fmt.Errorf("reading the agent's output: %w", err)
	}
	return nil
}

func (run *readerRun) line(line []byte, cut bool, emit func(stream.Event)) {
	if cut && strings.TrimSpace(stream.Sanitize(string(line))) == "" {
		return // a terminal sequence behind the last line is no line
	}
	run.summary.Lines++
	run.summary.CutOff = cut && run.Format != FormatText
	err := run.decoder.Decode(line, emit)
	run.broken = run.summary.CutOff && err != nil && strings.HasPrefix(strings.TrimSpace(string(line)), "{")
	if err != nil {
		run.summary.SkippedLines++
	}
	if run.OnLine != nil {
		run.OnLine(run.decoder.Done())
	}
}

// emit hands the decoder's next event on.
func (run *readerRun) emit(e stream.Event) {
	run.understood = true
	e = bounded(e)
	run.summary.add(e)
	if run.Handler != nil {
		run.Handler.Handle(e)
	}
}

// maxError is how much of an error's text is kept, in bytes: people read it in a line or a few, and journals and
// sessions keep it. Its meaning was decided by the whole text.
const maxError = 2 << 10

// bounded is an event whose texts of errors, which agents and providers write, aren't longer than anybody reads.
func bounded(e stream.Event) stream.Event {
	switch e := e.(type) {
	case stream.Error:
		e.Message = excerpt(e.Message)
		return e
	case stream.Retry:
		e.Message = excerpt(e.Message)
		return e
	case stream.Compaction:
		e.Error = excerpt(e.Error)
		return e
	case stream.TurnEnd:
		e.Error, e.StopReason = excerpt(e.Error), excerpt(e.StopReason)
		return e
	case stream.Answered:
		e.Failure = excerpt(e.Failure)
		return e
	}
	return e
}

func excerpt(text string) string {
	text, _, _ = format.Excerpt(text, maxError)
	return text
}

// beforeRead is a reader that calls a function, if there is one, before it may have to wait.
type beforeRead struct {
	io.Reader
	call func()
}

func (r beforeRead) Read(b []byte) (int, error) {
	if r.call != nil {
		r.call()
	}
	return r.Reader.Read(b)
}

// result adds to the summary how the stream ended. readErr is why it couldn't
// be read to its end, or nil.
func (run *readerRun) result(readErr error) stream.Result {
	result := run.summary.Result
	if n := len(run.summary.open); n > 0 {
		result.AtWork = run.summary.open[n-1].text
	}
	if d, ok := run.decoder.(interface{ Ignored() string }); ok {
		result.Ignored = d.Ignored()
	}
	result.Terminal = run.decoder != nil && run.decoder.Done()
	if run.broken { // a stream that ends in the middle of an event isn't done
		result.Terminal = run.done
	}
	switch {
	case result.Terminal || result.Failure != nil:
	case readErr != nil:
		result.Failure = &stream.Error{Message: readErr.Error()}
	case result.Lines == 0:
		result.Failure = &stream.Error{Message: "the agent printed nothing"}
	case run.Format == FormatText:
	case !run.understood && result.SkippedLines > 0:
		result.Failure = &stream.Error{Message: fmt.Sprintf("the agent's output isn't %s", run.Format)}
	case run.broken:
		result.Failure = &stream.Error{Message: "the stream was cut off in the middle of an event", Kind: stream.KindServer}
	default:
		result.Failure = &stream.Error{Message: "the stream ended before the agent was done"}
	}
	return result
}
