package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where all sessions share a folder, those of other folders and pi's own are in it, too.
func TestOnlyTheLoopsOfAFolderAreListed(t *testing.T) {
	w, o, cwd := newTestWriter(t)
	begin(w, 1)
	path := closed(t, w)
	other, err := NewWriter(o, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	begin(other, 1)
	closed(t, other)
	own := strings.Replace(head, `"/w"`, `"`+cwd+`"`, 1) + "\n" + asks + "\n"
	if err := os.WriteFile(filepath.Join(o.Folder, "2099-01-01T00-00-00-000Z_x.jsonl"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := List(o, cwd, 0); err != nil || len(found) != 1 || found[0].Path != path {
		t.Errorf("there are %+v, %v", found, err)
	}
}
