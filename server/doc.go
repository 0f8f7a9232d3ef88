// Package server is what editors speak to: what carries out their commands.
//
// commands.go is the table of commands. manager.go puts together what carries them out: the launcher
// runs our loops; the starter makes their configurations; controls are the commands about a loop that
// is there, rooms of their own those about what loops have done; questions (ask.go, tell.go) asks a
// user without a plugin.
package server
