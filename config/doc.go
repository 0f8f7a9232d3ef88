// Package config knows ralph.toml: which keys there are, what they mean, what
// is wrong with a file, at its place, and what a folder's and a user's file
// say together. It starts nothing.
//
// Keys is the one table from which checks, settings, an editor's help, the
// schema and the documentation come.
//
// One table has the keys of ralph.toml, and schema, completion and documents are made of it. All
// mistakes in a file are found at once, each with its place, and each setting says where its value
// comes from. A folder's file that names commands is obeyed only when it is trusted (trust.go), and
// loosens nothing before (yield.go). fleet.go knows the user's fleet.toml in the same way.
package config
