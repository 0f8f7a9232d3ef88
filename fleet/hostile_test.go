package fleet

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// entry is one of a tree that git wouldn't make.
type entry struct{ mode, name, id string }

// forge makes trees, commits and bundles in a repository, whatever is wrong with them.
type forge struct {
	*works
	repo string
}

func (f forge) object(kind string, data []byte) string {
	f.t.Helper()
	cmd := exec.Command("git", "-C", f.repo, "hash-object", "-t", kind, "-w", "--stdin", "--literally")
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("a %s: %v", kind, err)
	}
	return strings.TrimSpace(string(out))
}

func (f forge) blob(text string) string { return f.object("blob", []byte(text)) }

func (f forge) tree(entries ...entry) string {
	f.t.Helper()
	var data []byte
	for _, e := range entries {
		id, err := hex.DecodeString(e.id)
		if err != nil {
			f.t.Fatal(err)
		}
		data = append(fmt.Appendf(data, "%s %s\x00", e.mode, e.name), id...)
	}
	return f.object("tree", data)
}

func (f forge) commit(tree, parent string) string {
	f.t.Helper()
	if parent != "" {
		parent = "parent " + parent + "\n"
	}
	return f.object("commit", fmt.Appendf(nil, "tree %s\n%sauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nx\n", tree, parent))
}

// bundle has these refs, without what the base has.
func (f forge) bundle(r Record, refs ...string) []byte {
	f.t.Helper()
	for i := 0; i < len(refs); i += 2 {
		f.git("-C", f.repo, "update-ref", refs[i], refs[i+1])
		defer f.git("-C", f.repo, "update-ref", "-d", refs[i])
	}
	path := filepath.Join(f.dir, "forged")
	args := []string{"-C", f.repo, "--no-replace-objects", "bundle", "create", "-q", path}
	for i := 0; i < len(refs); i += 2 {
		args = append(args, refs[i])
	}
	f.git(append(args, "^"+r.Base)...)
	data, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	return data
}

// work is the bundle of a checkpoint whose files are this tree.
func (f forge) work(r Record, entries ...entry) []byte {
	return f.bundle(r, workRef, f.commit(f.tree(entries...), r.Base))
}

