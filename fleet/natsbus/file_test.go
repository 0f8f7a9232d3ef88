package natsbus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// Who is busy with other things, or has a slow network, gets all of a file.
func TestAFileIsReadHoweverLongThatTakes(t *testing.T) {
	t.Parallel()
	b := newBus(t)
	long := bytes.Repeat([]byte("0123456789abcdef"), 200<<10)
	if err := b.PutFile(t.Context(), "prompt/f1", bytes.NewReader(long)); err != nil {
		t.Fatal(err)
	}
	f, err := b.File(t.Context(), "prompt/f1")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	begin := make([]byte, 1000)
	if _, err := io.ReadFull(f, begin); err != nil {
		t.Fatal(err)
	}
	<-time.After(5500 * time.Millisecond) // more than the client's own limit
	rest, err := io.ReadAll(f)
	if got := append(begin, rest...); err != nil || !bytes.Equal(got, long) {
		t.Errorf("read are %d bytes of %d: %v", len(got), len(long), err)
	}
}

// What says that it is a file, of somebody who may write to the bus.
func TestAFileThatIsNone(t *testing.T) {
	b := newBus(t)
	about := func(name string, size int, nuid, digest, options string) string {
		return fmt.Sprintf(`{"name":%q,"bucket":%q,"nuid":%q,"size":%d,"chunks":1,"digest":%q,"options":{%s}}`, name, fileStore, nuid, size, digest, options)
	}
	for i, tt := range []struct{ meta, want string }{
		{about("$", 4, "NUID", "DIGEST", ""), ""},
		{about("$", 0, "empty", "SHA-256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=", ""), ""},
		{about("$", 1<<30, "NUID", "DIGEST", ""), "it has 4 bytes of 1073741824"},
		{about("$", 3, "NUID", "DIGEST", ""), "it has more than 3 bytes"},
		{about("$", 4, "NUID", "SHA-256=AAAA", ""), "its content isn't the one that was stored"},
		{about("$", 0, "NUID", "SHA-256=AAAA", ""), "its content isn't the one that was stored"},
		{about("$", 4, "nobody", "DIGEST", ""), "nothing of it is there"},
		{about("$", 4, ">", "DIGEST", ""), "isn't that of a file"},
		{about("$", 4, "", "DIGEST", ""), "isn't that of a file"},
		{about("$", 4, "NUID", "", ""), "isn't that of a file"},
		{about("$", 4, "NUID", "DIGEST", `"link":{"bucket":"RALPH_FILES","name":"$"}`), "isn't that of a file"}, // to itself
		{about("$", 4, "NUID", "DIGEST", `"link":{"bucket":"RALPH_FILES","name":"loop/f1/1/state"}`), "isn't that of a file"},
		{`{"name":"$"`, jetstream.ErrBadObjectMeta.Error()},
	} {
		name := fmt.Sprintf("loop/f2/%d/state", i)
		is, err := b.files.PutBytes(t.Context(), "loop/f1/1/state", []byte("well"))
		if err != nil {
			t.Fatal(err)
		}
		meta := strings.NewReplacer("$", name, "NUID", is.NUID, "DIGEST", is.Digest).Replace(tt.meta)
		if _, err := b.js.Publish(t.Context(), saidOf(name), []byte(meta)); err != nil {
			t.Fatal(err)
		}
		var data []byte
		f, err := b.File(t.Context(), name)
		if err == nil {
			data, err = io.ReadAll(f)
			f.Close()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: read is %q, %v; want %q", tt.meta, data, err, tt.want)
		}
		if strings.Contains(tt.meta, `">"`) { // which the client takes for all parts when it tidies up
			continue
		}
		if err := b.PutFile(t.Context(), name, strings.NewReader("anew")); err != nil {
			t.Errorf("%s can't be replaced: %v", tt.meta, err)
			continue
		}
		if f, err := b.File(t.Context(), name); err != nil {
			t.Errorf("%s stays: %v", tt.meta, err)
		} else if data, err := io.ReadAll(f); err != nil || string(data) != "anew" {
			t.Errorf("%s: in its place is %q, %v", tt.meta, data, err)
		}
	}
}

// A file that is removed leaves no mark: a bus would be full of them one day.
func TestAFileThatIsRemovedLeavesNothing(t *testing.T) {
	b := newBus(t)
	long := strings.Repeat("x", 300<<10)
	left := func() uint64 {
		t.Helper()
		info, err := b.store.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Msgs
	}
	for range 3 {
		if err := b.PutFile(t.Context(), "repo/x", strings.NewReader(long)); err != nil {
			t.Fatal(err)
		}
		if err := b.RemoveFile(t.Context(), "repo/x", time.Now().Add(-time.Hour)); err != nil || left() == 0 {
			t.Errorf("a young file: %v, %d messages are left", err, left())
		}
		if err := b.RemoveFile(t.Context(), "repo/x", time.Time{}); err != nil || left() != 0 {
			t.Errorf("removed: %v, %d messages are left", err, left())
		}
		if err := b.KeepFile(t.Context(), "repo/x"); !errors.Is(err, fleet.ErrNotFound) {
			t.Errorf("what isn't there is kept: %v", err)
		}
	}
}

// Who still wants a file and who sweeps it may come at once: then it is whole, or gone and known to be.
func TestAFileIsKeptOrRemoved(t *testing.T) {
	b := newBus(t)
	long := strings.Repeat("x", 300<<10)
	for range 50 {
		if err := b.PutFile(t.Context(), "repo/x", strings.NewReader(long)); err != nil {
			t.Fatal(err)
		}
		said, err := b.store.GetLastMsgForSubject(t.Context(), saidOf("repo/x"))
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		var kept, removed error
		both.Go(func() { kept = b.KeepFile(t.Context(), "repo/x") })
		both.Go(func() { removed = b.RemoveFile(t.Context(), "repo/x", said.Time.Add(time.Nanosecond)) })
		both.Wait()
		if removed != nil || kept != nil && !errors.Is(kept, fleet.ErrNotFound) {
			t.Fatalf("%v, %v", kept, removed)
		}
		f, err := b.File(t.Context(), "repo/x")
		if kept != nil {
			if !errors.Is(err, fleet.ErrNotFound) {
				t.Errorf("it is gone, and is opened with %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("it is kept: %v", err)
		}
		if data, err := io.ReadAll(f); err != nil || string(data) != long {
			t.Errorf("of what is kept there are %d bytes, %v", len(data), err)
		}
	}
}
