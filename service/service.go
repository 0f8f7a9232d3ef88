// Package service does what users ask of loops. Faces call it: an editor's server, the command line, servers of other
// protocols. A face reads the request, asks its user, and writes the answer; the work is done here.
package service

import "github.com/ralph-lsp/ralph-lsp/config"

// Service does it for one face. Its methods may be called at the same time. Errors may be
// *wire.Failure, beside those that each method names.
type Service struct {
	// Files are the configuration files of a folder, as far as the face's user trusts them.
	Files func(folder string) config.Files
	// Remote has the loops of other machines; nil: there are none.
	Remote Remote
}

// Which names the loop that something is asked of.
type Which struct {
	Remote      string   // the id of a loop that Remote has found; "": it is of this machine
	LoopID      string   // or, of what is kept, its branch; "": the last one of the folder
	SessionFile string   // in place of the id, for a log
	Folders     []string // where the loop is looked for, in this order
}
