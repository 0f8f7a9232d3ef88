// Package transcript serves what loops did as read-only documents in Markdown, by LSP 3.18's
// workspace/textDocumentContent: any editor that has it shows a transcript, and it follows the loop.
package transcript
