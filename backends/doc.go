// Package backends knows the coding agents: how each is called, found and
// ended, and runs one of them with everything that it starts. It has never
// heard of loops, editors or state files: a run in, stream events and an Exit out.
//
// A file has the data of one agent: arguments, prompt, output, signals, how to install it. Start
// gives a Process, Stop and Wait end it. A Scope is what the runs of one loop share. An Interactive is an
// agent's own interface on a pseudo-terminal. live.go and input.go talk to an agent while it works:
// frames on a standard input that stays open until its run is done, written from a bounded queue.
// keep_linux.go is where runs meet the reaper.
package backends
