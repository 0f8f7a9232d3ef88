// Package engine drives a loop: it runs an agent again and again with the same
// prompt and decides after each run whether to go on. It speaks to agents and
// to the state file through interfaces of its own, and has never heard of
// editors, terminals or JSON-RPC.
//
// Start takes the folder and begins a goroutine, which waits only for its inbox (Inbox.Serve): agents and commands run
// elsewhere (executor), and come as messages. Commands do as well (obey.go), and files are read and written elsewhere, one
// after the other. nextRun reads the state file and claims the coming iteration, runOnce
// runs an agent and watches its limits, and judge.Decide says whether the loop ends. wait.go waits,
// ledger.go keeps what is spent, terms.go puts back what loosens a loop in its file while a run is at work, and asks.
//
// A Loop is what others have of it. Its engine is made of parts (parts.go), which share a core: what the loop is, and how
// it stands. events tell observers, record other processes. files are the state file and what is kept; conversation,
// questions, waits and spending are between the loop and its user; runs, checks and
// planning are about the work. Each part is a type with a state of its own, and names the parts that it uses. The engine
// alone decides.
//
// Below it are rooms that know no Loop: each is handed what it needs, and the engine acts on what it says. setup is what a
// loop is set up with, and what its runs are told. progress is how the loop stands, which that goroutine alone changes and
// looks at: a Status is a question to it. judge says how a run went, verification whether its work is what was asked
// for (gate.go asks the gates), snapshots what it changed. executor has agents and commands work, tasks says what of a plan they do.
// fallback.Policy, hats.Policy, budget.Policy, tasks.Policy, steering.Policy, goal.Policy, stagnation.Policy and
// verification.Policy are values that say what they want before a run, meanwhile and after it. tooluse and rules are small
// ones.
//
// obey.go carries out commands, those of the socket too. Where the loop is kept, session.go says only when what is
// to be there.
package engine
