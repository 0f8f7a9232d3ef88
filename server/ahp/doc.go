// Package ahp makes loops sessions of VS Code: it is a host of the Agent Host Protocol, version 0.9, in
// which a client sends actions, and each client hears all that were accepted, in one order.
//
// A Host stands between its clients, which are windows, and an agent of the acp package, which knows
// how a loop's updates, questions and endings are told. What differs is that an iteration is a turn of
// its own, that several windows show the same session, and that a window can come and go: a loop is
// the host's, and ends with it.
//
// host.go is the process: who may connect, and when it ends. client.go answers a window, session.go is
// what is done in a session, turn.go makes its turns of what the agent tells, and changeset.go says what
// its loop changed.
package ahp
