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
package fleet
