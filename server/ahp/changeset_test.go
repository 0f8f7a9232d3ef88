package ahp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// changed is what the loop did, up to now or up to an iteration.
func changed(to *int) answers.ChangesResult {
	return answers.ChangesResult{
		LoopID: "ralph-a", Folder: "file:///w/app", To: to, Iterations: []answers.ChangedIteration{{Iteration: 1}, {Iteration: 3}},
		Files: []answers.ChangedFile{
			{Path: "a b.txt", URI: "file:///w/app/a%20b.txt", Status: "modified", Added: 2, Removed: 1},
			{Path: "new", URI: "file:///w/app/new", Status: "added", Added: 3},
			{Path: "gone", URI: "file:///w/app/gone", Status: "deleted", Removed: 4},
			{Path: "to", URI: "file:///w/app/to", From: "was", FromURI: "file:///w/app/was", Status: "renamed"},
		},
	}
}

// files are the contents of a changeset's files: before and after, by its id.
func (v *window) files(channel string) map[string][2]string {
	v.t.Helper()
	all := map[string][2]string{}
	for {
		m := receive(v.t, v.heard)
		var p struct {
			Channel string
			Action  struct {
				Type, Status string
				Files        []struct {
					ID   string
					Edit struct {
						Before, After struct{ Content struct{ URI string } }
					}
				}
			}
		}
		_ = json.Unmarshal(m.Params, &p)
		if p.Channel != channel {
			continue
		}
		for _, f := range p.Action.Files {
			all[f.ID] = [2]string{f.Edit.Before.Content.URI, f.Edit.After.Content.URI}
		}
		if p.Action.Type == "changeset/statusChanged" {
			if p.Action.Status != "ready" {
				v.t.Errorf("%s", m.Params)
			}
			return all
		}
	}
}

// read reads a file of a changeset, of which the loops are asked this.
func (v *window) read(uri, asked string) string {
	v.t.Helper()
	params, _ := json.Marshal(object{"channel": rootChannel, "uri": uri, "encoding": "base64"})
	m := v.ask("resourceRead", string(params))
	v.commanded("ralph.loop.file", asked)
	if m.Error != nil {
		return m.Error.Message
	}
	return string(m.Result)
}

func TestChangesets(t *testing.T) {
	w, v := running(t)
	w.loops.Set(func() { w.loops.Changed = changed(nil) })
	w.loops.Set(func() { w.loops.Content.Text = new("as it was\n") })
	const all = sessionA + "/changeset/session"
	if got := string(v.ask("subscribe", `{"channel":"`+all+`"}`).Result); !strings.Contains(got, `"status":"computing"`) {
		t.Error(got)
	}
	w.commanded("ralph.loop.changes", `{"loopId":"ralph-a","folder":"file:///w/app"}`)
	files := v.files(all)
	edited, made, removed, moved := files["file:///w/app/a%20b.txt"], files["file:///w/app/new"], files["file:///w/app/gone"], files["file:///w/app/to"]
	if len(files) != 4 || made[0] != "" || removed[1] != "" || made[1] == "" || removed[0] == "" {
		t.Errorf("%v", files)
	}
	if got := v.read(edited[0], `{"loopId":"ralph-a","folder":"file:///w/app","iteration":0,"path":"a b.txt"}`); got != `{"data":"as it was\n","encoding":"utf-8"}` {
		t.Error(got)
	}
	w.loops.Set(func() { w.loops.Content = answers.FileResult{Base64: []byte{0, 0xff}} })
	if got := v.read(edited[1], `{"loopId":"ralph-a","folder":"file:///w/app","iteration":3,"path":"a b.txt"}`); got != `{"data":"AP8=","encoding":"base64"}` {
		t.Error(got)
	}
	w.loops.Set(func() { w.loops.Content = answers.FileResult{Absent: true} })
	if got := v.read(moved[0], `"path":"was"`); got != "there was no such file" {
		t.Error(got)
	}
	w.loops.Set(func() { w.loops.Errors["ralph.loop.file"] = errors.New("it isn't in the loop's folder") })
	if got := v.read(strings.Replace(moved[1], "%22to%22", "%22..%2Fto%22", 1), `"path":"../to"`); got != "it isn't in the loop's folder" {
		t.Error(got)
	}

	// Each iteration says anew what changed; its turn has what it did itself.
	w.happens(second)
	w.commanded("ralph.loop.changes", `{"loopId":"ralph-a","folder":"file:///w/app"}`)
	v.files(all)
	const turn = sessionA + "/changeset/turn/t1"
	w.loops.Set(func() { w.loops.Changed = changed(new(1)) })
	v.ask("subscribe", `{"channel":"`+turn+`"}`)
	w.commanded("ralph.loop.changes", `{"loopId":"ralph-a","folder":"file:///w/app","to":1}`)
	w.loops.Set(func() { w.loops.Content = answers.FileResult{Text: new("")} })
	v.read(v.files(turn)["file:///w/app/a%20b.txt"][0], `{"loopId":"ralph-a","folder":"file:///w/app","before":1,"path":"a b.txt"}`)
	if got := string(v.ask("subscribe", `{"channel":"`+sessionA+`/changeset/turn/other"}`).Result); !strings.Contains(got, `"files":[],"status":"ready"`) {
		t.Error(got)
	}
	w.loops.Set(func() { w.loops.Errors["ralph.loop.changes"] = errors.New("no snapshots are kept") })
	v.ask("subscribe", `{"channel":"`+turn+`"}`)
	for {
		if m := receive(t, v.heard); strings.Contains(string(m.Params), `"error":{"errorType":"ralph","message":"no snapshots are kept"},"status":"error"`) {
			break
		}
	}
}

func TestNothingElseIsRead(t *testing.T) {
	_, v := running(t)
	for _, uri := range []string{
		"file:///w/app/secret", "file:///w/app/secret?%7B%22loopId%22:%22ralph-a%22,%22path%22:%22secret%22%7D",
		"ralph-file:///w/app/secret", "ralph-file:///w/app/secret?%7B", "ralph-file:///w/app/secret?%zz", "ralph-file:///w/app/secret?%7B%22path%22:%22secret%22%7D", "",
		"ralph-file:///w/app/secret?%7B%22loopId%22:%22ralph-b%22,%22path%22:%22secret%22%7D",
	} {
		params, _ := json.Marshal(object{"channel": rootChannel, "uri": uri})
		if m := v.ask("resourceRead", string(params)); m.Error == nil || m.Error.Code != codeDenied {
			t.Errorf("%s is answered with %s", uri, m.Result)
		}
	}
	v.quiet(v)
}
