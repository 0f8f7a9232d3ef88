package main

import (
	"strings"
	"testing"
)

func TestReadTasks(t *testing.T) {
	tasks, err := tasksIn(strings.NewReader("{\"name\":\"a\"}\n\n{\"name\":\"b\"}"))
	if err != nil || len(tasks) != 2 || tasks[1]["name"] != "b" {
		t.Errorf("got %v, %v", tasks, err)
	}
	for _, bad := range []string{"{}\n[]", "{}\n{", "{}\n3"} {
		if _, err := tasksIn(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}
