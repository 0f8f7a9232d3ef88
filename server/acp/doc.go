// Package acp is an agent of the Agent Client Protocol, version 1: Zed, JetBrains, codecompanion, agent-shell, acpx and
// whoever else speaks it start it and run loops in it.
//
// To its client it is an agent whose one turn (session/prompt) is a whole loop. It has no policy and hardly a word of its
// own: what a session does with its loop is a chat.Session, and an Agent says that in the protocol's terms.
//
// agent.go answers the client, session.go is one of its sessions, prompt.go what is typed there, update.go makes
// the client's updates of the loop's, and ask.go the client's questions. server/acp/rpc is one side of a conversation.
package acp
