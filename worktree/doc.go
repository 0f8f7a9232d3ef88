// Package worktree makes and finds the git worktrees that loops work in: one of the
// user's repository, on a branch of its own, beside it. It runs git's program and none
// of the repository's hooks.
//
// A worktree of ours has a marker in git's own folder for it, so that it goes with it.
// While one is made, a record beside those says what of it may be there already, and
// its maker holds a lock on it. Who was killed meanwhile holds none: the next start
// takes away what the record names.
//
// A Making isn't whole before Done; record.go takes away what one leaves that was killed. land.go
// brings what a loop did to the user's branch: compute.go makes the merge of objects alone,
// leftover.go finds what isn't committed and what would be in the way, and one git merge --ff-only
// does the rest. finish.go takes the tree away, by the same record. past.go knows the trees that
// are gone, for the history. find.go starts no git, as editors ask often, and believes no folder
// that only says of itself that it is such a tree.
package worktree
