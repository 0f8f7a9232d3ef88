// Package engine drives a loop: it runs an agent again and again with the same
// prompt and decides after each run whether to go on. It speaks to agents and
// to the state file through interfaces of its own, and has never heard of
// editors, terminals or JSON-RPC.
//
// Start begins a goroutine, which waits only for its inbox (Inbox.Serve). Agents and commands
// run elsewhere (executor) and send messages; files are read and written elsewhere, one after the other; the user's
// commands come as messages, too (obey.go). nextRun reads the state file and claims the coming iteration, runOnce
// runs an agent and watches its limits, and judge.Decide says whether the loop ends. wait.go waits, ledger.go writes
// down what is spent, and terms.go puts back a change of the state file that loosens the loop during a run, and asks
// the user.
//
// A Loop is what others see. Its engine is made of parts (parts.go), which share a core: what the loop is, and how it
// stands. Each part is a type with a state of its own, and names the parts that it uses. events tell observers,
// record is how the loop stands for those who don't run on its goroutine. files are the state file and the record;
// conversation, questions, waits and spending
// are between the loop and its user; runs, checks and planning are about the work. The engine alone decides.
//
// The packages below know no Loop: they get what they need, and the engine acts on their answers. setup is what a
// loop is set up with, and what its runs are told. progress is how the loop stands; only the engine's goroutine uses
// it, and a Status is a question to that. judge says how a run went, verification whether its work is what was asked
// for (gate.go asks the gates), snapshots what it changed. executor runs agents and commands, tasks chooses tasks of
// a plan. fallback.Policy, hats.Policy, budget.Policy, tasks.Policy, steering.Policy, goal.Policy, stagnation.Policy
// and verification.Policy are values that say what they want before, during and after a run. tooluse and rules are
// small ones.
//
// # What other processes find
//
// The process that drives a loop locks its folder, opens its socket, and writes what others find of it: presence does that,
// for the keeper. The engine only says how the loop stands (setup.Presence), at each change that others see, and an agent
// begins when what leads to it is written. The owner's record (owner.json) isn't a part of loop.json: that is brought to
// the disk at each write, which an agent's tool call can't wait for, and it has to survive the machine, where a record of
// a process has nothing to say any more. What stands in the state file stays there for others too, so a record that is
// missing, or of another version, takes only the details away.
package engine
