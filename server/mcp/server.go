// Package mcp is a server of the Model Context Protocol: Copilot in VS Code, Claude, Cursor and whoever else
// speaks it start it, and their models have the tools of wire/answers.
//
// A Server has no policy of its own: what a tool is, may and says comes from its Tools. It asks the client's
// user whether to do what they offer.
// The protocol has two generations: up to 2025-11-25 a server asks its client while a call waits; since
// 2026-07-28 the call ends with the question, and comes again with the answer. call.go has both.
package mcp

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// modern is the version since which each request says by itself who asks.
const modern = "2026-07-28"

// versions are those that are spoken, the newest of each generation first.
var versions = []string{modern, "2025-11-25", "2025-06-18"}

const codeVersion = -32022 // the protocol's: this version isn't spoken

// Server is a server for one client.
type Server struct {
	// Version is this program's.
	Version string
	// Folder is the working directory, which counts where a client names no roots, as a URI.
	Folder string
	// Tools do what models ask for.
	Tools Tools

	client *rpc.Conn

	ctx  context.Context // ends with the client
	work sync.WaitGroup  // of the tools

	mu      sync.Mutex
	can     capabilities       // of a client that said them once
	calls   map[string]*call   // under way, by their ids
	waiting map[string]waiting // that have ended with a question, by their states
}

// Tools do what models ask for; *service.Models implements it.
type Tools interface {
	// Call does what needs nobody's word. All else is an offer to the user.
	Call(context.Context, answers.ToolParams) (answers.ToolResult, error)
	// Agreed does what an offer says, once the user has agreed to it.
	Agreed(ctx context.Context, offer wire.Command) (answers.Reply, error)
}

// capabilities are what a client can be asked.
type capabilities struct {
	Roots       *struct{}
	Elicitation *struct{ Form, URL *struct{} }
}

// hasForms says whether its user can be asked. One that names no mode has forms.
func (c capabilities) hasForms() bool {
	return c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// Serve serves a client until it goes away.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	s.calls, s.waiting = map[string]*call{}, map[string]waiting{}
	s.client = rpc.New(rpc.WriteLine, in, out)
	s.client.Handle = s.fromClient
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithCancel(context.Background())
	err := s.client.Serve()
	cancel()
	s.work.Wait()
	return err
}

// params are those of the protocol's methods, as far as they are read.
type params struct {
	ProtocolVersion string
	Capabilities    capabilities
	Meta            struct {
		Version      string       `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities capabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`

	Name           string
	Arguments      json.RawMessage
	RequestState   string
	InputResponses map[string]json.RawMessage

	RequestID json.RawMessage // of what is cancelled
}

// fromClient answers what the client wants.
func (s *Server) fromClient(method string, id, given json.RawMessage) {
	var p params
	if err := json.Unmarshal(given, &p); err != nil && given != nil {
		s.client.Reply(id, nil, rpc.Errorf(rpc.CodeParams, "the parameters can't be read: %v", err))
		return
	}
	if p.Meta.Version != "" && !slices.Contains(versions, p.Meta.Version) {
		refused := rpc.Errorf(codeVersion, "version %s of the protocol isn't spoken here", p.Meta.Version)
		refused.Data = rpc.Raw(map[string]any{"supported": versions, "requested": p.Meta.Version})
		s.client.Reply(id, nil, refused)
		return
	}
	switch method {
	case "initialize":
		s.initialize(id, p)
	case "server/discover":
		s.client.Reply(id, map[string]any{
			"resultType": "complete", "supportedVersions": versions, "capabilities": able, "ttlMs": 0, "cacheScope": "private",
			"_meta": map[string]any{"io.modelcontextprotocol/serverInfo": s.info()},
		}, nil)
	case "ping":
		s.client.Reply(id, map[string]any{}, nil)
	case "tools/list":
		s.client.Reply(id, map[string]any{"resultType": "complete", "tools": answers.Tools(), "ttlMs": 0, "cacheScope": "private"}, nil)
	case "tools/call":
		s.call(id, p)
	case "notifications/cancelled":
		s.cancel(p.RequestID)
	default:
		s.client.Reply(id, nil, rpc.Errorf(rpc.CodeMethod, "%s isn't known here", method))
	}
}

// able is what the server can do.
var able = map[string]any{"tools": map[string]any{}}

func (s *Server) info() map[string]any {
	return map[string]any{"name": "ralph-lsp", "title": "Ralph loops", "version": s.Version}
}

// initialize answers with the version that the client wants, or with the newest that begins so.
func (s *Server) initialize(id json.RawMessage, p params) {
	s.mu.Lock()
	s.can = p.Capabilities
	s.mu.Unlock()
	version := p.ProtocolVersion
	if !slices.Contains(versions[1:], version) {
		version = versions[1]
	}
	s.client.Reply(id, map[string]any{"protocolVersion": version, "serverInfo": s.info(), "capabilities": able}, nil)
}
