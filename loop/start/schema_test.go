package start

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// durationPattern is what limits.ParseSpan takes: what time.ParseDuration does,
// without signs, behind days.
const durationPattern = `^([0-9]+d|([0-9]+d)?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// schema is a JSON schema, as far as it is used here. The order of the fields
// is that of the file.
type schema struct {
	Schema               string             `json:"$schema,omitempty"`
	Title                string             `json:"title,omitempty"`
	Description          string             `json:"description,omitempty"`
	Type                 string             `json:"type,omitempty"`
	Default              json.RawMessage    `json:"default,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Examples             []string           `json:"examples,omitempty"`
	Minimum              *int               `json:"minimum,omitempty"`
	MinLength            int                `json:"minLength,omitempty"`
	MaxLength            int                `json:"maxLength,omitempty"`
	Pattern              string             `json:"pattern,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Properties           map[string]*schema `json:"properties,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"` // false, or a *schema
	OneOf                []*schema          `json:"oneOf,omitempty"`
}

// schemaOfKeys returns a JSON schema (draft 7) of ralph.toml for editors' TOML
// plug-ins, indented.
func schemaOfKeys(t *testing.T) []byte {
	t.Helper()
	root := tableSchema()
	root.Schema, root.Title = "http://json-schema.org/draft-07/schema#", config.Name
	root.Description = "How Ralph loops run in this folder."
	data, err := json.MarshalIndent(root, "", "  ")
	must.OK(t, err)
	return append(data, '\n')
}

// tableSchema describes the table at a path.
func tableSchema(path ...string) *schema {
	s := &schema{Type: "object", AdditionalProperties: false}
	for _, key := range config.Children(path...) {
		child := keySchema(key)
		if key.Name() == config.Any {
			s.AdditionalProperties = child
			continue
		}
		if s.Properties == nil {
			s.Properties = map[string]*schema{}
		}
		s.Properties[key.Name()] = child
	}
	return s
}

// keySchema describes a key's value.
func keySchema(key config.Key) *schema {
	s := valueSchema(key)
	switch {
	case key.Type == config.Table:
		s = tableSchema(key.Path...)
	case key.Type == config.Tables:
		s = &schema{Type: "array", Items: tableSchema(key.Path...)}
	case len(config.Children(key.Path...)) > 0: // a name, or a table
		s = &schema{OneOf: []*schema{s, tableSchema(key.Path...)}}
	}
	s.Description = strings.ReplaceAll(description(key), "`", "")
	if key.Default != "" {
		s.Default = json.RawMessage(key.Default) // of what the defaults are, TOML and JSON write all alike
	}
	return s
}

func valueSchema(key config.Key) *schema {
	switch key.Type {
	case config.Texts:
		return &schema{Type: "array", Items: &schema{Type: "string", Enum: slices.Clone(key.Values)}}
	case config.Command:
		return &schema{OneOf: []*schema{{Type: "string", MinLength: 1}, {Type: "array", Items: &schema{Type: "string"}}}}
	case config.Count:
		return &schema{Type: "integer", Minimum: new(0)}
	case config.Dollars:
		return &schema{Type: "number", Minimum: new(0)}
	case config.Duration:
		return &schema{Type: "string", Pattern: durationPattern}
	case config.Switch:
		return &schema{Type: "boolean"}
	case config.Backend:
		return &schema{Type: "string", Examples: append([]string{config.Auto}, backends.Names()...)}
	}
	s := &schema{Type: "string", Enum: slices.Clone(key.Values)}
	switch {
	case slices.Equal(key.Path, []string{"completion", "promise"}):
		s.MaxLength = promises.MaxPromise
	case key.Values == nil:
		s.MinLength = 1
	}
	return s
}

// description is a key's documentation with what 0 means.
func description(k config.Key) string {
	if k.Zero == "" {
		return k.Doc
	}
	return k.Doc + " 0: " + k.Zero + "."
}

// marks stand behind the documentation of a key that yields.
var marks = map[settings.Yield]string{settings.Demands: " (trust)", settings.ToStricter: " (stricter)", settings.ToUsers: " (yours first)", settings.Always: " (yours)", settings.Users: " (yours alone)"}

// keysAsList returns all keys as a list in Markdown.
func keysAsList(keys []config.Key) string {
	var b strings.Builder
	for _, key := range keys {
		if key.Type == config.Table {
			continue
		}
		name := strings.ReplaceAll(strings.Join(key.Path, "."), config.Any, "NAME")
		value := string(key.Type)
		if key.Values != nil {
			value = "`\"" + strings.Join(key.Values, "\"`, `\"") + "\"`"
			if key.Type == config.Texts {
				value = "list of " + value
			}
		}
		if key.Default != "" {
			value += "; default `" + key.Default + "`"
		}
		fmt.Fprintf(&b, "- **`%s`** (%s): %s%s\n", name, value, description(key), marks[key.Yields])
	}
	return b.String()
}
