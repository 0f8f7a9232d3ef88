// Package engine drives a loop: it runs an agent again and again with the same
// prompt and decides after each run whether to go on. It speaks to agents and
// to the state file through interfaces of its own, and has never heard of
// editors, terminals or JSON-RPC.
//
// Start takes the folder and begins a goroutine: nextRun reads the state file and claims the coming
// iteration, runOnce runs an agent and watches its limits, loop/engine/judge (no clocks, no
// files) says how the run went and whether the loop ends, wait.go waits. ledger.go keeps in the loop's record what
// is spent, while it is spent and beside the loop's own work. terms.go puts back what loosens a
// loop in its file while a run is at work, and asks. loop/engine/till counts what loops spend that
// agents start. loop/engine/snapshots says what iterations changed, and whether
// that is anything new, also by what their tools did (loop/engine/deeds).
//
// A Loop is built in floors (floors.go), each with the state that is its alone: the ground tells how
// the loop stands, talks are between user and agents, books are what is kept, runs start agents and
// watch them, checks find out what their work is worth, turns choose a hat, and the engine on top
// decides. A floor knows what is below it. Only the engine knows all.
//
// A promise passes a row of gates. loop/engine/proof decides by what they say; gate.go asks them, each in
// a file of its own (command.go, diagnostics.go, reviewer.go), and verify.go does what follows. What a loop is set up with, and what its runs
// are told, is loop/engine/setup's. Where an iteration has steps, a crew is its
// agent: to whoever waits for the run or ends it, it is one, and each member of it is a run of its
// own, shown below a call with its name (below.go). hats.go tells agents their roles and takes down
// what they publish. loop/engine/guidance knows which of the user's words are
// for which agent, live.go hands them over.
//
// obey.go is the side of the socket where other processes ask, departure.go a loop's way into a
// process of its own. Where the loop is kept, session.go says only when what is to be there.
package engine
