// Package start makes a setup.Config of what a user asks for: the flags of the command line or the same flags in the text of
// an editor's command, settings and hats. It makes the worktree where one is wanted (tree.go), and starts no loop. The
// terminal and the editors share it.
package start
