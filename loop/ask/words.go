package ask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Reader makes of what an agent asks what its user is to read.
type Reader struct {
	Dir    string // the loop's folder, without links
	Folder string // the same, as it is called
	// Hides says whether walls keep agents from reading a file.
	Hides func(path string) bool
}

// Question is what an agent asks as its user is to read it.
func (r Reader) Question(q stream.Question) Question {
	it := Question{Kind: Input, Tool: q.Tool, CallID: q.CallID, Title: q.Title, Detail: q.Message,
		Placeholder: stream.Line(q.Placeholder, maxTitle), At: time.Now()}
	switch q.Method {
	case "can_use_tool":
		it.Kind = Permission
		it.Title = strings.TrimSpace(q.Tool + " " + r.inFolder(q.Message))
		it.Detail = r.detailOf(q.Tool, q.Input)
		it.Rule = ruleFor(r.Dir, q.Tool, q.Input)
	case "confirm":
		it.Kind = Confirm
	case "select":
		it.Kind = Select
		it.Options = q.Options
	case "editor":
		it.Detail = cmp.Or(it.Detail, q.Prefill)
	}
	it.Tool = stream.Line(it.Tool, maxTitle)
	it.Title = cmp.Or(stream.Line(it.Title, maxTitle), "the agent asks")
	it.Detail = cutTo(stream.Sanitize(strings.TrimRight(it.Detail, "\n")), MaxDetail)
	return it
}

// maxTitle is how long a title may be, in bytes.
const maxTitle = 200

// inFolder is a path from the folder on, where it is one of a file there.
func (r Reader) inFolder(path string) string {
	for _, dir := range []string{r.Dir, r.Folder} {
		if rel, ok := strings.CutPrefix(path, dir+string(filepath.Separator)); ok {
			return rel
		}
	}
	return path
}

// cutTo cuts a text that is too long, and says so.
func cutTo(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const room = 64
	kept := strings.ToValidUTF8(text[:max(limit-room, 0)], "")
	return kept + fmt.Sprintf("\n... (%s more)", format.Amount(len(text)-len(kept), "byte"))
}

// edit is a change of a file, as claude's tools have it.
type edit struct {
	Old  string `json:"old_string"`
	New  string `json:"new_string"`
	All  bool   `json:"replace_all"`
	File string `json:"file_path"`
}

// detailOf is all that a tool wants to do: a command, a diff, or its input.
func (r Reader) detailOf(tool string, input json.RawMessage) string {
	var in struct {
		edit
		Command     string
		Description string
		Content     *string
		Edits       []edit
	}
	if json.Unmarshal(input, &in) != nil {
		return string(input)
	}
	var b strings.Builder
	switch tool {
	case "Bash":
		rest, ok := fieldsOf(input, "command", "description", "timeout")
		if ok && rest["command"] != nil {
			return in.Command
		}
	case "Write":
		if _, ok := fieldsOf(input, "file_path", "content"); ok && in.Content != nil {
			return r.writeDetail(in.File, *in.Content)
		}
	case "Edit", "MultiEdit":
		edits := in.Edits
		if tool == "Edit" {
			edits = []edit{in.edit}
		}
		fmt.Fprintf(&b, "--- %s\n+++ %s\n", in.File, in.File)
		for _, e := range edits {
			b.WriteString("@@" + map[bool]string{true: " all of them"}[e.All] + "\n")
			prefixed(&b, "-", e.Old)
			prefixed(&b, "+", e.New)
		}
		return b.String()
	}
	var indented bytes.Buffer
	if json.Indent(&indented, input, "", "  ") != nil {
		return string(input)
	}
	return indented.String()
}

// prefixed writes the lines of a text behind a mark.
func prefixed(b *strings.Builder, mark, text string) {
	for line := range strings.Lines(text) {
		b.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
	}
}
