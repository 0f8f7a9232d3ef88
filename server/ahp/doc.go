// Package ahp makes loops sessions of VS Code: it is a host of the Agent Host Protocol, version 0.9, in
// which a client sends actions, and each client hears all that were accepted, in one order.
//
// A Host stands between its clients, which are windows, and loops. What a session does with its loop is a chat.Session,
// whose updates, questions and endings the host tells in the protocol's terms: an iteration is a turn of its own. Several
// windows show the same session, and a window can come and go: a loop is the host's, and ends with it.
//
// host.go is the process: who may connect, and when it ends. client.go answers a window, session.go is
// what is done in a session, turn.go makes its turns of what the loop tells, and changeset.go says what
// its loop changed.
package ahp
