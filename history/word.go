package history

import "ralph-lsp/internal/jsoncursor"

// readWord returns the string at the cursor, and needs no memory for those that
// most entries have.
func readWord(c *jsoncursor.Cursor) string {
	raw := c.RawText()
	if known, ok := words[string(raw)]; ok {
		return known
	}
	return jsoncursor.Unquote(raw)
}

// words are the values of types, roles and reasons.
var words = func() map[string]string {
	known := map[string]string{}
	for _, word := range []string{
		"", "message", "custom", "custom_message", "usage", "model_change", "user", "assistant", "toolResult", "text", "thinking", "toolCall",
		"toolUse", "stop", "unknown", "anthropic", "pi", EventType, UpdateType, InputType, usageKind, eventToolCall, eventThinking, "tool_use", "tool_result",
	} {
		known[word] = word
	}
	return known
}()
