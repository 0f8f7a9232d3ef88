package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// story is what a user story of a prd.json says.
type story struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Criteria    []string `json:"acceptanceCriteria"`
	Priority    int      `json:"priority"`
	Passes      bool     `json:"passes"`
	DependsOn   []string `json:"dependsOn"` // ids
}

// readStories reads a prd.json.
func (p *Plan) readStories() error {
	base := len(p.Data) - len(bytes.TrimPrefix(p.Data, []byte("\uFEFF")))
	if err := json.Unmarshal(p.Data[base:], new(any)); err != nil {
		line := 1 + bytes.Count(p.Data, []byte("\n"))
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			line = 1 + bytes.Count(p.Data[:min(base+int(syntax.Offset), len(p.Data))], []byte("\n"))
		}
		return fmt.Errorf("%s:%d: it isn't JSON: %w", p.Name, line, err)
	}
	list, begin := member(p.Data[base:], "userStories")
	dec := json.NewDecoder(bytes.NewReader(list))
	if opens, err := dec.Token(); err != nil || opens != json.Delim('[') {
		return nil // Parse says what there should be
	}
	for dec.More() && len(p.Items) <= MaxItems {
		var raw json.RawMessage
		var s story
		_ = dec.Decode(&raw) // it is JSON
		at := base + begin + int(dec.InputOffset()) - len(raw)
		line := 1 + bytes.Count(p.Data[:at], []byte("\n"))
		if err := json.Unmarshal(raw, &s); err != nil || raw[0] != '{' || s.Title == "" {
			return fmt.Errorf("%s:%d: this is no user story, an object with title and passes (true or false)", p.Name, line)
		}
		it := Item{Line: line, parent: -1, checked: s.Passes, rank: s.Priority, box: [2]int{at + 1, at + 1}}
		it.Text = it.annotate(strings.Trim(s.ID+": "+s.Title, ": "))
		it.More = it.annotate(s.Description)
		for _, criterion := range s.Criteria {
			it.More = strings.TrimSpace(it.More + "\n- " + criterion)
		}
		for _, id := range s.DependsOn {
			it.After = append(it.After, id+":")
		}
		if passes, begin := member(raw, "passes"); passes != nil {
			it.box = [2]int{at + begin, at + begin + len(passes)}
		}
		p.Items = append(p.Items, it)
	}
	return nil
}

// readCommands are the verificationCommands of a prd.json: a list, or an object that has them by their names.
func readCommands(data []byte) (commands []string) {
	var named map[string]string
	raw, _ := member(bytes.TrimPrefix(data, []byte("\uFEFF")), "verificationCommands")
	if json.Unmarshal(raw, &commands) != nil && json.Unmarshal(raw, &named) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		commands = append(commands, named[name])
	}
	return commands
}

// member finds the value of a key of an object, nil for none. The last one counts, as for all who read such a file.
func member(object []byte, key string) (value json.RawMessage, begin int) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if opens, _ := dec.Token(); opens != json.Delim('{') {
		return nil, 0
	}
	for dec.More() {
		name, _ := dec.Token()
		var raw json.RawMessage
		_ = dec.Decode(&raw)
		if name == key {
			value, begin = raw, int(dec.InputOffset())-len(raw)
		}
	}
	return value, begin
}
