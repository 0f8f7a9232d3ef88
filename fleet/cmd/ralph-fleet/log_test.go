package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// A line of a log has units, and no secret, in every format.
func TestALineOfALog(t *testing.T) {
	for format, want := range map[string]string{
		"text": `msg=done took=1.5s url=nats://***@host error="*** is wrong"`,
		"json": `"msg":"done","took":"1.5s","url":"nats://***@host","error":"*** is wrong"`,
	} {
		var l logFlags
		l.format.Value, l.level.Value = format, "info"
		var said bytes.Buffer
		log, err := l.logger(&said, "open-sesame")
		if err != nil {
			t.Fatal(err)
		}
		log.Debug("not this")
		log.Info("done", "took", 1500*time.Millisecond, "url", "nats://ann:pw@host", "error", errors.New("open-sesame is wrong"))
		if got := said.String(); !strings.Contains(got, want) || strings.Contains(got, "not this") {
			t.Errorf("%s: %s", format, got)
		}
	}
}
