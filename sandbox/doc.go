// Package sandbox puts walls around what an agent starts: the world is read-only but for
// the folder, the agent's own state and a private temporary folder, and secrets don't
// exist. It knows no loops and no backends: a command goes in, one behind walls comes out.
// What can't be walled isn't started.
//
// Raise tries walls for a folder, and Wrap makes a command one behind them: mounts.go and
// repository.go lay out what is there, world.go has as data what isn't, bubblewrap.go says why it
// can't be had and what helps. backends' Scope.Walls is the only place that walls come from, and
// what an agent needs inside is data of its backend. runtime.go does the same with an npm package,
// by a script of ours (runtime.mjs) that node is given on its command line; refused.go reads what
// walls refused from the words of tools.
//
// named.go has the paths that the user names, found once; bounds.go how much a run may take.
// toolconfig.go has as data what the user's programs obey in a folder; guard.go and planted.go tell
// what of that a run has made.
package sandbox
