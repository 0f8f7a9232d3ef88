// Package server is what editors speak to, and the only room that knows LSP.
//
// commands.go is the table of commands. manager.go puts together what carries them out: the
// workspace has the folders, including those of loops in their worktrees (trees.go); loops finds
// the loops in them; the lookout (watch.go, follow.go) sees what other processes do there; the
// launcher runs our loops; the starter makes their configurations; controls, reader and reviewer
// (changes.go: what loops changed) are the other commands; questions (ask.go, tell.go) asks a user
// without a plugin. diagnose.go asks the editor's language servers. problems.go shows where a check
// failed. afar.go lists loops of other machines with ours.
package server
