// Package clients drives ralph-lsp with editors that know nothing of it: Emacs
// with eglot, Emacs with lsp-mode, Helix, and the client side of Microsoft's
// protocol library. They use what any language client has and no part of the
// protocol that is our own, and are set up by the very lines of docs/EDITORS.md.
// The shells that complete our commands are clients, too. Its tests are behind the build tag e2e, because they install these clients:
//
//	make e2e
package clients
