package server

import (
	"context"
	"encoding/json"
	"strings"

	"go.lsp.dev/protocol"

	"ralph-lsp/wire"
)

// method is how one request or notification of the client's is handled. The
// handlers run one after another, in the order of the messages, on the read
// loop, where they may not block; an async one runs aside, with a context that
// $/cancelRequest ends.
type method struct {
	handle       func(s *Server, ctx context.Context, params json.RawMessage) (any, error)
	async        bool
	enter        func(s *Server, ctx context.Context, params json.RawMessage) context.Context // of an async one, still on the read loop
	notification bool
}

// methods has all that a client can ask for or tell.
var methods = map[string]method{
	"initialize":  {handle: (*Server).initialize},
	"initialized": told((*Server).begin),
	"shutdown":    {handle: (*Server).shutdown},
	"exit":        {handle: (*Server).exit, notification: true},

	"$/cancelRequest": {handle: (*Server).cancelRequest, notification: true},
	"$/setTrace":      told(func(*Server, struct{}) {}),

	"workspace/executeCommand":            {handle: asked((*Server).executeCommand), async: true, enter: (*Server).takeTurn},
	"workspace/didChangeWorkspaceFolders": told((*Server).changeFolders),

	"textDocument/didOpen":    told(onDocuments((*documents).didOpen)),
	"textDocument/didChange":  told(onDocuments((*documents).didChange)),
	"textDocument/didClose":   told(onDocuments((*documents).didClose)),
	"textDocument/hover":      fromDocuments((*documents).hover),
	"textDocument/completion": fromDocuments((*documents).completion),
	"textDocument/codeAction": fromDocuments((*documents).codeAction),
	"textDocument/codeLens": {handle: asked(func(s *Server, _ context.Context, p protocol.CodeLensParams) (any, error) {
		return s.docs.codeLens(p)
	})},
	"textDocument/diagnostic": fromDocuments((*documents).diagnostic),

	"window/workDoneProgress/cancel": told((*Server).cancelProgress),
	wire.MethodSetUpdates:            told((*Server).setUpdates),
}

// asked decodes a request's params for its handler.
func asked[P any](handle func(*Server, context.Context, P) (any, error)) func(*Server, context.Context, json.RawMessage) (any, error) {
	return func(s *Server, ctx context.Context, params json.RawMessage) (any, error) {
		var p P
		if err := decodeParams(params, &p); err != nil {
			return nil, err
		}
		return handle(s, ctx, p)
	}
}

// told is the method of a notification with these params.
func told[P any](handle func(*Server, P)) method {
	return method{notification: true, handle: asked(func(s *Server, _ context.Context, p P) (any, error) {
		handle(s, p)
		return nil, nil
	})}
}

// onDocuments passes a notification on to the documents.
func onDocuments[P any](take func(*documents, P)) func(*Server, P) {
	return func(s *Server, p P) { take(s.docs, p) }
}

// fromDocuments is the method of a request that the documents answer.
func fromDocuments[P, R any](answer func(*documents, P) R) method {
	return method{handle: asked(func(s *Server, _ context.Context, p P) (any, error) {
		return answer(s.docs, p), nil
	})}
}

// decodeParams decodes what a message came with; left out, it is as empty.
func decodeParams(params json.RawMessage, into any) error {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if err := (codec{}).Unmarshal(params, into); err != nil {
		return errf(codeInvalidParams, "bad params: %v", err)
	}
	return nil
}

type executeCommandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

func (s *Server) executeCommand(ctx context.Context, p executeCommandParams) (any, error) {
	return s.loops.execute(ctx, p.Command, p.Arguments)
}

type changeFoldersParams struct {
	Event struct {
		Added   []workspaceFolder `json:"added"`
		Removed []workspaceFolder `json:"removed"`
	} `json:"event"`
}

func (s *Server) changeFolders(p changeFoldersParams) {
	added, removed := folderPaths(p.Event.Added), folderPaths(p.Event.Removed)
	s.loops.inTurn(func() { s.loops.changeFolders(added, removed) })
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
	id, ok := strings.CutPrefix(token, ProgressToken(""))
	if r := s.loops.known(id); ok && r != nil {
		go r.Cancel() // it waits for the agent's end
	}
}

func (s *Server) setUpdates(p wire.SetUpdatesParams) { s.loops.setLevel(p.Level) }
