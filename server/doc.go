// Package server is the server of editors: it carries out their commands.
//
// commands.go is the table of commands. manager.go puts together the parts that carry them out: the launcher runs our
// loops; the starter makes their configurations; controls are the commands about an existing loop, packages of their
// own those about past work; questions (ask.go, tell.go) asks a user without a plugin.
package server
