// Package documents looks at the prompts, state files and ralph.toml that an editor has open.
//
// It tells what is wrong in them and how to mend it, completes keys and values, explains them, and
// offers what can be done with a loop's file.
package documents
