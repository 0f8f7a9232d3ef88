package server

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"go.lsp.dev/protocol"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/transcript"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// phase is how far the connection has got.
type phase int32

const (
	created     phase = iota
	initialized       // initialize was answered
	shutDown          // nothing counts any more but exit
)

// exitPatience is how long after shutdown a client may take to say exit.
const exitPatience = 2 * time.Second

// shutdownPatience bounds how long the answer to shutdown waits for the loops.
// Emacs kills the server 0.1 s after the exit that follows, and lsp-mode
// expects the answer in 0.5 s.
const shutdownPatience = 400 * time.Millisecond

// admit says why a request can't be handled now, nil when it can.
func (s *Server) admit(name string, known bool) error {
	now := phase(s.phase.Load())
	switch {
	case now == shutDown:
		return rpc.Errorf(rpc.CodeInvalidRequest, "%s after shutdown", name)
	case now == created && name != "initialize":
		return rpc.Errorf(rpc.CodeNotInitialized, "%s before initialize", name)
	case now == initialized && name == "initialize":
		return rpc.Errorf(rpc.CodeInvalidRequest, "initialize was said before")
	case !known:
		return rpc.Errorf(rpc.CodeMethodNotFound, "method not found: %s", name)
	}
	return nil
}

// listens says whether a notification counts now.
func (s *Server) listens(name string) bool {
	return name == "exit" || phase(s.phase.Load()) == initialized
}

// initialize answers at once: nothing is looked for or started here.
func (s *Server) initialize(params json.RawMessage) (any, error) {
	var p client.Params
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "initialize: %v", err)
	}
	info := p.Info()
	capabilities, err := serverCapabilities(info, slices.Sorted(maps.Keys(s.manager.commands)))
	if err != nil {
		return nil, err
	}
	s.client.Store(&info)
	s.phase.Store(int32(initialized))
	parent := s.parent
	if parent == 0 && p.ProcessID != nil {
		parent = *p.ProcessID
	}
	go s.watchParent(parent)
	s.folders = p.Folders()
	return &protocol.InitializeResult{
		Capabilities: capabilities,
		ServerInfo:   protocol.ServerInfo{Name: "ralph-lsp", Version: protocol.NewOptional(s.version)},
	}, nil
}

// begin starts what had to wait until initialize was answered.
func (s *Server) begin(struct{}) {
	s.manager.workspace.ChangeFolders(s.folders, nil)
	s.manager.begin()
}

// serverCapabilities are what we can do for this client, with these commands.
func serverCapabilities(client client.Info, commands []string) (protocol.ServerCapabilities, error) {
	encoding := protocol.PositionEncodingKindUTF16
	if client.UTF8 {
		encoding = protocol.PositionEncodingKindUTF8
	}
	experimental, err := json.Marshal(map[string]any{
		"ralph": map[string]any{"version": wire.Version, "stopReasons": stopReasons()},
	})
	return protocol.ServerCapabilities{
		PositionEncoding: encoding,
		TextDocumentSync: &protocol.TextDocumentSyncOptions{
			OpenClose: new(true), Change: new(protocol.TextDocumentSyncKindFull), Save: protocol.Boolean(true),
		},
		HoverProvider:        protocol.Boolean(true),
		FoldingRangeProvider: protocol.Boolean(true),
		CompletionProvider:   &protocol.CompletionOptions{TriggerCharacters: []string{":"}},
		CodeLensProvider:     &protocol.CodeLensOptions{},
		CodeActionProvider: &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{
			protocol.CodeActionKindQuickFix, protocol.CodeActionKindRefactor,
		}},
		DiagnosticProvider:     &protocol.DiagnosticOptions{Identifier: new("ralph")},
		ExecuteCommandProvider: protocol.ExecuteCommandOptions{Commands: commands},
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported: new(true), ChangeNotifications: protocol.Boolean(true),
			},
			TextDocumentContent: &protocol.TextDocumentContentOptions{Schemes: []string{transcript.Scheme}},
		},
		Experimental: experimental,
	}, err
}

// stopReasons are all the reasons that a loop's end may give.
func stopReasons() []loop.StopReason {
	var all []loop.StopReason
	for _, e := range loop.Endings() {
		all = append(all, e.Reason)
	}
	return all
}

// shutdown is the editor's word that it leaves. The loops have from now on,
// not only from exit on, to end.
func (s *Server) shutdown(json.RawMessage) (any, error) {
	s.phase.Store(int32(shutDown))
	within(shutdownPatience, func(context.Context) { s.stopLoops() })
	time.AfterFunc(exitPatience, func() { s.leave(errNoExit) })
	return nil, nil
}

func (s *Server) exit(json.RawMessage) { s.leave(errExit) }
