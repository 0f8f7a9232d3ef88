package fleet

import (
	"strings"
	"testing"
)

func TestFill(t *testing.T) {
	task := map[string]any{"file": "a b.go", "n": 3.0, "list": []any{"x"}, "nested": "{task.file}"}
	tests := []struct{ text, want, err string }{
		{"Port {task.file}.", "Port a b.go.", ""},
		{"{task.n} {task.list}", `3 ["x"]`, ""},
		{"{task.nested}", "{task.file}", ""}, // what a task says is no pattern
		{"{other.file} {task} {}", "{other.file} {task} {}", ""},
		{"{task.gone} {task.lost}", "", "{task.gone}, {task.lost}"},
	}
	for _, tt := range tests {
		got, err := Fill(tt.text, task)
		if tt.err == "" && (err != nil || got != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: got %q, %v", tt.text, got, err)
		}
	}
}

func TestTheSameTaskIsTheSameLoop(t *testing.T) {
	id := func(change func(*Task)) string {
		task := Task{Name: "a", Repo: "r", Base: "b", Flags: []string{"--x"}, Setup: []string{"s"}, Key: "k"}
		change(&task)
		task.Identify("p")
		return task.ID
	}
	same := id(func(*Task) {})
	if same != id(func(task *Task) { task.Labels, task.Reserve, task.Priority = map[string]string{"a": "b"}, 1, High }) {
		t.Error("what says nothing of the work makes it another loop")
	}
	for name, change := range map[string]func(*Task){
		"name": func(task *Task) { task.Name = "b" }, "repository": func(task *Task) { task.Repo = "s" }, "commit": func(task *Task) { task.Base = "c" },
		"flags": func(task *Task) { task.Flags = []string{"--x", "--y"} }, "key": func(task *Task) { task.Key = "l" },
		"order of flags and setup": func(task *Task) { task.Flags, task.Setup = nil, []string{"--x", "s"} },
	} {
		if id(change) == same {
			t.Errorf("another %s is the same loop", name)
		}
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"Make the tests pass!": "make-the-tests-pass", "  ": "", "../../etc": "etc", "Größe": "größe", strings.Repeat("ab ", 30): "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-a",
	} {
		if got := Slug(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestATaskThatIsTooLong(t *testing.T) {
	s := Submission{Prompt: strings.Repeat("x", 1<<20), Name: "one"}
	if _, _, err := s.taskOf(nil); err != nil {
		t.Errorf("a long prompt is refused: %v", err)
	}
	s.Task.Setup = []string{strings.Repeat("x", maxTask)}
	if _, _, err := s.taskOf(nil); err == nil || !strings.Contains(err.Error(), "put long texts into the prompt") {
		t.Errorf("a long setup: %v", err)
	}
}
