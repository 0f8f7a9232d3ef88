package documents

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Plans is what there is to know of a folder's plans besides their text.
type Plans struct {
	Settings config.Settings // a file that isn't trusted names no plan
	Loop     loop.Status     // that runs in the folder, or was the last one; the zero value is none
	Deeds    map[string]Deed // what that loop did, by a task's text as the wire has it
}

// Deed is the last iteration that was for a task.
type Deed struct {
	Iteration int
	Cost      stream.Cost
}

// planView is a document that is its folder's plan.
type planView struct {
	plan.Plan
	Plans
	doc    *document
	folder string
	err    error // why it can't be read
}

// lookedUp is what was known of a folder's plans at a time.
type lookedUp struct {
	at time.Time
	Plans
}

// plansFor is how long that is believed. An editor asks several things with each change of each Markdown file, and a
// folder's past loops may be many.
const plansFor = time.Second

// plansIn returns what is known of a folder's plans, as of a moment ago or of now.
func (d *Documents) plansIn(folder string) Plans {
	d.mu.Lock()
	plans := d.plans
	known := plans[folder]
	d.mu.Unlock()
	if time.Since(known.at) >= plansFor {
		known = lookedUp{time.Now(), d.env.PlansIn(folder)}
		d.mu.Lock()
		plans[folder] = known // which nobody sees when something has changed meanwhile
		d.mu.Unlock()
	}
	return known.Plans
}

// planOf returns a document as a plan: one that the settings or a loop of its folder name. ok is false for any other.
func (d *Documents) planOf(doc *document) (v planView, ok bool) {
	if doc.kind != planDoc {
		return v, false
	}
	v.doc, v.folder = doc, d.folderOf(doc)
	place := docKey(doc.uri)
	v.Plans = d.plansIn(v.folder)
	for _, name := range []string{v.Settings.Loop.Plan, v.Loop.Plan} {
		full := filepath.FromSlash(name)
		if !filepath.IsAbs(full) {
			full = filepath.Join(v.folder, full)
		}
		ok = ok || name != "" && full == place
	}
	if !ok {
		return v, false
	}
	name, _ := filepath.Rel(v.folder, place) // both are absolute
	v.Plan, v.err = plan.Parse(filepath.ToSlash(name), []byte(doc.text))
	return v, true
}

// begin starts a loop for the plan, or for one task of it.
func (v planView) begin(task string) (p wire.StartParams) {
	p.Folder, p.Values.Plan, p.Values.Task = wire.FileURI(v.folder), v.Name, task
	return p
}

// lenses are what can be done with each task, on its line.
func (v planView) lenses(canStart bool) (lenses []protocol.CodeLens) {
	for _, it := range v.Items {
		at := v.doc.span(lineRange(v.doc.text, it.Line))
		add := func(title, id string, argument any) {
			lenses = append(lenses, protocol.CodeLens{Range: at, Command: clientCommand(title, id, argument)})
		}
		mark := wire.MarkParams{Folder: wire.FileURI(v.folder), URI: string(v.doc.uri), Task: it.ID, Done: !v.IsDone(it)}
		switch text, n := v.deed(it); {
		case mark.Done:
			if canStart {
				add("Run this", wire.CommandStart, v.begin(v.NameOf(it)))
			}
			if !it.IsGroup() {
				add("Skip", wire.CommandMark, mark)
			}
		case !it.IsGroup():
			if text != "" {
				add(text, wire.CommandChanges, wire.ChangesParams{
					LoopParams: wire.LoopParams{LoopID: v.Loop.LoopID, Folder: wire.FileURI(v.folder)}, From: n - 1, To: &n, Show: true})
			}
			add("Open again", wire.CommandMark, mark)
		}
	}
	return lenses
}

// deed says who did a task, "" for one that the folder's loop didn't do.
func (v planView) deed(it plan.Item) (text string, iteration int) {
	deed, ok := v.Deeds[wire.OneLine(it.Text)]
	if !ok || !v.IsDone(it) {
		return "", 0
	}
	return wire.JoinFacts(fmt.Sprintf("done in iteration %d", deed.Iteration), cmp.Or(it.Agent, v.Loop.Session.Backend),
		wire.CostText(deed.Cost, 0)), deed.Iteration
}

