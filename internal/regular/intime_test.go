package regular

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A file system that doesn't answer holds nobody up. What it gives later is closed.
func TestAFileSystemThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, dropped := make(chan int), make(chan int)
		begun := time.Now()
		_, err := inTime("/net/file", func(n int) { dropped <- n }, func() (int, error) { return <-answers, nil })
		if slow := (SlowError{}); !errors.As(err, &slow) || time.Since(begun) != patience {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if want := "read /net/file: it can't be read within 10s; look whether its disk or network answers"; err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		answers <- 7
		if n := <-dropped; n != 7 {
			t.Errorf("%d was dropped", n)
		}
	})
}

func TestAnAnswerInTime(t *testing.T) {
	if n, err := inTime("file", nil, func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
