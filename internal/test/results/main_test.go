package main

import (
	"strings"
	"testing"
)

const events = `{"Action":"build-output","ImportPath":"m/broken","Output":"broken/a.go:3:28: undefined: x\n"}
{"Action":"fail","Package":"m/broken"}
{"Action":"run","Package":"m/bad","Test":"TestGood"}
{"Action":"output","Package":"m/bad","Test":"TestGood","Output":"a test that is well says nothing\n"}
{"Action":"pass","Package":"m/bad","Test":"TestGood","Elapsed":1.24}
{"Action":"output","Package":"m/good","Output":"what a package prints that is well\n"}
{"Action":"output","Package":"m/bad","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"output","Package":"m/bad","Test":"TestBad/one","Output":"a part that is well\n"}
{"Action":"pass","Package":"m/bad","Test":"TestBad/one"}
{"Action":"output","Package":"m/bad","Test":"TestBad/two","Output":"    a_test.go:4: wrong\n"}
{"Action":"fail","Package":"m/bad","Test":"TestBad/two"}
{"Action":"fail","Package":"m/bad","Test":"TestBad"}
{"Action":"output","Package":"m/bad","Test":"TestEndless","Output":"panic: test timed out\n"}
{"Action":"output","Package":"m/good","Output":"PASS\n"}
{"Action":"output","Package":"m/good","Output":"ok  \tm/good\t0.1s\n"}
{"Action":"pass","Package":"m/good","Elapsed":0.1}
{"Action":"output","Package":"m/none","Output":"?   \tm/none\t[no test files]\n"}
{"Action":"skip","Package":"m/none"}
{"Action":"output","Package":"m/bad","Output":"FAIL\tm/bad\t1.5s\n"}
{"Action":"fail","Package":"m/bad","Elapsed":1.5}
go: words of its own
`

func TestShow(t *testing.T) {
	var out, times strings.Builder
	if err := show(strings.NewReader(events), &out, &times); err != nil {
		t.Fatal(err)
	}
	const want = `broken/a.go:3:28: undefined: x
ok  	m/good	0.1s
--- FAIL: TestBad (0.00s)
    a_test.go:4: wrong
panic: test timed out
FAIL	m/bad	1.5s
go: words of its own
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	if got := times.String(); got != "1.2 bad TestGood\n" {
		t.Errorf("times %q", got)
	}
}
