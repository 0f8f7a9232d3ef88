package start

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatTakesLongIsSaid(t *testing.T) {
	for took, want := range map[time.Duration]string{slow - 1: "", slow + 1: "it takes a while\n", time.Hour: "it takes a while\n"} {
		synctest.Test(t, func(t *testing.T) {
			var said strings.Builder
			whenSlow(&said, "it takes a while", func() { time.Sleep(took) })
			if said.String() != want {
				t.Errorf("after %s: %q, want %q", took, said.String(), want)
			}
		})
	}
}
