package loop

import "ralph-lsp/verify"

// protectGate holds a promise back when the loop changed what is protected.
var protectGate = gate{verify.ProtectGate, false, func(l *Loop, q *question) verify.Result {
	return unchecked("can't be told from others")
}}
