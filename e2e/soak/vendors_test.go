//go:build soak && linux

package soak

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// versions has the agents that a vendor stands in for, and what each says of its version.
var versions = map[string]string{"claude": "2.1.332 (Claude Code)", "pi": "0.80.3", "gemini": "0.61.0"}

// deed is what a run of a vendor does.
type deed string

const (
	works       deed = "works"
	unreachable deed = "doesn't reach its provider"
	limited     deed = "is limited"
	cutOff      deed = "works until it is killed"
	hangs       deed = "waits for a quiet tool"
	asks        deed = "asks for a command"
	refused     deed = "may not run a command"
	fills       deed = "fills the disk"
	lies        deed = "promises what isn't so"
	finishes    deed = "is done"
)

const (
	finishedName = "finished" // in the loop's folder: what the check looks for
	fillerName   = "filler"   // beside the loop's folder, on the same disk
	pausedName   = "paused"   // in the vendors' folder: the disk may be filled
)

// vendor stands in for claude, pi or gemini, whose name it is started by. It writes down what its run does, and does it.
func vendor() {
	name := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println(versions[name])
		return
	}
	in := bufio.NewReader(os.Stdin)
	if slices.Contains(os.Args, "--input-format") {
		_, err := in.ReadString('\n') // it stays open, for answers
		insist(err)
	} else {
		_, err := io.ReadAll(in)
		insist(err)
	}
	folder := os.Getenv(folderVar)
	n, err := strconv.Atoi(os.Getenv("RALPH_ITERATION"))
	insist(err)
	log := filepath.Join(folder, logName)
	said, err := os.ReadFile(log)
	insist(err)
	does := deedOf(n, strings.Count("\n"+string(said), fmt.Sprintf("\n%d ", n)))
	insist(add(log, []byte(logLine(n, name, does))))
	speak := map[string]func(deed, int, *bufio.Reader){"claude": asClaude, "pi": asPi, "gemini": asGemini}[name]
	speak(does, n, in)
}

func logLine(n int, name string, does deed) string { return fmt.Sprintf("%d %s %s\n", n, name, does) }

// act does what changes files.
func act(does deed, n int) {
	switch does {
	case unreachable, limited, lies:
	case fills:
		change(n)
		for err := os.ErrNotExist; err != nil; runtime.Gosched() {
			_, err = os.Stat(filepath.Join(os.Getenv(folderVar), pausedName))
		}
		filler, err := os.Create(filepath.Join(os.Getenv(folderVar), diskName, fillerName))
		insist(err)
		for size := 1 << 20; size > 0; {
			if _, err := filler.Write(make([]byte, size)); err != nil {
				size /= 2 // up to the last byte
			}
		}
	case finishes:
		insist(os.WriteFile(finishedName, nil, 0o600))
	default:
		change(n)
	}
}

func say(value any) {
	line, err := json.Marshal(value)
	insist(err)
	_, err = fmt.Printf("%s\n", line)
	insist(err)
}

// object is one of JSON.
type object = map[string]any

// words are what an agent says last.
func words(does deed) string {
	if does == lies || does == finishes {
		return "All of it works now.\n\n<promise>DONE</promise>"
	}
	return "One step further."
}

func asClaude(does deed, n int, in *bufio.Reader) {
	message := func(content ...object) {
		say(object{"type": "assistant", "session_id": "s", "message": object{"id": "m", "model": "opus", "role": "assistant", "stop_reason": "end_turn", "content": content}})
	}
	fails := func(text string, status int) {
		say(object{"type": "assistant", "message": object{"id": "x", "model": "<synthetic>", "content": []object{{"type": "text", "text": text}}}, "is_api_error_message": true, "api_error_status": status})
		say(object{"type": "result", "subtype": "success", "is_error": true, "terminal_reason": "api_error", "result": text, "api_error_status": status, "total_cost_usd": 0})
	}
	bash := object{"command": "make"}
	denials := []object{}
	say(object{"type": "system", "subtype": "init", "session_id": "s", "model": "opus", "tools": []string{}})
	switch does {
	case unreachable:
		fails("API Error: connect ECONNREFUSED 192.0.2.1:443", 0)
		return
	case limited:
		say(object{"type": "rate_limit_event", "rate_limit_info": object{"status": "rejected", "resetsAt": time.Now().Add(3 * time.Hour).Unix(), "rateLimitType": "five_hour"}})
		fails("You've hit your limit", 429)
		return
	case asks:
		say(object{"type": "control_request", "request_id": "r", "request": object{"subtype": "can_use_tool", "tool_name": "Bash", "input": object{"command": "git push"}, "tool_use_id": "q"}})
		_, err := in.ReadString('\n')
		insist(err)
	case refused:
		denials = []object{{"tool_name": "Bash", "tool_use_id": "t", "tool_input": object{"command": "rm -r build"}}}
	}
	message(object{"type": "tool_use", "id": "t", "name": "Bash", "input": bash})
	act(does, n)
	if does == hangs || does == cutOff {
		never := make(chan os.Signal, 1)
		signal.Notify(never, syscall.SIGUSR2)
		<-never
	}
	say(object{"type": "user", "message": object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "t", "content": "ok"}}}})
	message(object{"type": "text", "text": words(does)})
	say(object{"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "session_id": "s", "total_cost_usd": 0.01, "result": words(does), "permission_denials": denials})
	_, _ = io.ReadAll(in) // until nobody has anything to say
}

func asPi(does deed, n int, _ *bufio.Reader) {
	message := object{"role": "assistant", "stopReason": "stop", "content": []object{{"type": "text", "text": words(does)}}, "usage": object{"input": 1, "output": 1, "cost": object{"total": 0.02}}}
	if does == limited {
		message["stopReason"], message["content"] = "error", []object{}
		message["errorMessage"] = "You have hit your ChatGPT usage limit (plus plan). Try again in ~123 min."
		delete(message, "usage")
	} else {
		act(does, n)
		fmt.Printf(uses, 1)
	}
	say(object{"type": "message_end", "message": message})
	say(object{"type": "agent_end", "messages": []object{}})
}

func asGemini(does deed, n int, _ *bufio.Reader) {
	say(object{"type": "init", "session_id": "s", "model": "auto"})
	if does == limited {
		say(object{"type": "result", "status": "error", "error": object{"type": "unknown", "message": "You have exhausted your capacity on this model. Your quota will reset after 20h24m17s."}})
		return
	}
	act(does, n)
	say(object{"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "t", "parameters": object{"command": "make"}})
	say(object{"type": "tool_result", "tool_id": "t", "status": "success"})
	say(object{"type": "message", "role": "assistant", "content": words(does), "delta": true})
	say(object{"type": "result", "status": "success", "stats": object{"total_tokens": 10, "input_tokens": 5, "output_tokens": 5}})
}
