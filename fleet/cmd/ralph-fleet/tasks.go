package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// readTasks reads the tasks of a file; - is standard input.
func readTasks(name string, stdin io.Reader) ([]map[string]any, error) {
	if name == "-" {
		return tasksIn(stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return tasksIn(f)
}

// maxTasks bounds what one file may submit.
const maxTasks = 100_000

// tasksIn reads a file with an object a line. The error says in which line something is wrong.
func tasksIn(r io.Reader) (tasks []map[string]any, err error) {
	data, err := io.ReadAll(io.LimitReader(r, 64<<20+1))
	if err != nil {
		return nil, err
	}
	if len(data) > 64<<20 {
		return nil, errors.New("it has more than 64 MiB: submit it in parts")
	}
	line := 0
	for text := range strings.Lines(string(data)) {
		if line++; strings.TrimSpace(text) == "" {
			continue
		}
		var task map[string]any
		if err := json.Unmarshal([]byte(text), &task); err != nil {
			return nil, fmt.Errorf("line %d: %w: it has to be an object, such as {\"name\": \"one\"}", line, err)
		}
		if tasks = append(tasks, task); len(tasks) > maxTasks {
			return nil, fmt.Errorf("line %d: more than %d tasks: submit them in parts", line, maxTasks)
		}
	}
	return tasks, nil
}
