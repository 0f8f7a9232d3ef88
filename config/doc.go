// Package config knows ralph.toml: its keys, their meaning, the mistakes of a file, at their place, and the settings
// that a folder's and a user's file give together. It starts nothing.
//
// One table has the keys; checks, settings, an editor's help, the schema and the documentation are made of it. All
// mistakes in a file are found at once, each with its place, and each setting says where its value comes from. A
// folder's file that names commands is obeyed only when it is trusted (trust.go), and loosens nothing before
// (yield.go). fleet.go knows the user's fleet.toml in the same way.
package config
