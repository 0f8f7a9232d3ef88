// Package soak runs loops for as long as a night and longer, with stand-ins for agents: thousands of
// iterations, kills, a git gc in the middle. It holds that an iteration costs the same at the end as at
// the beginning, and prints what it costs. make soak runs it whole, and make ci a short night.
package soak
