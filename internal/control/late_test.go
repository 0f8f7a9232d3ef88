package control

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"
)

// read is a connection on which lines come whether it was closed or not.
type read func(p []byte) (int, error)

func (r read) Read(p []byte) (int, error)  { return r(p) }
func (r read) Write(p []byte) (int, error) { return len(p), nil }
func (r read) Close() error                { return nil }

// A connection that was closed for its silence is served no more, even where its line came at that very moment: it would
// be a window that hears nothing.
func TestWhoAsksTooLateIsNotServed(t *testing.T) {
	for after, isServed := range map[time.Duration]bool{time.Second: true, 11 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			comes := read(func(p []byte) (int, error) {
				time.Sleep(after)
				return copy(p, "{}\n"), nil
			})
			served := false
			host := func([]byte, Conn) bool { served = true; return true }
			reply(asker{comes, 0}, func(int, json.RawMessage) any { return nil }, host, 10*time.Second)
			if served != isServed {
				t.Errorf("a line after %s: served is %t", after, served)
			}
		})
	}
}
