// Package setup is what a loop is set up with: its folder, agents, hats, steps, limits and check
// (Config), what of that can't be had (Check, Doubts), and what each of its runs is told (Brief,
// BriefOf) and has to say (Completion).
//
// A Config is made once, by loop/start, and a loop changes nothing of it but what the state file
// of one that goes on says. A Role is another agent: one that listens, is called in a row, reviews,
// or stands in. As makes the configuration of a run by it.
//
// It knows nothing of a loop under way. What a run is told of that comes with a Run, which the
// engine fills.
package setup
