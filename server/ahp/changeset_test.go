package ahp

import (
	"encoding/json"
	"strings"
	"testing"
)

const changed = `{"loopId":"ralph-a","folder":"file:///w/app","from":0,"files":[
	{"path":"a b.txt","uri":"file:///w/app/a%20b.txt","status":"modified","added":2,"removed":1},
	{"path":"new","uri":"file:///w/app/new","status":"added","added":3},
	{"path":"gone","uri":"file:///w/app/gone","status":"deleted","removed":4},
	{"path":"to","uri":"file:///w/app/to","from":"was","fromUri":"file:///w/app/was","status":"renamed"}],
	"iterations":[{"iteration":1},{"iteration":3}]}`

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

// read reads a file of a changeset, of which the sidecar is asked this.
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
	w.set("ralph.loop.changes", changed)
	w.set("ralph.loop.file", `{"text":"as it was\n"}`)
	const all = sessionA + "/changeset/session"
	if got := string(v.ask("subscribe", `{"channel":"`+all+`"}`).Result); !strings.Contains(got, `"status":"computing"`) {
		t.Error(got)
	}
	w.commanded("ralph.loop.changes", `{"loopId":"ralph-a"}`)
	files := v.files(all)
	edited, made, removed, moved := files["file:///w/app/a%20b.txt"], files["file:///w/app/new"], files["file:///w/app/gone"], files["file:///w/app/to"]
	if len(files) != 4 || made[0] != "" || removed[1] != "" || made[1] == "" || removed[0] == "" {
		t.Errorf("%v", files)
	}
	if got := v.read(edited[0], `{"loopId":"ralph-a","iteration":0,"path":"a b.txt"}`); got != `{"data":"as it was\n","encoding":"utf-8"}` {
		t.Error(got)
	}
	w.set("ralph.loop.file", `{"base64":"AP8="}`)
	if got := v.read(edited[1], `{"loopId":"ralph-a","iteration":3,"path":"a b.txt"}`); got != `{"data":"AP8=","encoding":"base64"}` {
		t.Error(got)
	}
	w.set("ralph.loop.file", `{"absent":true}`)
	if got := v.read(moved[0], `"path":"was"`); got != "there was no such file" {
		t.Error(got)
	}
	w.set("ralph.loop.file", `!{"code":-32602,"message":"it isn't in the loop's folder"}`)
	if got := v.read(strings.Replace(moved[1], "%22to%22", "%22..%2Fto%22", 1), `"path":"../to"`); got != "it isn't in the loop's folder" {
		t.Error(got)
	}

	// Each iteration says anew what changed; its turn has what it did itself.
	w.happens("c1", "c2", second)
	w.commanded("ralph.loop.changes", `{"loopId":"ralph-a"}`)
	v.files(all)
	const turn = sessionA + "/changeset/turn/t1"
	w.set("ralph.loop.changes", strings.Replace(changed, `"from":0`, `"from":0,"to":1`, 1))
	v.ask("subscribe", `{"channel":"`+turn+`"}`)
	w.commanded("ralph.loop.changes", `{"loopId":"ralph-a","to":1}`)
	w.set("ralph.loop.file", `{"text":""}`)
	v.read(v.files(turn)["file:///w/app/a%20b.txt"][0], `{"loopId":"ralph-a","before":1,"path":"a b.txt"}`)
	if got := string(v.ask("subscribe", `{"channel":"`+sessionA+`/changeset/turn/other"}`).Result); !strings.Contains(got, `"files":[],"status":"ready"`) {
		t.Error(got)
	}
	w.set("ralph.loop.changes", `!{"code":-32803,"message":"no snapshots are kept"}`)
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
	} {
		params, _ := json.Marshal(object{"channel": rootChannel, "uri": uri})
		if m := v.ask("resourceRead", string(params)); m.Error == nil || m.Error.Code != codeDenied {
			t.Errorf("%s is answered with %s", uri, m.Result)
		}
	}
	v.quiet(v)
}
