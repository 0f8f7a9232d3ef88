package history

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Where the test binary writes a session until it is killed.
const (
	envCrashFolder = "RALPH_HISTORY_FOLDER"
	envCrashFile   = "RALPH_HISTORY_FILE"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv(envCrashFolder); folder != "" {
		writeForEver(Options{Folder: folder}, os.Getenv(envCrashFile))
	}
	os.Exit(m.Run())
}

// writeForEver goes on with a session, and tells on standard output which
// entry is in the file.
func writeForEver(o Options, file string) {
	cwd := o.Folder
	w, err := NewWriter(o, cwd)
	if file != "" {
		w, err = ContinueWriter(o, cwd, file)
	}
	if err != nil {
		panic(err)
	}
	fmt.Println(w.Path())
	for n := 1; ; n++ {
		w.HandleRecord(Input{Kind: InputAgent, Text: fmt.Sprint(n, " ", strings.Repeat("x", n%5000))})
		if w.Err() != nil {
			panic(w.Err())
		}
		fmt.Println(n)
	}
}

// FuzzRead reads anything without harm.
func FuzzRead(f *testing.F) {
	for _, lines := range []string{
		head + "\n" + asks + "\n" + calls + "\n" + gets + "\n" + says + "\n" + extension + "\n", head + "\n" + gets, asks + "\n" + asks[:50] + asks,
		head + "\n" + `{"type":"custom","id":"1","customType":"assistant.event","data":{"chatEventType":"tool_result","payload":{"toolCallId":"t1","result":"x"}}}`,
	} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		path := sessionFile(t, string(content))
		loopID, err := LoopOf(path)
		if output, ok, outputErr := Output(path, 0, "t1"); outputErr != nil && (err == nil || ok || LastWords(path) != "") || err != nil && loopID != "" || !ok && output != "" {
			t.Errorf("it is of %q (%v), and the tool gave %q (%v)", loopID, err, output, outputErr)
		}
	})
}
