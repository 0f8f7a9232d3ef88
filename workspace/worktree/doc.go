// Package worktree makes and finds the git worktrees that loops work in: one of the
// user's repository, on a branch of its own, beside it. It runs git's program and none
// of the repository's hooks.
//
// Each worktree of ours has a marker in git's own folder for it, so both are removed together.
// While a worktree is made, a record beside the marker says what may be there already, and the
// maker holds a lock on the record. If the maker is killed, its lock is free: the next start
// removes what the record names.
//
// A Making isn't whole before Done; record.go removes what a killed one left. land.go brings a
// loop's work to the user's branch: compute.go computes the merge from objects alone, leftover.go
// finds what isn't committed and what would be in the way, and one git merge --ff-only does the
// rest. finish.go removes the tree, by the same record. difference.go lists what landing would
// bring. past.go knows the trees that are gone, for the history. find.go starts no git, as editors
// ask often; a folder that only claims to be such a tree isn't one.
package worktree
