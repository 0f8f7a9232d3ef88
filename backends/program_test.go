package backends

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// raw starts a program that plays role, and whose output is taken as it is.
func raw(t *testing.T, role string, out *bytes.Buffer) *Process {
	t.Helper()
	p, err := Start(Spec{Backend: Program([]string{os.Args[0]}, t.TempDir()), Dir: t.TempDir(), Env: withRole(role), Scope: newScope(t), Iteration: 7, Raw: out})
	must.OK(t, err)
	return p
}

func TestAProgramsOutputIsTakenAsItIs(t *testing.T) {
	var out bytes.Buffer
	p := raw(t, "says so on both streams", &out)
	if exit := p.Wait(); exit.Code != 3 || exit.Stopped || exit.Lingered || out.String() != "one\ntwo\nthree\n" {
		t.Errorf("got %+v, %q", exit, out.String())
	}
	checkNothingLeft(t, p)
}

func TestAProgramKnowsItsLoop(t *testing.T) {
	var out bytes.Buffer
	p := raw(t, "environment", &out)
	p.Wait()
	for _, want := range []string{EnvLoopID + "=" + p.spec.Scope.LoopID, EnvIteration + "=7"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("its environment lacks %s", want)
		}
	}
}

func TestAProgramMayCloseItsOutputAndWorkOn(t *testing.T) {
	old := lingerLimit
	lingerLimit = time.Millisecond
	defer func() { lingerLimit = old }()
	var out bytes.Buffer
	p := raw(t, "closes its output for a while", &out)
	if exit := p.Wait(); exit.Code != 4 || exit.Lingered || exit.Result.Failure != nil {
		t.Errorf("got %+v", exit)
	}
}

func TestWhatAProgramLeavesBehindIsEnded(t *testing.T) {
	var out bytes.Buffer
	p := raw(t, "leaves a child", &out)
	if exit := p.Wait(); exit.Code != 0 || exit.Strays == 0 {
		t.Errorf("got %+v", exit)
	}
	checkNothingLeft(t, p)
	p = raw(t, "hangs", &out)
	p.Stop(0)
	if exit := p.Wait(); !exit.Stopped {
		t.Errorf("got %+v", exit)
	}
	checkNothingLeft(t, p)
}

func TestAProgramsPathStartsFromItsFolder(t *testing.T) {
	dir := t.TempDir()
	if got := Program([]string{"./tools/check", "-x"}, dir); got.Command != filepath.Join(dir, "tools/check") || got.Args[0] != "-x" {
		t.Errorf("got %+v", got)
	}
	if got := Program([]string{"go"}, dir).Command; got != "go" {
		t.Errorf("got %q", got)
	}
	_, err := Start(Spec{Backend: Program([]string{"./no/such"}, dir), Dir: dir, Scope: newScope(t)})
	if missing := (*NotFoundError)(nil); !errors.As(err, &missing) || !strings.Contains(err.Error(), filepath.Join(dir, "no/such")) {
		t.Errorf("got %v", err)
	}
}

// What the user typed reaches cmd with its quotes, and no backslash besides.
func TestACommandLineIsAsItWasTyped(t *testing.T) {
	const typed = `npm test -- -t "adds two" && dir "C:\a b\"`
	shell := []string{`C:\Windows\System32\cmd.exe`, "/d", "/s", "/c", typed}
	if got, want := commandLine(shell), `"C:\Windows\System32\cmd.exe" /d /s /c "npm test -- -t "adds two" && dir "C:\a b\""`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := commandLine([]string{"go", "test", "./...", "-run", "a b"}); got != "" {
		t.Errorf("go gets %s", got)
	}
}

func TestTheTargetOfAShim(t *testing.T) {
	const npm = "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n\r\n" +
		"IF EXIST \"%dp0%\\node.exe\" (\r\n  SET \"_prog=%dp0%\\node.exe\"\r\n) ELSE (\r\n  SET \"_prog=node\"\r\n  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\n" +
		"endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & \"%_prog%\"  \"%dp0%\\node_modules\\@scope\\agent\\dist\\cli.js\" %*\r\n"
	for text, want := range map[string]string{
		npm: `node_modules\@scope\agent\dist\cli.js`,
		"@\"%~dp0\\node.exe\"  \"%~dp0\\node_modules\\agent\\bin\\cli\" %*\n": `node_modules\agent\bin\cli`,
		"@\"%~dp0..\\agent dir\\claude.exe\" %*":                              `..\agent dir\claude.exe`,
		"@echo off\r\nset A=%1\r\necho %A% > \"%~dp0\\log.txt\"\r\n":          "",
		"\"C:\\elsewhere\\agent.exe\" %*":                                     "",
		"\" %*":                                                               "",
		"":                                                                    "",
	} {
		if got := shimTarget(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