// hostile are bundles that somebody has put in the place of a checkpoint. What they want is a file
// called escaped, outside of the checkout. A checkpoint that is taken has what is wanted of it, and no more.
var hostile = []struct {
	name    string
	bundle  func(f forge, r Record, was []byte) []byte
	isTaken bool
}{
	{"whose state is gone", func(f forge, r Record, _ []byte) []byte {
		f.bus.RemoveFile(f.t.Context(), r.StateFile(1), time.Time{})
		return f.work(r, entry{"100644", "count", f.blob("1\n")})
	}, false},
	{"without a state", func(f forge, r Record, was []byte) []byte {
		f.bus.PutFile(f.t.Context(), r.StateFile(1), strings.NewReader("touch escaped"))
		return was
	}, false},
	{"with a state that is huge", func(f forge, r Record, was []byte) []byte {
		f.bus.PutFile(f.t.Context(), r.StateFile(1), bytes.NewReader(make([]byte, 65<<20)))
		return was
	}, false},
	{"empty", func(forge, Record, []byte) []byte { return nil }, false},
	{"truncated", func(_ forge, _ Record, was []byte) []byte { return was[:len(was)-30] }, false},
	{"no bundle", func(forge, Record, []byte) []byte { return []byte("#!/bin/sh\ntouch escaped\n") }, false},
	{"an object of a GiB by its header", func(_ forge, _ Record, was []byte) []byte {
		head, _, _ := bytes.Cut(was, []byte("PACK"))
		pack := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("PACK"), 2), 1)
		pack = append(pack, 0xb0, 0x80, 0x80, 0x80, 0x20, 0x78, 0x9c) // a blob, its size, and the beginning of no content
		sum := sha1.Sum(pack)
		return append(append(bytes.Clone(head), pack...), sum[:]...)
	}, false},
	{"refs that aren't ours", func(f forge, r Record, _ []byte) []byte {
		c := f.commit(f.tree(entry{"100644", "count", f.blob("1\n")}), r.Base)
		other := f.commit(f.tree(entry{"100644", "other", f.blob("x")}), c)
		return f.bundle(r, workRef, c, "refs/heads/main", other, "refs/replace/"+r.Base, other, "refs/remotes/origin/x", other, "refs/tags/v1", c, "refs/heads/ralph/one", other)
	}, true},
	{"nothing of ours", func(f forge, r Record, _ []byte) []byte {
		return f.bundle(r, "refs/heads/main", f.commit(f.tree(), r.Base))
	}, false},
	{"a commit without a parent", func(f forge, r Record, _ []byte) []byte { return f.bundle(r, workRef, f.commit(f.tree(), "")) }, false},
	{"no commit", func(f forge, r Record, _ []byte) []byte { return f.bundle(r, workRef, f.blob("x")) }, false},
	{"of another repository", func(f forge, r Record, was []byte) []byte {
		return bytes.Replace(was, []byte("-"+r.Base), []byte("-"+strings.Repeat("ab", 20)), 1)
	}, false},
	{"without what it says it has", func(_ forge, _ Record, was []byte) []byte {
		was = bytes.Replace(was, []byte("# v2 git bundle\n"), []byte("# v3 git bundle\n@object-format=sha1\n@filter=blob:none\n"), 1)
		head, _, _ := bytes.Cut(was, []byte("PACK"))
		pack := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("PACK"), 2), 0)
		sum := sha1.Sum(pack)
		return append(append(bytes.Clone(head), pack...), sum[:]...)
	}, false},
	{"a .git", func(f forge, r Record, _ []byte) []byte {
		config := f.blob("[core]\n\tfsmonitor = touch ../../../escaped\n\tsshCommand = touch ../../../escaped\n")
		return f.work(r, entry{"40000", ".git", f.tree(entry{"100644", "config", config})})
	}, false},
	{"a .git of a folder", func(f forge, r Record, _ []byte) []byte {
		hook := f.blob("#!/bin/sh\ntouch ../../../escaped\n")
		return f.work(r, entry{"40000", "sub", f.tree(entry{"40000", ".GIT", f.tree(entry{"40000", "hooks", f.tree(entry{"100755", "post-checkout", hook})})})})
	}, false},
	{"a way up", func(f forge, r Record, _ []byte) []byte {
		up := entry{"40000", "..", f.tree(entry{"100644", "escaped", f.blob("x")})}
		return f.work(r, entry{"40000", "..", f.tree(entry{"40000", "..", f.tree(up)})})
	}, false},
	{"a path in a name", func(f forge, r Record, _ []byte) []byte {
		return f.work(r, entry{"100644", "../../../escaped", f.blob("x")})
	}, false},
	{"a path from the root", func(f forge, r Record, _ []byte) []byte {
		return f.work(r, entry{"100644", filepath.Join(f.dir, "escaped"), f.blob("x")})
	}, false},
	{"a file through a link", func(f forge, r Record, _ []byte) []byte {
		return f.work(r, entry{"120000", "way", f.blob("../../..")}, entry{"40000", "way", f.tree(entry{"100644", "escaped", f.blob("x")})})
	}, true}, // git takes one of the two
	{"a state through a link", func(f forge, r Record, _ []byte) []byte {
		return f.work(r, entry{"120000", ".pi", f.blob("../../../precious")})
	}, false},
	{"a state in the place of a link", func(f forge, r Record, _ []byte) []byte {
		return f.work(r, entry{"40000", ".pi", f.tree(entry{"120000", "ralph-loop.local.md", f.blob("../../../../precious/file")})})
	}, false},
	{"links", func(f forge, r Record, _ []byte) []byte {
		return f.work(r, entry{"100644", "count", f.blob("1\n")}, entry{"120000", "way", f.blob("../../../precious")})
	}, true},
	{"a submodule", func(f forge, r Record, _ []byte) []byte {
		modules := f.blob("[submodule \"sub\"]\n\tpath = sub\n\turl = ext::touch escaped\n\tupdate = !touch ../../../escaped\n")
		return f.work(r, entry{"100644", ".gitmodules", modules}, entry{"100644", "count", f.blob("1\n")}, entry{"160000", "sub", r.Base})
	}, true},
	{"filters", func(f forge, r Record, _ []byte) []byte {
		return f.work(r, entry{"100644", ".gitattributes", f.blob("* filter=escape diff=escape merge=escape\n")}, entry{"100644", "count", f.blob("1\n")})
	}, true},
}

