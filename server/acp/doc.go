// Package acp makes a sidecar an agent of the Agent Client Protocol, version 1: Zed, JetBrains,
// codecompanion, agent-shell, acpx and whoever else speaks it start it and run loops in it.
//
// An Agent stands between two conversations. To its client it is an agent whose one turn
// (session/prompt) is a whole loop; to the sidecar it is one more editor, with the commands and
// updates of docs/PROTOCOL.md. It has no policy and hardly a word of its own: what a loop is, may
// and says comes from there.
//
// agent.go answers the client, session.go is what one of its sessions has to do with loops,
// update.go makes the client's updates of the sidecar's, and ask.go the client's questions. server/acp/rpc
// is one side of a conversation.
package acp
