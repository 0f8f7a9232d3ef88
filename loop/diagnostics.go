package loop

import "ralph-lsp/verify"

// diagnosticsGate asks the editors that are attached for new errors.
var diagnosticsGate = gate{verify.DiagnosticsGate, true, func(l *Loop, q *question) verify.Result {
	return unchecked("could not be asked for: no editor is attached that tells them")
}}
