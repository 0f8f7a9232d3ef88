// Package setup is what a loop is set up with: its folder, agents, hats, steps, limits and check (Config), which
// parts of that are impossible (Check, Doubts), what each of its runs is told (Brief, BriefOf), and how a run
// completes the loop (Completion).
//
// A Config is made once, by loop/start. A loop that goes on changes in it only what its state file says. A Role is
// another agent: one that listens, works in a step, reviews, or stands in. As makes the configuration of a run by it.
//
// It knows nothing of a loop under way. The engine fills in a Run, which has what a run is told of that.
package setup
