// Package terminal is what the programs show to who sits at a terminal, or print into a pipe.
//
// A Style draws updates of the wire, as a journal, a session file or a fleet's bus has them; New
// chooses one (style.go). For people there is one, told (style_told.go): it knows what is said of a
// loop and when. How that looks is its look's, of which there are two: console prints line
// by line, pretty renders markdown and keeps a live line below (style_console.go, style_pretty.go,
// liveline.go). For programs jsonStyle writes the updates as they are. A Display shows a loop of
// this process by its journal, so that no terminal makes an agent wait (display.go).
//
// All that is printed passes an Output that stands in front of stdout: it remembers that a write has
// failed, and lets nothing through that a terminal obeys but our own codes (output.go). The
// rest is what both need: text that is cut and wrapped by cells (text.go), colours (palette.go),
// markdown (markdown.go, tables.go, blocks.go), questions that are answered where the loop runs
// (question.go), and job control, so that nothing is drawn over another program (job_unix.go). Sentences that the
// editors say too are wire's; those that name command lines
// are in phrases.go.
package terminal
