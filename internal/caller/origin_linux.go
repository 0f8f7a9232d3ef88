package caller

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Origin is where a request comes from, as far as the system tells: "" for what it doesn't.
type Origin struct {
	PID      int
	Command  string // its program and that one's command, without arguments, which may hold anything: "ralph-lsp update"
	Terminal string // "pts/3"
	Below    string // the nearest program above it that is no shell: "tmux: server"
}

// OriginOf looks at the process with a number.
func OriginOf(pid int) Origin {
	o := Origin{PID: pid}
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	words := strings.Split(string(line), "\x00")
	if words[0] != "" {
		o.Command = filepath.Base(words[0])
	}
	if len(words) > 1 && words[1] != "" && !strings.HasPrefix(words[1], "-") {
		o.Command += " " + words[1]
	}
	_, parent, terminal := about(pid)
	o.Terminal = terminalOf(terminal)
	for range 100 { // a tree that changes meanwhile has no end
		if parent == 0 {
			break
		}
		name, above, _ := about(parent)
		if !slices.Contains(shells, name) {
			o.Below = name
			break
		}
		parent = above
	}
	return o
}

var shells = []string{"sh", "bash", "zsh", "dash", "fish", "ksh", "busybox", "ralph-lsp"}

// about is what the system says of a process: its name, its parent and the number of its terminal.
func about(pid int) (name string, parent, terminal int) {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	text := string(line)
	begin, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if begin < 0 || end < begin {
		return "", 0, 0
	}
	name = text[begin+1 : end]
	if fields := strings.Fields(text[end+1:]); len(fields) > 4 { // state, parent, group, session, terminal
		parent, _ = strconv.Atoi(fields[1])
		terminal, _ = strconv.Atoi(fields[4])
	}
	return name, parent, terminal
}

// terminalOf is the name of a terminal by its device: "pts/3", "tty1"; "" for none.
func terminalOf(device int) string {
	major, minor := device>>8&0xfff, device&0xff|device>>12&0xfff00
	switch {
	case major >= 136 && major <= 143:
		return "pts/" + strconv.Itoa((major-136)<<8+minor)
	case major == 4 && minor > 0 && minor < 64:
		return "tty" + strconv.Itoa(minor)
	}
	return ""
}