func TestAHostileCheckpoint(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorks(t)
			w.write("precious/file", "precious")
			w.write("home/.gitconfig", "[filter \"escape\"]\n\tsmudge = touch "+w.dir+"/escaped; cat\n\tclean = touch "+w.dir+"/escaped; cat\n[diff \"escape\"]\n\ttextconv = touch "+w.dir+"/escaped; cat\n")
			t.Setenv("HOME", filepath.Join(w.dir, "home"))
			w.write("log.pauses", "")
			r := w.until(w.submit(), isPaused)
			was, state := w.bus.files[r.CheckpointFile(1)], w.bus.files[r.StateFile(1)]
			f := forge{w, filepath.Join(w.dir, "forge")} // the user has none of it
			w.git("clone", "-q", w.repo, f.repo)
			bundle := tt.bundle(f, r, was)
			refs := w.git("-C", w.repo, "for-each-ref")
			w.bus.PutFile(t.Context(), r.CheckpointFile(1), bytes.NewReader(bundle))

			w.git("-C", w.repo, "config", "user.name", "U")
			w.git("-C", w.repo, "config", "user.email", "u@x")
			config := w.git("-C", w.repo, "config", "--list", "--local")
			branch, err := Fetch(t.Context(), w.bus, r, w.repo)
			isTaken := tt.isTaken || strings.Contains(tt.name, "state") // there is no state in a branch
			if (err == nil) != isTaken || err != nil && len(err.Error()) < 20 {
				t.Errorf("fetched as %q: %v", branch, err)
			}
			if branch != "" {
				w.git("-C", w.repo, "branch", "-D", branch)
			}
			if now := w.git("-C", w.repo, "for-each-ref"); now != refs {
				t.Errorf("the user's refs are\n%s\nand were\n%s", now, refs)
			}
			if now := w.git("-C", w.repo, "config", "--list", "--local"); now != config {
				t.Errorf("the user's settings are\n%s\nand were\n%s", now, config)
			}

			w.worker = w.other("other")
			if err := handle(t, w.bus, r).Resume(loop.Patch{}); err != nil {
				t.Fatal(err)
			}
			r = w.until(r, func(r Record) bool { return isEnded(r) || r.Failures > 0 })
			if tt.isTaken != (r.StopReason == "promise") {
				t.Errorf("it is %+v", r)
			}
			if !tt.isTaken { // a loop stays as it was
				if r.Phase != Queued || r.Committed != 1 || !strings.Contains(r.Text, "the checkpoint of attempt 1: ") || strings.Contains(w.said(), "[2]") {
					t.Errorf("refused as %+v\n%s", r, w.said())
				}
			}
			if !tt.isTaken && (tt.name == "truncated" || strings.Contains(tt.name, "state")) { // and goes on when its checkpoint is there again
				w.bus.PutFile(t.Context(), r.CheckpointFile(1), bytes.NewReader(was))
				w.bus.PutFile(t.Context(), r.StateFile(1), bytes.NewReader(state))
				if err := handle(t, w.bus, r).Resume(loop.Patch{}); err != nil {
					t.Fatal(err)
				}
				if r = w.until(r, isEnded); r.StopReason != "promise" || r.Iterations != 3 {
					t.Errorf("with the true one it is %+v", r)
				}
			}
			if _, err := os.Lstat(filepath.Join(w.dir, "escaped")); err == nil {
				t.Error("it has escaped")
			}
			if data, err := os.ReadFile(filepath.Join(w.dir, "precious", "file")); err != nil || string(data) != "precious" {
				t.Errorf("what is precious is %q, %v", data, err)
			}
			if all, _ := os.ReadDir(filepath.Join(w.dir, "precious")); len(all) != 1 {
				t.Errorf("beside what is precious is %v", all)
			}
		})
	}
}

// A file that says it has any length doesn't fill the disk.
func TestAFileThatHasNoRoom(t *testing.T) {
	w := newWorks(t)
	w.bus.PutFile(t.Context(), "prompt/f1", bytes.NewReader(make([]byte, 40<<20)))
	looks := 0
	c := &checkouts{dir: w.dir, bus: w.bus, minFree: 1 << 30, free: func(string) (int64, error) {
		looks++
		return 1<<30 + 1 - int64(looks/2)<<20, nil
	}}
	path, err := c.download(t.Context(), "prompt/f1")
	left, _ := filepath.Glob(filepath.Join(w.dir, "download-*"))
	if err == nil || !strings.Contains(err.Error(), "less than 1024 MiB of the disk are free") || len(left) > 0 {
		t.Errorf("it is %s, %v; left is %v", path, err, left)
	}
}
