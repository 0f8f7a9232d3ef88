// Package e2e runs ralph-lsp as its users do, with the real pi and the real
// claude against a scripted model on loopback. Its tests are behind the build
// tag e2e, because they install the agents from npm:
//
//	make e2e
package e2e
