// Package start is what a loop is asked to do, in the words of its user: the
// flags of the command line, and the same flags in the text that an editor's
// command sends. It starts nothing.
//
// Flags, the text of an editor's command, settings and hats become a setup.Config here, and the
// worktree where one is wanted (tree.go). The terminal and the editors share it.
package start