// Mark has the editor change a task's box, so that its user can undo that there.
func (d *Documents) Mark(ctx context.Context, p wire.MarkParams) (any, error) {
	doc := d.get(uri.URI(p.URI))
	if doc == nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "uri: no document of that name is open")
	}
	v, isPlan := d.planOf(doc)
	it, ok := v.Find(p.Task)
	if !isPlan || !ok {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "task: the plan has no such task any more")
	}
	action, ok := doc.action(fix{"Change the box", difference(doc.text, string(v.Plan.Mark(it.ID, p.Done).Data))}, "")
	if !ok {
		return struct{}{}, nil // it is so
	}
	var answer struct {
		Applied       bool   `json:"applied"`
		FailureReason string `json:"failureReason"`
	}
	err := d.ed.Request(ctx, "workspace/applyEdit", &protocol.ApplyWorkspaceEditParams{Label: &action.Title, Edit: *action.Edit}, &answer)
	if err == nil && !answer.Applied {
		err = fmt.Errorf("the editor doesn't change %s: %s", v.Name, cmp.Or(answer.FailureReason, "it doesn't say why"))
	}
	return struct{}{}, err
}

// findings are what is wrong with the plan, at the lines of its tasks.
func (v planView) findings() (found []finding) {
	if v.err != nil {
		return []finding{{severity: protocol.DiagnosticSeverityWarning, message: v.err.Error()}}
	}
	add := func(severity protocol.DiagnosticSeverity, line int, message string) {
		start, end := lineRange(v.doc.text, line)
		found = append(found, finding{start: start, end: end, severity: severity, message: message})
	}
	for _, p := range slices.Concat(v.Problems, start.PlanProblems(v.Settings, v.Plan)) {
		add(protocol.DiagnosticSeverityWarning, p.Line, p.Text)
	}
	for _, it := range v.Items {
		if it.Verify != "" && v.Loop.Plan != "" && !v.Loop.State.Over() && !slices.Contains(v.Loop.Tasks.Accepted, it.Verify) {
			add(protocol.DiagnosticSeverityInformation, it.Line, fmt.Sprintf("the loop doesn't run %q yet: it asks you about a "+
				"check that it finds behind an iteration", it.Verify))
		}
	}
	return found
}

// What stands in parentheses for us: all of it, and what is written of it up to the cursor.
var (
	annotation = lazy.Regexp(`(?i)\((agent|after|verify):[ \t]*([^()\r\n]*)\)`)
	opening    = lazy.Regexp(`(?i)\((agent|after|verify):([ \t]*)([^()\r\n]*)$`)
)

// hover explains the task at an offset, or the one or the agent that it names there.
func (v planView) hover(offset int) *protocol.Hover {
	from := strings.LastIndexByte(v.doc.text[:offset], '\n') + 1
	line, _, _ := strings.Cut(v.doc.text[from:], "\n")
	for _, m := range annotation().FindAllStringSubmatchIndex(line, -1) {
		if offset < from+m[0] || offset > from+m[1] {
			continue
		}
		at, text := v.doc.span(from+m[0], from+m[1]), ""
		switch name := strings.TrimSpace(line[m[4]:m[5]]); strings.ToLower(line[m[2]:m[3]]) {
		case "agent":
			text = v.agents()[name]
		case "after":
			text = v.meant(name)
		}
		if text != "" {
			return &protocol.Hover{Contents: markdown(stream.Sanitize(text)), Range: &at}
		}
	}
	n := 1 + strings.Count(v.doc.text[:offset], "\n")
	i := slices.IndexFunc(v.Items, func(it plan.Item) bool { return it.Line == n })
	if i < 0 {
		return nil
	}
	at := v.doc.span(lineRange(v.doc.text, n))
	return &protocol.Hover{Contents: markdown(v.describe(v.Items[i])...), Range: &at}
}

