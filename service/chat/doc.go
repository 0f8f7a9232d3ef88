// Package chat is a user's conversation about loops: the session of an ACP client, of VS Code's chat, and of whoever shows a
// loop as turns of a chat.
//
// A Session (session.go) is about one loop of a folder: a prompt starts it or steers it (slash.go has the commands that a
// prompt may begin with), and its story is followed (follow.go). It asks Loops for what it needs, which service.Window is,
// and shows all to a Face, which writes it as its protocol has it.
package chat
