package caller

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
)

// look finds out by what nobody can put off. The mark stays whatever a process does, and is
// seen from behind walls too. A process may lower it, which is seen as well; a root user may raise it, and then the way
// up to the reaper tells.
func look(pid int) Who {
	w := Who{reaper: reaper.Above(pid), unknown: reaper.Find(pid).Start == "", lowered: reaper.IsLowered(pid)}
	if mark := reaper.MarkOf(pid); reaper.IsMark(mark) {
		w.mark = mark
	}
	environ, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ") // another user's has none
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		if loop, ok := strings.CutPrefix(string(kv), EnvLoopID+"="); ok {
			w.loop = loop
		}
	}
	return w
}

// Peer returns the process at the other end of a socket. Its own word doesn't count.
func Peer(pid int, _ string) Who { return look(pid) }
