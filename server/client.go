package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"ralph-lsp/wire"
)

// editor is the client as the rest of the room sees it. None but Send and
// Request may block.
type editor interface {
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
	Client() clientInfo
}

// clientInfo is what the client told with initialize.
type clientInfo struct {
	Name string
	// OptedIn: it knows ralph/status and shows a loop's end itself.
	OptedIn           bool
	Updates, Thinking bool          // what it wants of ralph/update
	MinUpdateInterval time.Duration // between two of them
	Trusted           bool          // the user trusts the folders that are open

	WorkDoneProgress   bool
	ShowMessageRequest bool
	PullDiagnostics    bool
	CodeLensRefresh    bool
	DiagnosticRefresh  bool
	ApplyEdit          bool
	WatchFiles         bool
	UTF8               bool // columns are bytes, not UTF-16 units
}

// workspaceFolder is a folder that is open in the client.
type workspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// initializeParams has what matters to us of the request's params.
type initializeParams struct {
	ProcessID  *int `json:"processId"`
	ClientInfo struct {
		Name string `json:"name"`
	} `json:"clientInfo"`
	RootURI          string             `json:"rootUri"`
	RootPath         string             `json:"rootPath"`
	WorkspaceFolders []workspaceFolder  `json:"workspaceFolders"`
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
		ApplyEdit             bool    `json:"applyEdit"`
		CodeLens              refresh `json:"codeLens"`
		Diagnostics           refresh `json:"diagnostics"`
		DidChangeWatchedFiles struct {
			DynamicRegistration bool `json:"dynamicRegistration"`
		} `json:"didChangeWatchedFiles"`
	} `json:"workspace"`
	Experimental struct {
		Ralph struct {
			Version             int   `json:"version"`
			Updates             bool  `json:"updates"`
			Thinking            bool  `json:"thinking"`
			MinUpdateIntervalMs int64 `json:"minUpdateIntervalMs"`
			Trusted             bool  `json:"trusted"`
		} `json:"ralph"`
	} `json:"experimental"`
}

type refresh struct {
	RefreshSupport bool `json:"refreshSupport"`
}

// UnmarshalJSON decodes what a client tells of itself. A value of the wrong
// type counts as not given: some clients write an empty list for an empty object.
func (p *initializeParams) UnmarshalJSON(params []byte) error {
	type plain initializeParams
	err := json.Unmarshal(params, (*plain)(p))
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrongType.Field != "" {
		return nil
	}
	return err
}

func (p *initializeParams) client() clientInfo {
	can := &p.Capabilities
	ralph := can.Experimental.Ralph
	return clientInfo{
		Name:              p.ClientInfo.Name,
		OptedIn:           ralph.Version == wire.Version,
		Updates:           ralph.Version == wire.Version && ralph.Updates,
		Thinking:          ralph.Thinking,
		MinUpdateInterval: time.Duration(max(ralph.MinUpdateIntervalMs, 0)) * time.Millisecond,
		Trusted:           ralph.Version == wire.Version && ralph.Trusted,
		WorkDoneProgress:  can.Window.WorkDoneProgress,
		// No capability says that a client can't ask; one that can't
		// answers with an error.
		ShowMessageRequest: true,
		PullDiagnostics:    can.TextDocument.Diagnostic != nil,
		CodeLensRefresh:    can.Workspace.CodeLens.RefreshSupport,
		DiagnosticRefresh:  can.Workspace.Diagnostics.RefreshSupport,
		ApplyEdit:          can.Workspace.ApplyEdit,
		WatchFiles:         can.Workspace.DidChangeWatchedFiles.DynamicRegistration,
		UTF8:               slices.Contains(can.General.PositionEncodings, "utf-8"),
	}
}
