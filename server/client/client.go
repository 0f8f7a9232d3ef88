// Package client is the editor as the server sees it: what it told of itself, and
// how it is told and asked.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Editor is the client as the rest of the room sees it. None but Send and
// Request may block.
type Editor interface {
	// Notify sends a notification; they arrive in the order of the calls.
	Notify(method string, params any)
	// NotifyLatest sends a notification that replaces an unsent one with the same key.
	NotifyLatest(key, method string, params any)
	// Forget drops an unsent notification of NotifyLatest.
	Forget(key string)
	// Send is for bulk: it waits while more than 256 KiB of it are queued.
	Send(ctx context.Context, method string, params any) error
	// Request asks the client. It fails at once with the context of a handler that isn't async.
	Request(ctx context.Context, method string, params, result any) error
	Client() Info
}

// Info is what the client told with initialize.
type Info struct {
	Name string
	// OptedIn: it knows ralph/status and shows a loop's end itself.
	OptedIn           bool
	Updates, Thinking bool          // what it wants of ralph/update
	MinUpdateInterval time.Duration // between two of them
	Trusted           bool          // the user trusts the folders that are open
	Diagnostics       bool          // it answers ralph/diagnostics
	Permissions       bool          // it answers ralph/permission

	WorkDoneProgress  bool
	PullDiagnostics   bool
	CodeLensRefresh   bool
	DiagnosticRefresh bool
	UTF8              bool // columns are bytes, not UTF-16 units
}

// Folder is a folder that is open in the client.
type Folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// Params has what matters to us of the request's params.
type Params struct {
	ProcessID  *int `json:"processId"`
	ClientInfo struct {
		Name string `json:"name"`
	} `json:"clientInfo"`
	RootURI          string             `json:"rootUri"`
	RootPath         string             `json:"rootPath"`
	WorkspaceFolders []Folder           `json:"workspaceFolders"`
	Capabilities     clientCapabilities `json:"capabilities"`
}

type clientCapabilities struct {
	General struct {
		PositionEncodings []string `json:"positionEncodings"`
	} `json:"general"`
	Window struct {
		WorkDoneProgress bool `json:"workDoneProgress"`
	} `json:"window"`
	TextDocument struct {
		Diagnostic *struct{} `json:"diagnostic"`
	} `json:"textDocument"`
	Workspace struct {
		CodeLens    refresh `json:"codeLens"`
		Diagnostics refresh `json:"diagnostics"`
	} `json:"workspace"`
	Experimental struct {
		Ralph struct {
			Version             int   `json:"version"`
			Updates             bool  `json:"updates"`
			Thinking            bool  `json:"thinking"`
			MinUpdateIntervalMs int64 `json:"minUpdateIntervalMs"`
			Trusted             bool  `json:"trusted"`
			Diagnostics         bool  `json:"diagnostics"`
			Permissions         bool  `json:"permissions"`
		} `json:"ralph"`
	} `json:"experimental"`
}

type refresh struct {
	RefreshSupport bool `json:"refreshSupport"`
}

// UnmarshalJSON decodes what a client tells of itself. A value of the wrong
// type counts as not given: some clients write an empty list for an empty object.
func (p *Params) UnmarshalJSON(params []byte) error {
	type plain Params
	err := json.Unmarshal(params, (*plain)(p))
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrongType.Field != "" {
		return nil
	}
	return err
}

// Info is what the client told, as the server needs it.
func (p *Params) Info() Info {
	can := &p.Capabilities
	ralph := can.Experimental.Ralph
	optedIn := ralph.Version == wire.Version
	return Info{
		Name:              p.ClientInfo.Name,
		OptedIn:           optedIn,
		Updates:           optedIn && ralph.Updates,
		Thinking:          ralph.Thinking,
		MinUpdateInterval: time.Duration(max(ralph.MinUpdateIntervalMs, 0)) * time.Millisecond,
		Trusted:           optedIn && ralph.Trusted,
		Diagnostics:       optedIn && ralph.Diagnostics,
		Permissions:       optedIn && ralph.Permissions,
		WorkDoneProgress:  can.Window.WorkDoneProgress,
		PullDiagnostics:   can.TextDocument.Diagnostic != nil,
		CodeLensRefresh:   can.Workspace.CodeLens.RefreshSupport,
		DiagnosticRefresh: can.Workspace.Diagnostics.RefreshSupport,
		UTF8:              slices.Contains(can.General.PositionEncodings, "utf-8"),
	}
}

// Folders returns the paths of the folders that the client has open.
func (p *Params) Folders() []string {
	paths := Paths(p.WorkspaceFolders)
	if len(p.WorkspaceFolders) > 0 {
		return paths
	}
	if path, err := wire.PathOf(p.RootURI); err == nil {
		return append(paths, path)
	}
	if p.RootPath != "" {
		return append(paths, p.RootPath)
	}
	return paths
}

// Paths returns the paths of folders on this machine.
func Paths(folders []Folder) []string {
	var paths []string
	for _, f := range folders {
		if path, err := wire.PathOf(f.URI); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
