package hats

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Many processes publish at once: none is lost, none comes twice, each has its order.
func TestManyPublishAtOnce(t *testing.T) {
	outbox := t.TempDir()
	leave := func(name, content string) {
		must.OK(t, os.WriteFile(filepath.Join(outbox, name), []byte(content), 0o644))
	}
	leave(hatName, "{}")
	var all sync.WaitGroup
	for who := range 8 {
		all.Go(func() {
			for n := range 20 {
				if _, err := Emit(outbox, Topic{Name: fmt.Sprint("a", who), Payload: fmt.Sprint(n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	file, err := os.OpenFile(filepath.Join(outbox, topicsName), os.O_WRONLY|os.O_APPEND, 0)
	must.OK(t, err)
	defer file.Close()
	file.WriteString("\n{\"Name\": \"cut o") // who was killed half-way
	if _, err := Emit(outbox, Topic{Name: "a0", Payload: "20"}); err != nil {
		t.Error(err)
	}
	next := map[string]int{}
	topics := TakeOutbox(outbox, nil)
	for _, topic := range topics {
		if topic.Payload != fmt.Sprint(next[topic.Name]) {
			t.Errorf("%s has %s, want %d", topic.Name, topic.Payload, next[topic.Name])
		}
		next[topic.Name]++
	}
	if fmt.Sprint(next) != "map[a0:21 a1:20 a2:20 a3:20 a4:20 a5:20 a6:20 a7:20]" {
		t.Error(next)
	}
	if _, err := Emit(outbox, Topic{Name: "late"}); !errors.Is(err, ErrRunOver) {
		t.Errorf("behind the end: %v", err)
	}
	if _, err := os.Stat(outbox); !os.IsNotExist(err) {
		t.Errorf("the outbox is left: %v", err)
	}
}
