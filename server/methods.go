package server

import (
	"encoding/json"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// methods has all that a client can ask for or tell.
func (s *Server) methods() map[string]rpc.Method {
	return map[string]rpc.Method{
		"initialize":  rpc.Request(s.initialize),
		"initialized": rpc.Notification(s.begin),
		"shutdown":    rpc.Request(s.shutdown),
		"exit":        rpc.Notification(s.exit),
		"$/setTrace":  rpc.Notification(func(struct{}) {}),

		"workspace/executeCommand": rpc.Aside(
			func(p executeCommandParams) (rpc.Work, error) { return s.manager.execute(p.Command, p.Arguments) }),
		"workspace/textDocumentContent":       rpc.Aside(s.manager.reader.content),
		"workspace/didChangeWorkspaceFolders": rpc.Notification(s.changeFolders),

		"textDocument/didOpen":    rpc.Notification(s.docs.DidOpen),
		"textDocument/didChange":  rpc.Notification(s.docs.DidChange),
		"textDocument/didSave":    rpc.Notification(s.docs.DidSave),
		"textDocument/didClose":   rpc.Notification(s.docs.DidClose),
		"textDocument/hover":      answered(s.docs.Hover),
		"textDocument/completion": answered(s.docs.Completion),
		"textDocument/codeAction": answered(s.docs.CodeAction),
		"textDocument/codeLens":   rpc.Request(s.docs.CodeLens),
		"textDocument/diagnostic": answered(s.docs.Diagnostic),

		"textDocument/foldingRange": answered(s.docs.FoldingRange),

		"window/workDoneProgress/cancel": rpc.Notification(s.cancelProgress),
		wire.MethodSetUpdates:            rpc.Notification(func(p wire.SetUpdatesParams) { s.manager.workspace.SetLevel(p.Level) }),
	}
}

// answered is the method of a request that can't fail.
func answered[P, R any](answer func(P) R) rpc.Method {
	return rpc.Request(func(p P) (R, error) { return answer(p), nil })
}

type executeCommandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

type contentParams struct {
	URI string `json:"uri"`
}

type changeFoldersParams struct {
	Event struct {
		Added   []client.Folder `json:"added"`
		Removed []client.Folder `json:"removed"`
	} `json:"event"`
}

func (s *Server) changeFolders(p changeFoldersParams) {
	added, removed := client.Paths(p.Event.Added), client.Paths(p.Event.Removed)
	s.manager.inTurn(func() { s.manager.workspace.ChangeFolders(added, removed) })
}

type cancelProgressParams struct {
	Token json.RawMessage `json:"token"` // a number or a string; ours are strings
}

// cancelProgress cancels the loop whose progress the user ended.
func (s *Server) cancelProgress(p cancelProgressParams) {
	var token string
	if json.Unmarshal(p.Token, &token) != nil {
		return
	}
	id, ok := strings.CutPrefix(token, feed.ProgressToken(""))
	if r := s.manager.workspace.Ours(id); ok && r != nil {
		go r.Cancel() // it waits for the agent's end
	}
}
