// Package mcp makes a sidecar a server of the Model Context Protocol: Copilot in VS Code, Claude, Cursor
// and whoever else speaks it start it, and their models have the tools of ralph.tool.
//
// A Server stands between its client and the sidecar, as acp.Agent does, and has no policy of its own:
// what a tool is, may and says comes from there. It asks the client's user what the sidecar offers.
// The protocol has two generations: up to 2025-11-25 a server asks its client while a call waits; since
// 2026-07-28 the call ends with the question, and comes again with the answer. call.go has both.
package mcp

import (
	"encoding/json"
	"io"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/acp/rpc"
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
	// Sidecar serves an editor until in ends, as LSP does. By then no agent of it is left.
	Sidecar func(in io.Reader, out io.Writer)

	client  *rpc.Conn
	sidecar *rpc.Sidecar

	mu      sync.Mutex
	can     capabilities       // of a client that said them once
	calls   map[string]*call   // under way, by their ids
	waiting map[string]waiting // that have ended with a question, by their states
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

// Serve serves a client until it goes away: then its loops end as they do with an editor, and
// Serve returns.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	s.calls, s.waiting = map[string]*call{}, map[string]waiting{}
	s.client = rpc.New(rpc.WriteLine, in, out)
	s.client.Handle = s.fromClient
	s.sidecar = rpc.NewSidecar(func(method string, id, _ json.RawMessage) {
		if id != nil {
			s.sidecar.Reply(id, nil, rpc.Errorf(rpc.CodeMethod, "%s isn't known here", method))
		}
	})
	return s.sidecar.Serve(s.client, s.Sidecar, rpc.Editor{Name: "ralph-lsp mcp", Version: s.Version, Ralph: map[string]any{"version": 2}})
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
