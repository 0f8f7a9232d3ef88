package caller

import "strings"

// A right says who may ask for something. The zero value lets anybody.
type right struct {
	user  bool   // only users may
	loop  bool   // the loop decides: an agent may tighten a limit, and may not loosen it
	words string // completes "an agent of this loop can't ..."
	typed string // the user's command for it, where that isn't plain
}

func users(words string) right  { return right{user: true, words: words} }
func ofLoop(words string) right { return right{user: true, loop: true, words: words} }

// rights has all requests to the programs: the commands of both command lines and of the wire, by their own words,
// and parts of some. A request that isn't here is a user's.
var rights = map[string]right{
	// Requests that show something, or tell the loop something of its own run.
	"": {}, "emit": {}, "note": {}, "status": {}, "watch": {}, "attach": {}, "changes": {}, "file": {}, "history": {}, "history show": {},
	"read": {}, "outline": {}, "output": {}, "prompts": {}, "open": {}, "agents": {}, "agents list": {}, "hats": {},
	"doctor": {}, "decode": {},
	"help": {}, "version": {}, "completion": {}, "start-text": {}, "limits-text": {}, "sandbox": {}, "demo": {},
	"demo-agent": {}, "demo-check": {},
	"setup": {}, "acp": {}, "mcp": {}, "tool": {}, "serve": {}, "fetch": {},
	"pause": {}, "disallow": {}, "notify": {},

	Update:   ofLoop("loosen what bounds a loop"),
	Resume:   ofLoop("resume a loop"),
	Answer:   ofLoop("answer for its user"),
	Steer:    ofLoop("speak for its user"),
	Next:     ofLoop("end an iteration"),
	Cancel:   ofLoop("end a loop"),
	Detach:   users("let a loop go on alone"),
	"keeper": users("let a loop go on alone"),
	Continue: ofLoop("go on with a loop that nobody drives"),

	Start:    {user: true, words: "start a loop", typed: `ralph-lsp run "..."`},
	"run":    users("start a loop"),
	"worker": users("start a loop"),

	Trust:       users("trust what files run"),
	Sandbox:     users("change which walls its user's loops have"),
	"trust":     users("trust what files run"),
	"init":      users("set up a folder"),
	"plan":      users("open an agent's own interface"),
	"plan mark": users("change its user's plan"),
	"land":      users("land a branch"),
	"top":       users("act on all loops of its user"),
	"clean":     users("remove what is kept of loops"),
	"undo":      users("undo changes"),
	"redo":      users("redo changes"),
	"keep":      users("review changes"),
	"submit":    users("submit loops to a fleet"),
	"limits":    users("change what the loops of a fleet may use"),
	"budget":    users("change what the loops of a fleet have spent"),
	"queue":     {},

	"queue add":    users("change the queues of a fleet"),
	"queue remove": users("change the queues of a fleet"),
	"remove":       users("remove loops of a fleet"),

	"notify test": users("call its user"),
	"ahp":         users("be a window of its user"),
}

// Requests of loops and settings. Those that are commands have their names.
const (
	Update   = "update"
	Resume   = "resume"
	Answer   = "answer"
	Steer    = "steer"
	Next     = "next"
	Cancel   = "cancel"
	Detach   = "detach"
	Continue = "continue"
	Start    = "start"
	Trust    = "trust files"
	Sandbox  = "set walls"
)

// Refused says that an agent asked for what only a user may have.
type Refused struct {
	Words string
	Typed string // what its user can type; "" isn't known
	Why   string // it is taken for an agent, where that may surprise its user; else ""
}

const loweredWhy = "this process may have fewer file locks (ulimit -H -x) than others of yours, as only what an agent " +
	"started may: use a shell that nobody has set that limit in"

func (e *Refused) Error() string {
	text := "an agent of this loop can't " + e.Words + "; its user can"
	if e.Typed != "" {
		text += ": " + e.Typed
	}
	if e.Why != "" {
		text += " (" + e.Why + ")"
	}
	return text
}

// nameOf is a command without what its program, or the wire, has before it.
func nameOf(command string) string {
	name, isWire := strings.CutPrefix(command, "ralph.")
	if isWire {
		return strings.ReplaceAll(strings.TrimPrefix(name, "loop."), ".", " ")
	}
	return command
}

func rightTo(command string) right {
	name := nameOf(command)
	if r, known := rights[name]; known {
		return r
	}
	return users("use " + name)
}

// Check returns a *Refused when this process may not ask for something. Of rights that are about a loop, that loop
// decides, by Who.May.
func Check(command string) error {
	if rightTo(command).loop {
		return nil
	}
	return Self().May(command)
}

// May returns a *Refused when it may not ask for something.
func (w Who) May(command string) error {
	if r := rightTo(command); r.user && w.IsAgent() {
		refused := &Refused{Words: r.words, Typed: r.typed}
		if w.lowered && !w.isBelow() {
			refused.Why = loweredWhy
		}
		return refused
	}
	return nil
}

// Knows says whether it is settled who may ask for a command.
func Knows(command string) bool { _, known := rights[nameOf(command)]; return known }
