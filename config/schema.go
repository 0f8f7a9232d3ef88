package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"ralph-lsp/stream"
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
	Default              any                `json:"default,omitempty"`
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

// Schema returns a JSON schema (draft 7) of the file for editors' TOML
// plug-ins, indented. builtin are the names of the known backends.
func Schema(builtin []string) ([]byte, error) {
	root := tableSchema(builtin)
	root.Schema, root.Title = "http://json-schema.org/draft-07/schema#", Name
	root.Description = "How Ralph loops run in this folder."
	data, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return append(data, '\n'), nil
}

// tableSchema describes the table at a path.
func tableSchema(builtin []string, path ...string) *schema {
	s := &schema{Type: "object", AdditionalProperties: false}
	for _, key := range Children(path...) {
		child := keySchema(key, builtin)
		if key.Name() == Any {
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
func keySchema(key Key, builtin []string) *schema {
	s := valueSchema(key, builtin)
	switch {
	case key.Type == Table:
		s = tableSchema(builtin, key.Path...)
	case len(Children(key.Path...)) > 0: // a name, or a table
		s = &schema{OneOf: []*schema{s, tableSchema(builtin, key.Path...)}}
	}
	s.Description = strings.ReplaceAll(key.description(), "`", "")
	if key.Default != "" {
		values := map[string]any{}
		if _, err := toml.Decode("v = "+key.Default, &values); err != nil {
			panic("the default of " + key.Name() + ": " + err.Error())
		}
		s.Default = values["v"]
	}
	return s
}

func valueSchema(key Key, builtin []string) *schema {
	switch key.Type {
	case Texts:
		return &schema{Type: "array", Items: &schema{Type: "string"}}
	case Count:
		return &schema{Type: "integer", Minimum: new(0)}
	case Dollars:
		return &schema{Type: "number", Minimum: new(0)}
	case Duration:
		return &schema{Type: "string", Pattern: durationPattern}
	case Switch:
		return &schema{Type: "boolean"}
	case Backend:
		return &schema{Type: "string", Examples: append([]string{Auto}, builtin...)}
	}
	s := &schema{Type: "string", Enum: slices.Clone(key.Values)}
	switch {
	case slices.Equal(key.Path, []string{"completion", "promise"}):
		s.MaxLength = stream.MaxPromise
	case key.Values == nil:
		s.MinLength = 1
	}
	return s
}

// description is the key's documentation with what 0 means.
func (k Key) description() string {
	if k.Zero == "" {
		return k.Doc
	}
	return k.Doc + " 0: " + k.Zero + "."
}

// marks stand behind the documentation of a key that yields.
var marks = map[Yield]string{Demands: " (trust)", ToStricter: " (stricter)", ToUsers: " (yours first)", Always: " (yours)"}

// KeyTable returns the table of all keys as Markdown.
func KeyTable() string {
	var b strings.Builder
	b.WriteString("| key | value | default | meaning |\n|---|---|---|---|\n")
	for _, key := range keys {
		if key.Type == Table {
			continue
		}
		name := strings.ReplaceAll(strings.Join(key.Path, "."), Any, "NAME")
		value := string(key.Type)
		if key.Values != nil {
			value = "`\"" + strings.Join(key.Values, "\"`, `\"") + "\"`"
		}
		standard := ""
		if key.Default != "" {
			standard = "`" + key.Default + "`"
		}
		doc := key.description()
		doc += marks[key.Yields]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, value, standard, doc)
	}
	return b.String()
}