// describe says how a task stands, in paragraphs.
func (v planView) describe(it plan.Item) []string {
	state, agent, check := "open", "", ""
	next, hasNext := v.Loop.Tasks.NextOf(v.Plan)
	switch deed, _ := v.deed(it); {
	case v.IsDone(it):
		state = cmp.Or(deed, "done")
	case hasNext && next.ID == it.ID:
		state = "open, and the next one"
	case len(v.Waits(it)) > 0:
		state = "open, waits for " + plan.TextOf(v.Waits(it))
	}
	if it.Agent != "" {
		agent = "Its agent: " + it.Agent
	}
	if it.Verify != "" {
		check = "It is done when this passes:\n\n" + codeBlock(it.Verify+"\n")
	}
	return []string{stream.Sanitize(fmt.Sprintf("**Task %d**: %s", it.N, state)), stream.Sanitize(agent), stream.Sanitize(check)}
}

// meant are the tasks that an after names.
func (v planView) meant(name string) string {
	one, err := v.Only(name)
	if err != nil {
		return err.Error()
	}
	var said []string
	for _, it := range one.Chosen() {
		state := map[bool]string{true: "done", false: "open"}[v.IsDone(it)]
		said = append(said, fmt.Sprintf("Task %d, %s: %s", it.N, state, it.Text))
	}
	return strings.Join(said, "\n\n")
}

// agents are those that a task can name, each with what it is for.
func (v planView) agents() map[string]string {
	known := map[string]string{}
	for _, a := range agents.Read(v.folder).Agents {
		known[a.Name] = cmp.Or(known[a.Name], a.Description, "an agent of "+path.Base(filepath.ToSlash(a.File)))
	}
	for name, hat := range v.Settings.Hats {
		known[name] = cmp.Or(hat.Description, "a hat of "+config.Name)
	}
	return known
}

// complete offers what can stand in the parentheses that are open at an offset.
func (v planView) complete(offset int) []protocol.CompletionItem {
	from := strings.LastIndexByte(v.doc.text[:offset], '\n') + 1
	m := opening().FindStringSubmatchIndex(v.doc.text[from:offset])
	if m == nil {
		return nil
	}
	c := completer{doc: v.doc, node: config.Node{Start: from + m[4], End: offset}}
	add := func(value, detail string) {
		c.add(protocol.CompletionItemKindValue, value, " "+value, stream.Sanitize(detail), "")
	}
	switch strings.ToLower(v.doc.text[from+m[2] : from+m[3]]) {
	case "agent":
		known := v.agents()
		for _, name := range slices.Sorted(maps.Keys(known)) {
			add(name, known[name])
		}
	case "after":
		n := 1 + strings.Count(v.doc.text[:offset], "\n")
		for _, it := range v.Items {
			if it.Line != n {
				add(v.NameOf(it), fmt.Sprintf("task %d", it.N))
			}
		}
	case "verify":
		all := v.Commands()
		if own := v.Settings.Verify.Shell; own != "" && !slices.Contains(all, own) {
			all = append(all, own)
		}
		typed := v.doc.text[from+m[6] : offset] // which may be one of them by now
		for _, command := range all {
			if command != typed {
				add(command, "")
			}
		}
	}
	return c.items
}

// FoldingRange answers textDocument/foldingRange: a task folds with what is indented below its first line. Nil leaves the rest to
// the editor.
func (d *Documents) FoldingRange(p protocol.FoldingRangeParams) (ranges []protocol.FoldingRange) {
	doc := d.get(p.TextDocument.URI)
	if doc == nil {
		return nil
	}
	v, ok := d.planOf(doc)
	if !ok {
		return nil
	}
	lines := strings.Split(doc.text, "\n")
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
	for _, it := range v.Items {
		first, last := it.Line-1, it.Line-1
		for n := it.Line; n < len(lines) && (strings.TrimSpace(lines[n]) == "" || indent(lines[n]) > indent(lines[first])); n++ {
			if strings.TrimSpace(lines[n]) != "" {
				last = n
			}
		}
		if last > first {
			ranges = append(ranges, protocol.FoldingRange{StartLine: uint32(first), EndLine: uint32(last)})
		}
	}
	return ranges
}
