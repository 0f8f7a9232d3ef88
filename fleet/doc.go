// Package fleet runs loops on many machines. A loop is a Record on a bus; workers take
// one iteration of it at a time, run it as a child (ralph-lsp run --once) in a
// checkout of its own, and put what came of it back for whoever takes the next one.
// The package knows no engine: package natsbus has the one that there is.
//
// A Record is a loop on the bus, and its methods are all that can happen to it (record.go, no
// clocks, no network); a Ledger keeps the limits of all loops. A Worker takes a loop by a ticket,
// which comes back when its lease isn't renewed, makes a checkout (checkout.go), runs one iteration
// as a child (child.go, ralph-lsp run --once, which ends with its input), and puts checkpoint,
// state and transcript on the bus, once per attempt, before the record says that they count. A
// record changes by compare-and-set and names the attempt: what a worker says that has lost its
// loop is refused.
//
// presence.go says which workers are there, avoid.go leaves loops to others on a machine where
// attempts fail, sweep.go takes away what nobody wants any more. What a worker does is told to
// observers (observe.go). bus.go is the interface of the bus. What a child says of its loop's state
// is shown on the bus for as long as it runs (status.go combines that with the record), and what
// others ask of it is brought to its process (asked.go). Who commands a loop of the bus has a
// Handle of it, as of any loop.
//
// Workers of two versions share a bus: records and the ledger keep what a version doesn't know
// (carry.go), so every change of them only adds keys that may be left out. What older workers would
// come to harm with has a name in the needs of the record or ledger: they leave it alone. This version needs none.
//
// # Iterations
//
// A worker runs a loop's iterations in one child, as long as it gets them one after the other. After each, the child writes
// down all with which another process could go on, prints its _ralph/end with "once", and waits for a line "next" on its
// input. The worker puts checkpoint, state and transcript on the bus, commits the record and gives the ticket back: so
// nothing counts that isn't on the bus. A child ends instead when the loop waits, pauses or is over, its attempt came to
// nothing, it was given other flags, a lease or a message meanwhile, its checkout goes, the worker has more children than
// slots, or its lease is over.
//
// A checkpoint without changes is put on the bus again, without git. A new one is the tree of the loop's last snapshot where
// that has all files as they are. It hasn't where snapshots leave something out that a checkpoint has (sandbox.hide, large
// files, notes, submodules), where a check or the loop itself has changed files since, in more than 500 entries, and without
// snapshots: then git looks at all files. A fleet's loop has its snapshots byte for byte, through no filter.
//
// # Lanes
//
// What a loop needs of a worker (labels, an agent, walls, its queue) is its lane: a subject ralph.work.PRIORITY-LANE.LOOP in
// RALPH_WORK, with a consumer for each priority. Workers take loops from those lanes alone whose needs they have, so nobody
// looks at loops that nobody can take. RALPH_LEDGER says which lanes there are ("lanes"), and has the ids of the loops of
// each name ("name-..."). A loop whose needs have changed moves to its lane when a worker without them takes it.
//
// # Lines
//
// Each line of a child goes into the file of its attempt, loop/ID/ATTEMPT/log, which the bus keeps once the attempt counts,
// and to RALPH_LIVE, which drops it then. A reader's position is an attempt and a number of lines in it. Package client joins
// both; a line that is lost on its way comes with the file. An attempt that comes to nothing is gone with what it said.
//
// # Limits
//
// RALPH_LEDGER has what iterations have reserved and what has been spent. An iteration is reserved in "ledger" under a budget
// or a limit of each hour, in "key-..." under a number at once of its key, else in one of 32 values "loops-...", by the
// loop's id; and in "queue-..." besides, if it has a queue. So slots don't wait for each other's changes. Sums are over all.
package fleet
