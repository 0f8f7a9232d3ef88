package rpc

import (
	"encoding/json"
	"io"
	"path"
	"slices"
	"sync"
)

// Sidecar is one in the same process, whose editor we are: with the commands and updates of
// docs/PROTOCOL.md.
type Sidecar struct {
	*Conn
	commands *Queue // what is said to it, so that who hears it never waits for it to listen

	opening sync.Mutex
	folders []string // that it knows, as URIs
}

// Editor is what a sidecar hears of its editor.
type Editor struct {
	Name, Version string
	Ralph         map[string]any // its capabilities.experimental.ralph
}

// NewSidecar has handle take what a sidecar says by itself.
func NewSidecar(handle func(method string, id, params json.RawMessage)) *Sidecar {
	s := &Sidecar{commands: NewQueue()}
	s.Conn = New(WriteFrame, nil, s.commands)
	s.Handle = handle
	return s
}

// Serve runs the sidecar for a client until that goes away: then its loops end as they do with an
// editor, and Serve returns.
func (s *Sidecar) Serve(client *Conn, run func(in io.Reader, out io.Writer), as Editor) error {
	sidecarEnds, clientEnds := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(sidecarEnds)
		run(s.commands, &Heard{Take: s.Take})
	}()
	s.Request("initialize", map[string]any{
		"processId": nil, "rootUri": nil, "workspaceFolders": []any{},
		"clientInfo":   map[string]any{"name": as.Name, "version": as.Version},
		"capabilities": map[string]any{"workspace": map[string]any{"workspaceFolders": true}, "experimental": map[string]any{"ralph": as.Ralph}},
	}, func(json.RawMessage, *Error) { s.Notify("initialized", map[string]any{}) })
	go func() { clientEnds <- client.Serve() }()
	var err error
	select {
	case err = <-clientEnds:
	case <-sidecarEnds: // a signal has ended it
	}
	s.commands.Close() // as an editor that goes away
	<-sidecarEnds
	return err
}

// Open has the sidecar know folders, which are URIs.
func (s *Sidecar) Open(folders ...string) {
	s.opening.Lock()
	defer s.opening.Unlock() // so that it hears of all before who asks about them
	added := []any{}
	for _, uri := range folders {
		if !slices.Contains(s.folders, uri) {
			s.folders, added = append(s.folders, uri), append(added, map[string]any{"uri": uri, "name": path.Base(uri)})
		}
	}
	if len(added) > 0 {
		s.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": added, "removed": []any{}}})
	}
}

// Command has the sidecar carry out a command of docs/PROTOCOL.md. Its result is read as a T.
func Command[T any](s *Sidecar, name string, argument any, answered func(T, *Error)) {
	s.Request("workspace/executeCommand", map[string]any{"command": name, "arguments": []any{argument}}, func(raw json.RawMessage, err *Error) {
		var result T
		_ = json.Unmarshal(raw, &result)
		answered(result, err)
	})
}
