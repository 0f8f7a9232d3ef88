package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

var builtin = []string{"claude", "pi"}

// knownBelow lists the keys of a table, as messages have them.
func knownBelow(parent ...string) string {
	var names []string
	for _, k := range keys().children(parent...) {
		names = append(names, k.Name())
	}
	return strings.Join(names, ", ")
}

// good is a file that uses everything.
const good = `# everything
backend = "mine"
prompt_file = "PROMPT.md"

[limits]
max_iterations = 50
max_cost_usd = 5   # dollars
max_duration = "4h"
idle_timeout = "10m"
max_consecutive_failures = 5

[completion]
promise = "DONE"
instruct = false

[backends.pi]
args = [
  "--provider", # a comment with ] and }
  "anthropic",
]
[backends.mine]
command = "my-agent"
args = ["--headless", '''a ] b''']
prompt = "stdin"
output = "text"
interactive_args = []

[hats.planner]
backend = { type = "pi", args = ["--model", "claude-sonnet-4"] }
[hats."with space"]
backend.type = "claude"
[hats.builder]
backend = "auto"
`

// TestCheck has files with their problems: severity, message, and behind "=>"
// the fix. What a problem underlines is between « and ».
func TestCheck(t *testing.T) {
	tests := []struct {
		name, file string
		want       []string
	}{
		{"everything", good, nil},
		{"empty", "", nil},
		{"byte order mark and CRLF", "\uFEFFbackend = \"pi\"\r\n[limits]\r\nmax_iterations = 3\r\n", nil},
		{"unknown key", "«bakend» = \"pi\"\n", []string{"error: bakend is not a known key; did you mean backend? => backend"}},
		{"case counts", "[limits]\n«Max_Iterations» = 1\n", []string{"error: limits.Max_Iterations is not a known key; did you mean max_iterations? => max_iterations"}},
		{"nothing near", "«colour» = 1\n", []string{"error: colour is not a known key; known are " + knownBelow()}},
		{"in the wrong table", "«max_iterations» = 1\n", []string{"error: max_iterations is not a known key; it belongs below [limits]"}},
		{"unknown table, said once", "[«limit»]\nmax_iterations = 1\nx = 2\n", []string{"error: limit is not a known key; did you mean limits? => limits"}},
		{"dotted key", "limits.«max_iteration» = 1\n", []string{"error: limits.max_iteration is not a known key; did you mean max_iterations? => max_iterations"}},
		{"quoted key", "[limits]\n«\"max iterations\"» = 1\n", []string{"error: limits.max iterations is not a known key; did you mean max_iterations? => max_iterations"}},
		{"in an inline table", "[hats.a]\nbackend = { type = \"pi\", «arg» = [] }\n", []string{"error: hats.a.backend.arg is not a known key; did you mean args? => args"}},
		{"inline table over lines", "[hats.a]\nbackend = {\n  type = \"pi\", # }\n  «arg» = []\n}\n", []string{"error: hats.a.backend.arg is not a known key; did you mean args? => args"}},
		{"a key's own table", "[limits.«max_iterations»]\na = 1\n", []string{"error: limits.max_iterations is a table; write a whole number, 0 or more"}},
		{"list of tables", "[[«hats»]]\nbackend = \"pi\"\n", []string{"error: hats is a list of tables; write keys below a line of [hats]"}},
		{"text for a table", "limits = «3»\n", []string{"error: limits is a number; write keys below a line of [limits]"}},
		{"text for a number", "[limits]\nmax_iterations = «\"many\"» # x\n", []string{"error: limits.max_iterations is a text; write a whole number, 0 or more"}},
		{"negative", "[limits]\nmax_iterations = «-1»\nmax_cost_usd = «-0.5»\n", []string{
			"error: limits.max_iterations is -1; write a whole number, 0 or more",
			"error: limits.max_cost_usd is -0.5; write an amount in US dollars such as 5.00"}},
		{"not a number", "[limits]\nmax_cost_usd = «nan»\n", []string{"error: limits.max_cost_usd is NaN; write an amount in US dollars such as 5.00"}},
		{"durations", "[limits]\nmax_duration = «4»\nidle_timeout = «\"ten\"»\n", []string{
			"error: limits.max_duration is a number; write a duration such as \"90m\" or \"4h\"",
			"error: limits.idle_timeout is \"ten\"; write a duration such as \"90m\" or \"4h\""}},
		{"no switch", "[completion]\ninstruct = «\"yes\"»\n", []string{"error: completion.instruct is a text; write true or false"}},
		{"a date", "prompt_file = «2026-01-02»\n", []string{"error: prompt_file is a date or time; write a text in quotes"}},
		{"tags in the promise", "completion.promise = «\"<promise>A</promise>\"»\n", []string{"error: completion.promise is the text between the tags; leave out <promise> and </promise>"}},
		{"list of others", "[backends.pi]\nargs = «[\"a\", 1]»\n", []string{"error: backends.pi.args has a number as item 2; write each item as a text in quotes"}},
		{"list of others with a placeholder", "[backends.pi]\nargs = «[\"{prompt}\", 3, true, \"{prompt}\"]»\n", []string{"error: backends.pi.args contains {prompt}, but arguments have no placeholders; how the prompt goes in is said by prompt = \"arg\" or \"file\"; it has a number as item 2; write each item as a text in quotes"}},
		{"what calls the user is a program of the folder", "notify.command = «[\"./tell\", \"a/b\"]»\n", []string{"error: notify.command runs ./tell, which would be a file of the loop's folder, and an agent may have written that; write a name in PATH, or an absolute path"}},
		{"what answers for the user is a program of the folder", "notify.reply = «[\"./ask\"]»\n", []string{"error: notify.reply runs ./ask, which would be a file of the loop's folder, and an agent may have written that; write a name in PATH, or an absolute path"}},
		{"what answers for the user has an agent's words", "notify.reply = «[\"sh\", \"-c\", \"ask '{text}'\"]»\n", []string{"error: notify.reply contains {text}, where an agent's words would be arguments; read them from standard input, which has them as JSON"}},
		{"what calls the user is a program of PATH", "notify.command = [\"tell\", \"./a\"]\n", nil},
		{"one of a few", "[backends.pi]\nprompt = «\"stdn\"»\n", []string{"error: backends.pi.prompt is \"stdn\"; write one of stdin, arg, file => \"stdin\""}},
		{"unknown backend", "backend = «\"claud\"»\n", []string{"error: backend is \"claud\", which isn't a backend; did you mean claude? => \"claude\""}},
		{"own backend, misspelt", "backend = «\"mime\"»\n[backends.mine]\ncommand = \"x\"\n", []string{"error: backend is \"mime\", which isn't a backend; did you mean mine? => \"mine\""}},
		{"foreign backend", "backend = «\"something\"»\n", []string{"error: backend is \"something\", which isn't a backend; known are auto, claude, pi; describe another one below [backends.something]"}},
		{"backend without a command", "[backends.«mine»]\nargs = []\n", []string{"error: backends.mine has no command; name the program that runs it"}},
		{"misspelt backend", "[backends.«claud»]\nargs = []\n", []string{"error: backends.claud has no command; name the program that runs it, or did you mean claude? => claude"}},
		{"hat without a backend", "[hats.«a»]\n", []string{"error: hats.a names no backend; write backend = \"pi\""}},
		{"hat with two instructions", "[hats.«a»]\ninstructions = \"a\"\ninstructions_file = \"b\"\n", []string{"error: hats.a has instructions and a file of them; leave one out"}},
		{"hat of a topic that can't be", "hats.a.triggers = «[\"a b\"]»\n", []string{`error: hats.a.triggers is "a b"; write a topic such as build.done, or build.* for all that begin so`}},
		{"hats without a start", "[«hats».a]\ntriggers = [\"x\"]\n", []string{"warning: no hat is woken by loop.start, so no loop can begin; add it to the triggers of one"}},
		{"hats that don't fit", "[hats.a]\ntriggers = [\"loop.start\"]\n«publishes» = [\"x\"]\n[hats.b]\n«triggers» = [\"y\"]\n",
			[]string{"warning: hats.a.publishes has x, to which no hat listens; a gets it", "warning: hats.b.triggers are published by no hat that works, so nothing wakes b"}},
		{"hat without a type", "[hats.a]\n«backend» = { args = [] }\n", []string{"error: hats.a.backend names no backend; write type = \"pi\", or command = \"my-agent\""}},
		{"hat with a program", "[hats.a]\nbackend = { command = \"./agent\", args = [\"-x\"] }\n", nil},
		{"hat with both", "[hats.a]\n«backend» = { type = \"pi\", command = \"x\" }\n", []string{"error: hats.a.backend names a backend and a program; leave out type or command"}},
		{"steps", "[iteration]\nsteps = [ { agent = \"a\", task = \"{prompt}\" },\n  { parallel = [ { agent = \"b\" }, { agent = \"c\", write = true } ] } ]\nparallel_at_once = 8\n", nil},
		{"steps as tables", "[[iteration.steps]]\nagent = \"a\"\n[[iteration.steps]]\n[[iteration.steps.parallel]]\nagent = \"b\"\n", nil},
		{"steps without agents", "[iteration]\nsteps = «[ { agent = \"a\" }, { task = \"x\" } ]»\n", []string{`error: iteration.steps has a step 2 with no agent; write agent = "NAME", or parallel = [...]`}},
		{"a step with both", "[iteration]\nsteps = «[ { agent = \"a\", parallel = [] } ]»\n", []string{`error: iteration.steps has a step 1 with one agent and several; write agent = "NAME", or parallel = [...]`}},
		{"a step of nobody", "[iteration]\nsteps = «[ { parallel = [] } ]»\n", []string{"error: iteration.steps has a step 1 of 0 agents; write 1 to 8"}},
		{"a task for several", "[iteration]\nsteps = «[ { parallel = [ { agent = \"a\" } ], task = \"x\" } ]»\n", []string{"error: iteration.steps has a step 1 with a task for all; write one for each of its agents"}},
		{"a worker without an agent", "[iteration]\nsteps = [ { parallel = «[ { task = \"x\" } ]» } ]\n", []string{`error: iteration.steps.parallel has an item 1 with no agent; write agent = "NAME"`}},
		{"fallbacks", "[[fallback]]\nbackend = \"claude\"\nmodel = \"haiku\"\non = [\"rate_limit\", \"quota\"]\n", nil},
		{"a fallback without an agent", "fallback = «[ { model = \"haiku\" } ]»\n", []string{`error: fallback has an item 1 with no backend; write backend = "NAME"`}},
		{"a fallback for something else", "[[fallback]]\nbackend = \"pi\"\non = «[\"hunger\"]»\n", []string{`error: fallback.on is "hunger"; write one of rate_limit, overloaded, quota, network`}},
		{"a fallback that is a name", "fallback = «\"claude\"»\n", []string{`error: fallback is a text; write a list such as [{ backend = "claude" }]`}},
		{"steps of others", "[iteration]\nsteps = «[\"scout\"]»\n", []string{`error: iteration.steps is a list; write a list such as [{ agent = "scout" }, { agent = "worker", task = "{previous}" }]`}},
		{"values in steps", "[iteration]\nsteps = [ { agent = «7» }, { agent = «\"\"», «tsk» = \"x\" }, { parallel = [ { agent = \"a\", write = «\"yes\"» } ] } ]\n", []string{
			"error: iteration.steps.agent is a number; write a text in quotes",
			"error: iteration.steps.agent is empty; leave it out or fill it in",
			"error: iteration.steps.tsk is not a known key; did you mean task? => task",
			"error: iteration.steps.parallel.write is a text; write true or false"}},
		{"too many at once", "[iteration]\nparallel_at_once = «9»\n", []string{"error: iteration.parallel_at_once is 9; write 1 to 8"}},
		{"steps and hats that hand over", "[iteration]\n«steps» = [ { agent = \"a\" } ]\n[hats.a]\ntriggers = [\"loop.start\"]\n", []string{"error: iteration.steps and hats that hand over exclude each other; leave out the hats' triggers, or the steps"}},
		{"placeholder", "[backends.pi]\nargs = «[\"--model={model}\"]»\n", []string{`error: backends.pi.args contains {model}, but arguments have no placeholders; how the prompt goes in is said by prompt = "arg" or "file"`}},
		{"braces that are no placeholder", "[backends.pi]\nargs = ['{\"a\":1}', \"a{b,c}\", \"{}\"]\n", nil},
		{"hat's unknown backend", "[hats.a]\nbackend = { type = «\"p\"» }\n", []string{"error: hats.a.backend.type is \"p\", which isn't a backend; did you mean pi? => \"pi\""}},
		{"never ends", "[limits]\nmax_iterations = «0»\n", []string{"warning: without a limit, a promise and a budget hardly anything ends the loop; set one of them => 50"}},
		{"ends by promise", "completion.promise = \"A\"\n[limits]\nmax_iterations = 0\n", nil},
		{"ends by budget", "[limits]\nmax_iterations = 0\nmax_cost_usd = 1.5\n", nil},
		{"syntax", "backend = «»\n", []string{"error: expected value but found '\\n' instead"}},
		{"all at once", "backend = «x»\n«colour» = 1\n[limits]\nmax_iterations = \"a«»\nmax_duration = «5»\n", []string{
			"error: expected value but found \"x\" instead",
			"error: colour is not a known key; known are " + knownBelow(),
			"error: strings cannot contain newlines",
			"error: limits.max_duration is a number; write a duration such as \"90m\" or \"4h\""}},
		{"broken header takes its keys along", "[limits«»\nmax_iterations = -1\n[completion]\n«x» = 1\n", []string{
			"error: expected '.' or ']' to end table name, but got '\\n' instead",
			"error: completion.x is not a known key; known are instruct, promise, required_topics"}},
		{"unclosed list", "[backends.pi]\nargs = «[» \"a\",\nprompt = «1»\noutput = «\"x\"»\n", []string{
			"error: '[' is not closed",
			"error: backends.pi.prompt is a number; write a text in quotes",
			"error: backends.pi.output is \"x\"; write one of " + strings.Join(formats(), ", ")}},
		{"unclosed inline table", "[hats.a]\nbackend = «{» type = \"pi\"\n[limits]\nmax_iterations = «-1»\n", []string{
			"error: '{' is not closed",
			"error: limits.max_iterations is -1; write a whole number, 0 or more"}},
		{"lists in a list", "x = «[»\n[true],\n[nan], [1],\n", []string{"error: '[' is not closed"}},
		{"twice", "backend = \"pi\"\n«backend» = \"pi\"\n", []string{"error: Key 'backend' has already been defined"}},
		{"headers in a long string", "[completion]\npromise = \"\"\"a\n[x]\ny = 1\"\"\"\n«z» = 1\n", []string{"error: completion.z is not a known key; known are instruct, promise, required_topics"}},
		{"comments", "# [x]\nbackend = \"pi\" # y = 1\n", nil},
		{"NUL", "a = 1\nb = \"«\x00»\"\n", []string{"error: a NUL byte; save the file as UTF-8 text"}},
		{"too deep", "x = " + strings.Repeat("[", 16) + "«»" + strings.Repeat("[", 50000), []string{"error: nested deeper than 16"}},
		{"too many parts", strings.Repeat("a.", 16) + "«»" + strings.Repeat("a.", 10000) + "a = 1", []string{"error: nested deeper than 16"}},
		{"too long", "«»# " + strings.Repeat("long ", 20000), []string{"error: the file has 100002 bytes, more than 65536; that isn't a configuration file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file, marked := cutMarks(tt.file)
			var got []string
			var places []string
			for _, p := range Check([]byte(file), builtin) {
				got = append(got, describe(p))
				places = append(places, fmt.Sprintf("%d:%d-%d", p.Line, p.Column, p.EndColumn))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(marked, places); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

func describe(p Problem) string {
	text := map[Severity]string{Error: "error: ", Warning: "warning: "}[p.Severity] + p.Message
	if p.Fix != nil {
		text += " => " + p.Fix.Text
	}
	return text
}

// cutMarks takes « and » out of a text and returns what was between them as
// "line:column-end".
func cutMarks(marked string) (text string, places []string) {
	var b strings.Builder
	line, column, start := 1, 1, 0
	for _, r := range marked {
		switch r {
		case '«':
			start = column
		case '»':
			places = append(places, fmt.Sprintf("%d:%d-%d", line, start, column))
		default:
			b.WriteRune(r)
			column += utf8.RuneLen(r)
			if r == '\n' {
				line, column = line+1, 1
			}
		}
	}
	return b.String(), places
}

func TestKeysDescribeThemselves(t *testing.T) {
	for _, k := range Keys() {
		name := strings.Join(k.Path, ".")
		if k.Doc == "" || want[k.Type] == "" {
			t.Errorf("%s: no description or an unknown type %q", name, k.Type)
		}
		if len(k.Path) > 1 {
			if _, ok := Lookup(k.Path[:len(k.Path)-1]...); !ok {
				t.Errorf("%s: no entry for the table", name)
			}
		}
		for _, sample := range append(k.Samples, k.Default) {
			if sample == "" {
				continue
			}
			file := strings.ReplaceAll(name, Any, "pi") + " = " + sample + "\n"
			if name == "hats.*.backend.args" {
				file += "hats.pi.backend.type = \"pi\"\n"
			}
			problems := Check([]byte(file), builtin)
			if name == "hats.*.triggers" { // alone it doesn't fit together
				problems = slices.DeleteFunc(problems, func(p Problem) bool { return p.Severity == Warning })
			}
			if len(problems) > 0 {
				t.Errorf("%s: the table's own value %s: %v", name, sample, problems)
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{good, "[a", "x = [[{", "a.\"b\\\"\".c = '''", "[[hats]]\nx=1", "x = {\n[b]\ny=", "\uFEFF=", "a=[\n[true],\n[x]\n]", "\x01"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, offset int) {
		lines := strings.Split(text, "\n")
		for _, p := range Check([]byte(text), builtin) {
			if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.EndColumn < p.Column || p.EndColumn > len(lines[p.Line-1])+1 {
				t.Errorf("%+v is outside the text", p)
			}
		}
		checkLoads(t, text)
		d := Parse([]byte(text))
		if offset < 0 || offset > min(len(text), MaxSize) {
			return
		}
		place := d.At(offset)
		if place.Start < 0 || place.Start > offset || place.End < offset || place.End > len(text) {
			t.Errorf("%+v is not around %d", place, offset)
		}
		if place.Where != Nowhere && len(place.Path) == 0 {
			t.Errorf("%+v has no path", place)
		}
	})
}

// checkLoads reads a file as the folder's: what Check lets pass can be decoded.
func checkLoads(t *testing.T, text string) {
	folder := t.TempDir()
	must.Write(t, filepath.Join(folder, Name), text)
	s, err := Files{Folder: folder, Builtin: builtin, Trusted: true}.Load()
	if err == nil {
		s.Values()
	} else if !errors.As(err, new(*InvalidError)) {
		t.Errorf("%q: %v", text, err)
	}
}
